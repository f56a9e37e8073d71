"""Dreamed places, dreamed people, and people who only speak from elsewhere."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.extraction.here_and_now import hearing_from_elsewhere, noticing_nothing
from saga_core.extraction.writer import read_delta
from saga_core.model.entities import Entity, Kind, Placement
from saga_core.model.folding import fold
from saga_core.model.world_state import WorldState
from saga_core.naming import Names
from saga_core.state_block import BlockFields, StatusChange, read_reply

STATE = WorldState(
    player="p",
    entities={
        "p": Entity("p", Kind.CHARACTER, "Player", (), {"is_player": True}),
        "t": Entity("t", Kind.CHARACTER, "Teo"),
        "m": Entity("m", Kind.CHARACTER, "Marcus"),
        "c": Entity("c", Kind.LOCATION, "crypt"),
    },
    whereabouts={"p": Placement("c"), "t": Placement("c")},
    present=("t",),
    met=("t", "m"),
)
DREAMED = (
    *(
        "dream",
        "a dream",
        "in a dream",
        "dream sequence",
        "her memory",
        "Dana's dream",
        "flashback",
        "vision",
        "imagined",
    ),
    *("Mom's kitchen (dream)", "childhood memory", "memory, years ago"),
    *("꿈", "꿈속", "회상", "서단의 꿈", "기억 속", "환상", "夢", "夢の中", "回想", "記憶", "幻", "想像"),
    *("梦", "梦境", "夢境", "梦中", "回忆", "回憶中", "幻觉", "想象"),
)
AWAY = (
    *(
        "over the radio",
        "by phone",
        "via comms",
        "voice only",
        "through the intercom",
        "via video call",
        "over the walkie-talkie",
    ),
    *(
        "전화로",
        "무전으로",
        "통신으로",
        "무전기 너머",
        "목소리만",
        "영상 통화로",
        "通信で",
        "電話越し",
        "無線で",
        "声のみ",
        "念話で",
    ),
    *("电话里", "通过无线电", "通過電話", "对讲机里", "仅声音", "電話那頭"),
)
CALLING = ("on the phone", "on the line", "on a call", "통화 중", "通話中", "电话中")


def after(block: str, state: WorldState = STATE) -> WorldState:
    delta = read_delta(read_reply(f"```state\n{block}\n```"), state)
    return fold(state, delta, turn="t1", depth=1)


def present(state: WorldState) -> list[str]:
    return [state.name(who) for who in state.present]


@pytest.mark.parametrize("remark", DREAMED)
def test_a_dream_changes_no_place_and_no_company(remark: str) -> None:
    now = after(f'location: "kitchen ({remark})"\nlocation_moved: true\npresent: [Joan]\nnpc_met: [Joan]')
    assert now.location == "c" and present(now) == ["Teo"]
    assert "Joan" not in {each.name for each in now.entities.values()}
    assert after(f"location: kitchen（{remark}）").location == "c"


@pytest.mark.parametrize("remark", DREAMED)
def test_who_is_dreamed_is_not_met(remark: str) -> None:
    assert present(after(f'present: ["Joan ({remark})"]')) == ["Teo"], "nothing is said of who is there"
    mixed = after(f'present: [Marcus, "Joan ({remark})"]\nnpc_met: ["Joan ({remark})"]')
    assert present(mixed) == ["Marcus"]
    assert mixed.met == STATE.met
    assert not after(f'status_changes: [{{name: "Teo ({remark})", status: dead}}]').entities["t"].dead


@pytest.mark.parametrize("remark", AWAY)
def test_who_only_speaks_from_elsewhere_is_not_there(remark: str) -> None:
    assert present(after(f'present: [Teo, "Marcus ({remark})"]')) == ["Teo"]
    assert present(after(f'present: ["Marcus ({remark})"]')) == []
    assert present(after(f'present: [Teo, "Ruth ({remark})"]\nnpc_met: ["Ruth ({remark})"]')) == ["Teo"]
    assert present(after(f'present: ["Teo ({remark})"]')) == [], "he has left since"


@pytest.mark.parametrize("remark", CALLING)
def test_who_makes_a_call_is_where_he_was(remark: str) -> None:
    assert present(after(f'present: [Teo, "Marcus ({remark})"]')) == ["Teo"]
    assert present(after(f'present: ["Teo ({remark})"]')) == ["Teo"]


@pytest.mark.parametrize(
    "name",
    [
        *("Marcus (sprained ankle)", "Marcus (asleep, dreaming)", "Marcus (the dreamer)"),
        *("Marcus (radio operator)", "Marcus (radioman)", "Marcus (memory loss)", "Marcus (hearing voices)"),
        *("Marcus (꿈꾸는 중)", "Marcus (기억 상실)", "Marcus (전화 교환원)", "Marcus（夢遊病）", "Marcus（電話番）"),
        *("Marcus（失忆）", "Marcus（话务员）", "Marcus（梦游）"),
    ],
)
def test_another_remark_takes_nobody_away(name: str) -> None:
    assert "m" in after(f'present: [Teo, "{name}"]').present


def test_a_remark_that_is_somebodys_name_is_no_dream() -> None:
    named = evolve(STATE, entities={**STATE.entities, "d": Entity("d", Kind.CHARACTER, "Dream")})
    assert present(after("present: [Morpheus (Dream)]", named)) == ["Dream"]


@pytest.mark.parametrize(
    "place", ["kitchen (upstairs)", "Dreamlands (dream realm)", "the Palace of Memory", "꿈의 정원"]
)
def test_another_place_is_a_place(place: str) -> None:
    assert after(f'location: "{place}"').location != "c"


UNAWARE = {
    "en": "asleep; asleep in her chair; passed out drunk; not listening; out of earshot; doesn't notice anything",
    "ko": "잠듦; 소파에서 잠듦; 자고 있음; 의식을 잃음; 기절한 채; 못 들음",
    "ja": "眠っている; ソファで眠っている; 気を失っている; 居眠り中; 聞こえていない; 意識不明",
    "zh": "睡着了; 在沙发上睡着; 已昏迷; 没听见; 晕过去了; 不省人事",
}
AWARE = {
    "en": "awake; sleepy; listening at the door; half listening; hiding; just woke up; aware; drunk",
    "ko": "졸림; 깨어 있음; 엿듣는 중; 부상; 모름; 숨어 있음",
    "ja": "眠い; 起きている; 聞いている; 盗み聞き; 負傷",
    "zh": "清醒; 困倦; 偷听; 受伤; 刚醒; 知情",
}


@pytest.mark.parametrize("language", UNAWARE)
def test_a_remark_says_who_is_there_and_notices_nothing(language: str) -> None:
    for remarks, missed in ((UNAWARE[language], True), (AWARE[language], False)):
        for remark in remarks.split("; "):
            assert present(after(f"present: [Teo ({remark})]")) == ["Teo"], remark
            found = noticing_nothing(BlockFields(present=(f"Teo ({remark})",)), Names(STATE))
            assert found == (["t"] if missed else []), remark


def test_a_status_from_before_the_turn_says_it_too() -> None:
    asleep = after("status_changes: [{name: Teo, status: asleep}]")
    assert noticing_nothing(BlockFields(present=("Teo",)), Names(asleep)) == ["t"]
    woken = BlockFields(present=("Teo",), status_changes=(StatusChange("Teo", "awake"),))
    assert noticing_nothing(woken, Names(asleep)) == []


def test_a_voice_hears_and_the_writer_of_a_letter_does_not() -> None:
    for remark, hears in (("over the radio", True), ("by phone", True), ("by letter", False), ("not here", False)):
        fields = BlockFields(present=("Teo", f"Marcus ({remark})"))
        assert hearing_from_elsewhere(fields, Names(STATE)) == (["m"] if hears else []), remark
