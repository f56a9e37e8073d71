"""Public sets as chats: small ones written here, and a few of the published ones where they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fork.memories import History, Last3
from tests.fork.runner import estimate
from tests.public import fireball, propara, statebench
from tests.public.__main__ import measured
from tests.public.chat import Chat, asked, header
from tests.public.proxy import Proxy, in_order

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"
TIMELINE: Mapping[str, Any] = {
    "id": "T-1",
    "track": "supersession",
    "initial_state": {"persistent_facts": [{"key": "owner", "value": "Ines owns the\nproject"}]},
    "events": [
        {"type": "conversation_turn", "speaker": "user", "text": "We launch on Friday."},
        {"type": "conversation_turn", "speaker": "assistant", "text": "Friday it is."},
        {"type": "state_write", "writes": [{"key": "launch", "value": "Friday", "supersedes": None}]},
        {"type": "conversation_turn", "speaker": "user", "text": "No, make it Monday."},
        {"type": "supersession", "writes": [{"key": "launch_2", "value": "Monday", "supersedes": "launch"}]},
        {
            "type": "query",
            "prompt": "When do we launch?",
            "ground_truth": {"must_mention": ["Monday", "because"], "must_not_mention": ["Friday", "June"]},
        },
    ],
}
GRID = [
    ["4", "SID", "PARTICIPANTS", "leaf; leaves", "mud"],
    ["4", "", "PROMPT: What becomes of leaves?", "-=====", "-====="],
    ["4", "state1", "", "?", "?"],
    ["4", "event1", "The leaf falls into the pond."],
    ["4", "state2", "", "pond", "?"],
    ["4", "event2", "Heron Lake takes it."],
    ["4", "state3", "", "lake", "?"],
]


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxy]:
    with Proxy({"trackers": fireball.TRACKERS}) as found:
        yield found


def test_what_a_timeline_writes_is_reported_under_the_key_that_it_replaces() -> None:
    chat = statebench.chat(TIMELINE)
    assert "[[saga:tracker=launch | kind=text]]" in chat.system and "launch_2" not in chat.system
    assert [(turn.reply, turn.report) for turn in chat.turns[:3]] == [
        ("Ines owns the project", ("owner: Ines owns the project",)),
        ("Friday it is.", ("launch: Friday",)),
        ("Noted.", ("launch: Monday",)),
    ]
    (question,) = chat.questions
    assert question.after == len(chat.turns) == 6
    assert (question.wanted, question.unwanted) == (("monday",), ("friday",)), "what the chat has"


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("Friday, no, Monday", {"wanted": 1.0, "present": 1.0, "withdrawn": 0.0}),
        ("Monday, no, Friday", {"wanted": 1.0, "present": 1.0, "withdrawn": 1.0}),
        ("Monday", {"wanted": 1.0, "present": 0.0, "withdrawn": 0.0}),
        ("nothing", {"wanted": 0.0, "present": 0.0, "withdrawn": 0.0}),
    ],
)
def test_a_withdrawn_phrase_counts_if_it_comes_last(context: str, expected: dict[str, float]) -> None:
    assert statebench.scores(statebench.chat(TIMELINE).questions[0], context) == expected


def test_the_server_tells_what_replaced_it_and_the_end_of_the_chat_nothing(proxy: Proxy) -> None:
    chat = statebench.chat(TIMELINE)
    found = measured([chat], statebench.scores, proxy.memory, estimate)
    assert found["supersession"]["withdrawn"]["mean"][0] == 0.0
    assert found["all"]["wanted"] == {"mean": [100.0, 100.0, 100.0], "of": 1}
    ending = measured([chat], statebench.scores, lambda chat: Last3(header(chat)), estimate)
    assert ending["all"]["wanted"]["mean"][0] == 0.0


def test_a_grid_asks_only_for_places_that_are_told() -> None:
    chat = propara.chat(GRID)
    assert [(turn.words, turn.report) for turn in chat.turns] == [
        ("What becomes of leaves?", ("items_transferred: [{item: leaf, from: unknown, to: pond}]",)),
        ("And then?", ("items_transferred: [{item: leaf, from: pond, to: lake}]",)),
    ]
    assert [(each.after, each.about, each.wanted, each.unwanted) for each in chat.questions] == [
        (1, "leaf", ("pond",), ()),
        (2, "leaf", ("lake",), ("pond",)),
    ]
    last = chat.questions[-1]
    assert propara.scores(last, "lake: the leaf\nThe leaf is in the pond.") == {
        "right": 0.0,
        "wrong": 1.0,
        "found": 1.0,
    }
    with pytest.raises(ValueError, match="4: 2 states for 2 events"):
        propara.chat(GRID[:-1])


def test_what_is_true_now_is_read_last() -> None:
    prompt = "Rules.\n[SAGA: what is true now]\n[Now]\nkey: Mara\n[Earlier]\n- key: Tobin\n[/SAGA]\n\nThe end."
    told = in_order(prompt)
    assert told.index("Tobin") < told.index("The end.") < told.index("Mara")
    assert in_order("No memory.") == "No memory."


def combat(folder: Path) -> Path:
    def update(*rows: str) -> dict[str, Any]:
        return {"event_type": "combat_state_update", "human_readable": "\n".join(rows)}

    def said(text: str, bot: bool) -> dict[str, Any]:
        embeds = [{"title": "Hit!", "fields": [{"name": "Ogre", "value": "4 damage"}]}] if bot else []
        return {"event_type": "message", "author_bot": bot, "content": text, "embeds": embeds}

    rows = [
        update("Nobody yet"),
        said("I strike.", False),
        said("", True),
        update("# 12: Big Ogre <5/9 HP>", "   3: Wren <7/7 HP> (AC 11)"),
        said("Again!", False),
        update("# 12: Big Ogre <-2/9 HP>", "   3: Wren <7/7 HP>"),
    ]
    (folder / fireball.FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_hit_points_are_right_after_swipes(tmp_path: Path, proxy: Proxy) -> None:
    chat = fireball.chat(combat(tmp_path), swipes=1.0)
    assert chat.turns[1].reply == "Hit!\nOgre: 4 damage"
    assert chat.turns[2].report == ("present: [Big Ogre, Wren]", "hit_points: {Big Ogre: =-2, Wren: 7}")
    assert all(turn.swiped for turn in chat.turns[1:])
    memory = proxy.memory(chat)
    shares = [fireball.scores(question, context)["right"] for question, context in asked(chat, memory)]
    assert shares == [1.0, 1.0]
    assert fireball.points_of(memory.state()) == {"Big Ogre": "-2", "Wren": "7"}


def test_a_question_after_the_last_turn_is_refused() -> None:
    chat = statebench.chat(TIMELINE)
    with pytest.raises(ValueError, match="1 questions come after the last turn"):
        list(asked(Chat(chat.id, chat.system, chat.turns[:2], chat.questions), History(header(chat))))


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no public sets in {FOLDER}")
def test_published_files_are_read() -> None:
    """With the numbers of chats and questions that docs/proof.md names."""
    timelines = list(statebench.chats(FOLDER / "statebench"))
    assert (len(timelines), sum(len(each.questions) for each in timelines)) == (1_048, 1_249)
    paragraphs = list(propara.chats(FOLDER / "propara"))
    assert (len(paragraphs), sum(len(each.questions) for each in paragraphs)) == (434, 4_266)
    assert len(fireball.chat(FOLDER / "fireball").turns) == 57


@pytest.mark.deep
@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no public sets in {FOLDER}")
def test_the_combat_is_known_after_each_update() -> None:
    """Everybody's hit points, with three replies in ten swiped."""
    with Proxy({"trackers": fireball.TRACKERS}) as proxy:
        chat = fireball.chat(FOLDER / "fireball", swipes=0.3)
        found = [fireball.scores(*each)["right"] for each in asked(chat, proxy.memory(chat))]
    assert found == [1.0] * 56
