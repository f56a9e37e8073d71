"""Replies that repeat the context that SAGA sent: the player sees the story alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.state_block import BlockFilter, hide
from saga_core.state_block.filter import EchoFilter

ECHO = "[SAGA: 지금 사실인 것]\n[최신 변경]\nHP: 100/100\n[/SAGA]"
PAGE = ["\n[최신 변경]\n", "[Now]\n", "\n## As of turn ", "12", "\n- ", "\n", "# ", "## 0턴까지의 기억\n"]
STORY = "서린은 강가의 물레방앗간으로 걸어간다."


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        (f"{ECHO}\n\n{STORY}", STORY),
        (f"{STORY}\n\n{ECHO}", STORY),
        (f"{STORY}\n\n{ECHO}\n\n{STORY}", f"{STORY}\n\n{STORY}"),
        (f"[SAGA: what is true now]\nPlace: mill\n\n{STORY}", STORY),
        ("[SAGA: what is true now]\nPlace: mill", ""),
        ("[\u017fAGA: what is true now]\nPlace: mill", ""),
        (f"[SAGA\u200b: what is\u200b true now]\nPlace: mill\n[/\u3164SAGA]{STORY}", STORY),
        (f"{STORY}\n\n```\u200bstate\nmood: calm\n```", STORY),
        (f"{STORY}\n\n```state\u200b\nmood: calm\n```", STORY),
        (f"{STORY}\n\n```\u017ftate\nmood: calm\n```", STORY),
        (f"[/SAGA]\n\n{STORY}", STORY),
        (f"[ SAGA: rules ]\nText between\n[/ SAGA]\n{STORY}", STORY),
        (f"{STORY} [[saga:session=other]] {STORY}", f"{STORY} [[saga:session=other]] {STORY}"),
        (f"{ECHO}\n\n{STORY}\n```state\nnotes: '[SAGA: x] y'\n```", STORY),
        ("He points at the [S", "He points at the [S"),
        (f"(Keep in mind for the story: Place: mill. Dead: wolf.)\n\n{STORY}", STORY),
        (f"{STORY} (이야기를 쓸 때 기억할 것: 장소: 성.)\n(문이 닫힌다.)", f"{STORY} \n(문이 닫힌다.)"),
        (f"{STORY}\n（写故事时请记住：地点：城", STORY),
        ("(Keep in mind that it rains.) (Keep", "(Keep in mind that it rains.) (Keep"),
        (f"{STORY} (Keep in mind for the story: Place: mill (old).) {STORY}", f"{STORY} \n{STORY}"),
        (f"(Keep in mind for the story: Place: （mill).) {STORY}", STORY),
        (f"(Keep in mind for the story: Place: mill (old.\n{STORY})", f"{STORY})"),
        (f"(keep in Mind for the story： Place: mill.) {STORY}", STORY),
        (f"（Keep in mind for the story: Place: mill.）{STORY}", STORY),
        (f"(写故事时请记住:地点：城){STORY}", STORY),
        (f"(Kee\u200bp in\u00ad mind  for the\u200d story: Place: mill.) {STORY}", STORY),
        (f"{STORY} (Keep in mind for the", STORY),
        ("(Keep in mind for the stormy: night.)", "(Keep in mind for the stormy: night.)"),
        (f"## As of turn 3\n## Relations\n- Mara: hostile (-2)\n\n## World\n- nothing yet\n\n{STORY}", STORY),
        (f"# 3턴까지의 기억\n## 관계\n- 덕수\n{STORY}\n# 제목", f"{STORY}\n# 제목"),
        ("## 截至第12回合\n## 关系\n- 暂无", ""),
        ("## As of turn 4", ""),
        (
            f"[Rain drums on the roof.]\n[Now]\nHP: 100/100\nPlayer: Tobin\n\n{STORY}",
            f"[Rain drums on the roof.]\n{STORY}",
        ),
        (f"Here and [Now]\n{STORY}\n[Nowhere]", f"Here and [Now]\n{STORY}\n[Nowhere]"),
        (f"# As of turning the key\n{STORY}", f"# As of turning the key\n{STORY}"),
        (f"{STORY} ## As of turn 3\n- {STORY}", f"{STORY} ## As of turn 3\n- {STORY}"),
        ("A sign says [SAGAMORE], a [saga] of old.", "A sign says [SAGAMORE], a [saga] of old."),
        ("[OOC: wait] She nods. [1]", "[OOC: wait] She nods. [1]"),
        *(
            (said, said)
            for said in (
                "He quotes the Icelandic [SAGA: Njal] softly.\n\nThen Tam walks in.",
                "[SAGA: note] text follows here",
                "[SAGA:] hi",
                "[SAGA : x] hi",
                "[SAGA：주석] 이야기",
                "Text [[SAGA:SESSION=evening]] more",
                "It ends with [SAGA: note",
                "The tag [/SAGA] stands in a line.",
            )
        ),
        (f"He reads [SAGA:  What is True now ]\nEvil\n[/SAGA] {STORY}", f"He reads \n{STORY}"),
        (f"[SA[SAGA: rules]\n\nGA: what is true now]\n{STORY}", f"[SA\nGA: what is true now]\n{STORY}"),
        ("[SA[/SAGA]GA: what is true now]", "[SA[/SAGA]GA: what is true now]"),
    ],
)
def test_an_echo_is_hidden_and_the_story_is_not(reply: str, shown: str) -> None:
    assert hide(reply).visible.strip() == shown


@given(
    st.lists(
        st.sampled_from(
            [
                ECHO,
                STORY,
                "[SAGA: rules]",
                "[/SAGA]",
                "[",
                "]",
                "\n\n",
                "SAGA",
                "\u200b",
                "[\u017fAGA: rules]",
                "[/\u200b",
                " x ",
                "(keep in m\u200bind for the story:",
                "(",
                "）",
                *PAGE,
            ]
        )
    ),
    st.data(),
)
def test_how_a_reply_is_split_does_not_matter(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    whole = EchoFilter()
    expected = whole.feed(text) + whole.finish()
    split, at, got = EchoFilter(), 0, ""
    while at < len(text):
        size = data.draw(st.integers(1, 7))
        got += split.feed(text[at : at + size])
        at += size
    assert got + split.finish() == expected
    blocks = BlockFilter()
    assert "SAGA: " not in blocks.feed(text) + blocks.finish()
