"""Threads: quests, promises and plans, from the report of a narrator to what the next prompt says."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.trackers import Move, read_threads
from tests.core.frontend import Frontend

TRACKERS = {"plans": {"kind": "threads"}, "time": {"kind": "clock", "start": "Monday 08:00"}}


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(load_config({"storage": {"profile": "memory"}, "trackers": TRACKERS})) as opened:
        yield opened


@pytest.fixture
def chat(saga: Saga) -> Frontend:
    return Frontend(saga, greeting="The town wakes.", system="You narrate.", note="")


async def told(chat: Frontend, words: str, block: str) -> str:
    """Play one turn with a block as written; return the context that the next one gets."""
    turn = await chat.begin(words)
    turn.replies[0].feed(f"So it is, {words}\n\n```state\npresent: [Mina]\n{block}\n```")
    (recorded,) = await turn.commit()
    chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": recorded.reply}]
    return (await chat.begin("And now?")).context.text


@pytest.mark.parametrize(
    ("text", "report"),
    [
        ("+Lantern Festival (Saturday 19:00)", ("Lantern Festival", Move.OPEN, "", "Saturday 19:00", "", "")),
        ("+pay the rent (Mina -> Joon, Friday)", ("pay the rent", Move.OPEN, "", "Friday", "Mina", "Joon")),
        (
            "Lantern Festival: lanterns are bought",
            ("Lantern Festival", Move.ADVANCE, "lanterns are bought", "", "", ""),
        ),
        ("-the debt (paid)", ("the debt", Move.CLOSE, "paid", "", "", "")),
        ("the debt: paid", ("the debt", Move.CLOSE, "paid", "", "", "")),
        ("등불 축제: 완료", ("등불 축제", Move.CLOSE, "완료", "", "", "")),
    ],
)
def test_a_report_opens_advances_and_closes(text: str, report: tuple[str, ...]) -> None:
    (found,) = read_threads([text])
    assert (found.name, found.move, found.text, found.when, found.one, found.other) == report


@pytest.mark.parametrize("text", ["none", "", "+", "null"])
def test_nothing_is_no_thread(text: str) -> None:
    assert not list(read_threads([text]))


async def test_what_is_planned_is_told_while_it_is_near_and_never_as_what_happened(saga: Saga, chat: Frontend) -> None:
    context = await told(
        chat, "We plan.", "plans: [+Lantern Festival (Saturday 19:00), +Return the key (Mina -> Joon)]"
    )
    assert "Lantern Festival" not in context  # more than three days ahead
    assert "[plans] Return the key (Mina → Joon)" in context
    context = await told(chat, "We sleep.", "time: Thursday 09:00\nplans: [Lantern Festival: lanterns are bought]")
    line = "[plans, not yet happened; Day 6, Saturday, 19:00] Lantern Festival: lanterns are bought"
    assert line in context
    state = await saga.views.state(chat.last.session.id if chat.last else "")
    assert not state.happenings
    context = await told(chat, "We wait.", "time: Saturday 21:00\nplans: [-Return the key (done)]")
    assert "[plans, not yet happened" in context and "Return the key: done (turn 3)" in context
    context = await told(chat, "We wait.", "time: +2 days")
    assert "[plans, overdue since Day 6, Saturday, 19:00] Lantern Festival" in context
    context = await told(chat, "We go.", "plans: [-Lantern Festival]")
    assert "Lantern Festival (turn 5)" in context and "not yet happened" not in context


async def test_an_hour_that_nobody_named_is_not_told(saga: Saga, chat: Frontend) -> None:
    context = await told(chat, "We plan.", "plans: [+Wedding (some Wednesday), +Dinner (Tuesday evening)]")
    assert "Day 3, Wednesday] Wedding" in context and "Day 2, Tuesday, 19:00] Dinner" in context


async def test_threads_are_shown_corrected_undone_and_compared(saga: Saga, chat: Frontend) -> None:
    await told(chat, "We plan.", "plans: [+Find the ring]")
    assert chat.last is not None
    id_ = chat.last.session.id
    change = await saga.memory.correct(id_, "tracker", {"tracker": "plans", "value": "+Meet Joon (day 2, 10:00)"})
    found = {row["name"]: row["when"] for row in (await saga.views.describe(id_))["threads"]}
    assert found == {"Find the ring": None, "Meet Joon": "Day 2, Tuesday, 10:00"}
    lines = [row for row in (await saga.memory.lines(id_))["lines"] if row["kind"] == "event"]
    assert [(row["text"], row["by"]) for row in lines] == [("Find the ring", "block"), ("Meet Joon", "edit")]
    await saga.memory.undo(id_, change)
    assert [row["name"] for row in (await saga.views.describe(id_))["threads"]] == ["Find the ring"]
    compared = await saga.timelines.compare(id_, chat.last.session.root, chat.last.parent.id)
    assert [each.subject for each in compared.differences if each.kind == "thread"] == ["Find the ring"]


async def test_what_is_overdue_is_told_until_it_is_closed(saga: Saga, chat: Frontend) -> None:
    await told(chat, "one", "plans:\n- +Lantern Festival (Tuesday 19:00)\n- +Return the key")
    assert "overdue since" in await told(chat, "two", "time: +9 days")
    assert "[plans, overdue since" not in await told(chat, "three", "plans: [-Lantern Festival (held)]")
