"""``extraction.review: ask``: what a model read of a history that SAGA did not narrate waits, and the story goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from attrs import evolve

from saga_core import Saga, codec
from saga_core.config import load_config
from saga_core.journal import keys
from saga_core.maintenance import ImportOptions
from saga_core.model import Delta, ReportStatus, Source
from saga_core.model.deltas import Noted
from saga_core.sessions import amend
from saga_core.stores import Batch
from tests.core.frontend import Frontend
from tests.core.jobs.test_backfill import PLACES, Reader, chat_of

TREE: dict[str, Any] = {
    "storage": {"profile": "memory"},
    "models": {"extraction": "small"},
    "session": {"default_world": "harrow"},
}


@asynccontextmanager
async def opened(review: str = "ask") -> AsyncIterator[tuple[Saga, Reader]]:
    reader = Reader()
    async with Saga.open(load_config({**TREE, "extraction": {"review": review}}, environ={}), extractor=reader) as saga:
        yield saga, reader


async def waiting(saga: Saga, session: str) -> list[dict[str, Any]]:
    return [each for each in await saga.memory.changes(session) if each["waiting"]]


async def adopted(saga: Saga) -> tuple[Frontend, str]:
    """A chat of three turns that SAGA first hears of with the fourth."""
    chat = Frontend(saga)
    for place in ("Harbour", "Mill", "Tower"):
        said = {"role": "user", "content": f"I go on, to the {place} I hope."}
        chat.history += [said, {"role": "assistant", "content": f"You walk to the {place}, and the wind is cold."}]
    turn = await chat.say("I rest for a while here.", "You rest.", hp_change=-1)
    await saga.drain(30)
    return chat, turn.session.id


async def test_an_adopted_history_waits_and_is_asked_about_once() -> None:
    async with opened() as (saga, reader):
        chat, session = await adopted(saga)
        held = await waiting(saga, session)
        assert [each["turn"] for each in held] == [1, 2, 3] and {each["by"] for each in held} == {"extraction"}
        assert (await saga.describe(session))["location"] != "Tower", "nothing of it counts"
        asked = len(reader.asked)
        await chat.say("I look around once more.", "Nothing stirs.", notes="A note of the fifth turn.")
        await saga.memory.correct(session, "note", {"text": "Of the third."}, held[-1]["turn_id"])
        await saga.drain(30)
        assert len(reader.asked) == asked, "what waits is not read again"
        assert await waiting(saga, session) == held and await saga.maintenance.differences(session) == []


@pytest.mark.parametrize("accept", [True, False])
async def test_what_is_accepted_counts_from_then_on(accept: bool) -> None:
    async with opened() as (saga, reader):
        _, session = await adopted(saga)
        before = await saga.describe(session)
        asked = len(reader.asked)
        for each in await waiting(saga, session):
            await saga.memory.decide(session, each["id"], accept=accept)
        await saga.drain(30)
        found = await saga.describe(session)
        assert found["location"] == ("Tower" if accept else before["location"])
        assert found["hp"] == before["hp"], "what was played is as it was"
        assert await waiting(saga, session) == [] and len(reader.asked) == asked
        assert await saga.maintenance.differences(session) == []


async def test_an_imported_chat_is_read_to_its_end_and_waits() -> None:
    async with opened() as (saga, reader):
        taken = await saga.maintenance.import_files([("one.jsonl", chat_of(14))], ImportOptions())
        session = taken.things[0].session
        assert session is not None
        await saga.drain(60)
        state = await saga.background.backfill.step(session, 64)
        assert (state.left, state.read) == (0, 14), "what waits was read"
        assert len(await waiting(saga, session)) == 14
        assert (await saga.describe(session))["location"] != PLACES[0]
        for each in await waiting(saga, session):
            await saga.memory.decide(session, each["id"], accept=True)
        await saga.drain(60)
        assert (await saga.describe(session))["location"] == PLACES[0]
        change = (await saga.memory.changes(session))[-1]
        await saga.memory.undo(session, change["id"])
        assert (await saga.describe(session))["location"] == PLACES[13 % 7]
        asked = len(reader.asked)
        await saga.drain(60)
        assert len(reader.asked) == asked, "and what was undone stays undone"


async def test_what_waits_takes_nothing_away_that_was_known_of_its_turn() -> None:
    async with opened() as (saga, _):
        chat = Frontend(saga)
        session = (await chat.say("I rest.", "You rest.")).session.id
        turn = (await saga.views.turns(session))[-1]
        live = await saga.parts.live.get(session)
        note = Delta((Noted("It rains."),), Source.BLOCK, ReportStatus.CUT)
        kept = evolve(turn, delta=note)
        await saga.parts.journal.kv.commit(Batch({keys.turn(session, turn.id): codec.encode(kept)}))
        read = Delta((Noted("It snows."),), Source.EXTRACTION, id="a000")
        await amend(live, turn.id, read, "a000", ("a001", Delta((), Source.CURATION, id="a001", undoes="a000")))
        saga.parts.live.forget(session)
        assert (await saga.views.state(session)).notes[-1][1] == "It rains."
        await saga.memory.decide(session, "a000", accept=True)
        saga.parts.live.forget(session)
        assert (await saga.views.state(session)).notes[-1][1] == "It snows."


async def test_what_nobody_read_is_counted() -> None:
    async with opened() as (saga, _):
        taken = await saga.maintenance.import_files([("one.jsonl", chat_of(14))], ImportOptions())
        session = taken.things[0].session
        assert session is not None
        path = await saga.views.turns(session)
        assert [(await saga.memory.lines(session, turn))["unread"] for turn in (None, path[3].id)] == [14, 3]
        await saga.background.backfill.step(session, 64)
        assert (await saga.memory.lines(session))["unread"] == 0


async def test_without_it_nothing_waits() -> None:
    async with opened("auto") as (saga, _):
        _, session = await adopted(saga)
        assert await waiting(saga, session) == [] and (await saga.describe(session))["location"] == "Tower"
