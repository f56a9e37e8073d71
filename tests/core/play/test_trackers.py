"""Trackers in play: they are asked for, recorded on their path, told, corrected, explained and compared."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import BadInput
from saga_core.trackers import tracker_of
from tests.core.frontend import Frontend

TRACKERS = {
    "gold": {"kind": "number", "range": "0..999", "unit": "coins", "start": 10},
    "affection": {"kind": "meter", "steps": "0 neutral, 30 friendly", "description": "how much she likes him"},
    "outfit": {"kind": "text", "for": "character"},
    "time": {"kind": "clock", "start": "Monday 08:00"},
}


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(load_config({"storage": {"profile": "memory"}, "trackers": TRACKERS})) as opened:
        yield opened


@pytest.fixture
def chat(saga: Saga) -> Frontend:
    return Frontend(saga, greeting="The lantern market opens.", system="You narrate.", note="")


async def told(chat: Frontend, words: str, reply: str, block: str) -> str:
    """Play one turn with a block as written; return the id of the turn."""
    turn = await chat.begin(words)
    turn.replies[0].feed(f"{reply}\n\n```state\n{block}\n```")
    (recorded,) = await turn.commit()
    chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": recorded.reply}]
    return recorded.id


async def values(saga: Saga, chat: Frontend) -> dict[str, Any]:
    state = await saga.views.describe(session_of(chat))
    return {f"{row['name']}/{row['who']}" if row["to"] else row["name"]: row["text"] for row in state["trackers"]}


def session_of(chat: Frontend) -> str:
    assert chat.last is not None
    return chat.last.session.id


async def test_the_configuration_declares_and_the_first_turn_records_it(saga: Saga, chat: Frontend) -> None:
    turn = await chat.begin("I look around.")
    prompt = turn.plan.text()
    assert "\ngold: <12|+3>\n" in prompt and "- affection: how much she likes him" in prompt
    assert "gold: 10/999 coins" in turn.context.text and "time: Day 1, Monday, 08:00" in turn.context.text
    await told(
        chat, "I buy a lantern.", "Mina sells it.", "present: [Mina]\ngold: -3\naffection: {Mina: +5}\ntime: +2h"
    )
    assert await values(saga, chat) == {
        "gold": "7/999 coins",
        "affection/Mina": "+5 (neutral)",
        "time": "Day 1, Monday, 10:00",
    }
    turn = await chat.begin("And now?")
    assert "Mina (affection: +5 (neutral))" in turn.context.text and "gold: 7/999 coins" in turn.context.text


async def test_values_belong_to_their_path(saga: Saga, chat: Frontend) -> None:
    await told(chat, "I pay.", "She nods.", "gold: -3\npresent: [Mina]")
    del chat.history[-1]
    turn = await chat.begin(None)
    turn.replies[0].feed("She haggles.\n\n```state\ngold: 4\npresent: [Mina]\n```")
    await turn.commit()
    assert (await values(saga, chat))["gold"] == "4/999 coins"


async def test_an_undeclared_key_is_kept_and_can_be_declared(saga: Saga, chat: Frontend) -> None:
    await told(chat, "I cast.", "Sparks fly.", "mana: 5\npresent: []")
    await told(chat, "Again.", "More sparks.", "mana: 3\npresent: []")
    session = session_of(chat)
    state = await saga.views.describe(session)
    assert [(row["key"], row["value"], row["times"]) for row in state["observed"]] == [("mana", "3", 2)]
    change = await saga.memory.correct(session, "declare", {"declaration": "mana | start=3 | range=0..9"})
    await told(chat, "Once more.", "A flash.", "mana: -2\npresent: []")
    assert (await values(saga, chat))["mana"] == "1/9"
    await saga.memory.undo(session, change)
    assert "mana" not in await values(saga, chat)


async def test_a_correction_stands_and_is_undone_and_explained(saga: Saga, chat: Frontend) -> None:
    await told(chat, "I pay.", "She nods.", "gold: -3\npresent: [Mina]\naffection: {Mina: 2}")
    session = session_of(chat)
    seen = await saga.memory.preview(session, "tracker", {"tracker": "gold", "value": "50"})
    assert [row["is"]["number"] for row in seen["effect"]] == [50]
    change = await saga.memory.correct(session, "tracker", {"tracker": "Gold", "value": "50"})
    await saga.memory.correct(session, "tracker", {"tracker": "affection", "value": "friendly", "who": "Mina"})
    await saga.memory.correct(session, "tracker", {"tracker": "time", "value": "Saturday 19:00"})
    last = await told(chat, "I pay again.", "She smiles.", "gold: -1\ntime: +1h\npresent: [Mina]")
    found = await values(saga, chat)
    assert (found["gold"], found["affection/Mina"], found["time"]) == (
        "49/999 coins",
        "+30 (friendly)",
        "Day 6, Saturday, 20:00",
    )
    lines = {row["kind"]: row for row in (await saga.memory.lines(session))["lines"]}
    assert (lines["tracker:gold"]["turn_id"], lines["tracker:affection"]["by"]) == (last, "edit")
    await saga.memory.undo(session, change)
    assert (await values(saga, chat))["gold"] == "6/999 coins"
    with pytest.raises(BadInput, match="tracker: 'mana' is not counted in this story; it counts gold, affection"):
        await saga.memory.correct(session, "tracker", {"tracker": "mana", "value": "1"})
    with pytest.raises(BadInput, match="value: 'much' is no whole number"):
        await saga.memory.correct(session, "tracker", {"tracker": "gold", "value": "much"})


async def test_two_paths_are_compared(saga: Saga, chat: Frontend) -> None:
    first = await told(chat, "I pay.", "She nods.", "gold: -3\npresent: [Mina]")
    second = await told(chat, "I work.", "She pays.", "gold: +9\noutfit: {Mina: apron}\npresent: [Mina]")
    session = session_of(chat)
    found = await saga.timelines.compare(session, first, second)
    assert {each.subject: (each.one, each.other) for each in found.differences if each.kind == "tracker"} == {
        "gold": ("7/999 coins", "16/999 coins"),
        "outfit (Mina)": (None, "apron"),
    }


async def test_a_request_declares_and_a_removed_tracker_stays_removed(saga: Saga, chat: Frontend) -> None:
    luck = tracker_of({"name": "luck", "start": "1"})
    turn = await chat.begin("I toss a coin.", trackers=[luck])
    assert "luck: 1" in turn.context.text
    turn.replies[0].feed("Heads.\n\n```state\nluck: +1\npresent: []\n```")
    await turn.commit()
    assert (await values(saga, chat))["luck"] == "2"
    session = session_of(chat)
    await saga.memory.correct(session, "undeclare", {"tracker": "luck"})
    chat.history += [{"role": "user", "content": "I toss a coin."}, {"role": "assistant", "content": "Heads."}]
    turn = await chat.begin("Again.", trackers=[luck])
    assert "luck" not in turn.plan.text()


@pytest.mark.parametrize("body", ["gold: many", "affection: +3"])
async def test_what_cannot_be_read_is_a_problem(saga: Saga, chat: Frontend, body: str) -> None:
    await told(chat, "I wait.", "Nothing stirs.", f"present: [Mina, Joon]\n{body}")
    session = session_of(chat)
    (problem, *_) = (await saga.views.describe(session))["problems"]
    assert problem["text"].startswith(f"state block: {body.partition(':')[0]}: ")


def test_a_wrong_declaration_in_the_configuration_names_it() -> None:
    with pytest.raises(BadInput, match=r"trackers.*give gold a valid declaration: kind: 'nummer' is not known"):
        load_config({"trackers": {"gold": {"kind": "nummer"}}})
