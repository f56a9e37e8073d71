"""What happened in an imported chat is read some turns at a time, at a price that is told before."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from saga_backends.tokens.estimate import BACKEND
from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import NotSupported
from saga_core.maintenance import TakeIn
from saga_core.ports import ChatPart, ChatRequest, FinishPart, TextPart, Usage, UsagePart
from saga_core.registry import OpenOptions
from saga_core.state_block import ItemAmount
from tests.core.extraction.scripted import Scripted, changes
from tests.core.imports import samples

PLACES = "Harbour Mill Tower Crypt Garden Bridge Chapel".split()


class Reader(Scripted):
    """A model that reads a turn rightly, and bills what it was asked and what it said."""

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        self.asked.append(request)
        text = request.plan.text()
        counter = await BACKEND.open(OpenOptions())
        place = re.search(r"You walk to the (\w+)", text)
        coin = re.search(r"You find the (coin \d+)", text)
        fields: dict[str, Any] = {"location": place[1] if place else None, "notes": "The walk went on as before."}
        answer = changes(**fields, items_gained=(ItemAmount(coin[1]),) if coin else ())
        yield TextPart(answer)
        yield FinishPart("stop")
        yield UsagePart(Usage(counter.count(text), counter.count(answer)), model="small", provider="small")


def chat_of(turns: int) -> bytes:
    rows: list[Any] = [samples.HEADER, samples.message("Ysolde", "A long road lies ahead of you.")]
    for turn in range(1, turns + 1):
        reply = f"You walk to the {PLACES[turn % 7]}, and the day of number {turn} grows older by an hour."
        reply += f" You find the coin {turn} under a stone." if turn % 25 == 0 else " Nothing else is there but wind."
        other = f"You walk to the Abyss, and that was the end of it, swipe {turn}."
        rows.append(samples.message("Alex", f"On with me, for the {turn}th time.", user=True))
        rows.append(samples.message("Ysolde", reply, swipes=[reply, other], swipe_id=0))
    return samples.jsonl(*rows)


FACTS: Mapping[str, Any] = {"small": {"input": 0.1, "output": 0.4}}


@asynccontextmanager
async def taken(turns: int, reader: Scripted | None) -> AsyncIterator[tuple[Saga, str]]:
    config = load_config(
        {
            "storage": {"profile": "memory"},
            "models": {"extraction": "small", "facts": FACTS},
            "session": {"default_world": "harrow"},
        }
    )
    async with Saga.open(config, extractor=reader) as saga:
        found = await saga.maintenance.take_in([("one.jsonl", chat_of(turns))], TakeIn())
        session = found.things[0].session
        assert session is not None
        await saga.drain(60)
        yield saga, session


async def whole(turns: int) -> None:
    reader = Reader()
    async with taken(turns, reader) as (saga, session):
        assert reader.asked == [], "nobody asked for it"
        first = await saga.background.backfill.estimate(session)
        assert (first.left, first.spent) == (turns, 0.0) and first.dollars is not None
        state = first
        while state.left:
            state = await saga.background.backfill.step(session, 32)
            assert state.read
        assert len(reader.asked) == turns, "a swipe that was not taken costs nothing"
        assert state.spent == pytest.approx(first.dollars, rel=0.1)
        found = await saga.describe(session)
        assert found["location"] == PLACES[turns % 7]
        coins = {item["name"] for item in found["inventory"]}
        wanted = {f"coin {turn}" for turn in range(25, turns + 1, 25)}
        assert len(coins & wanted) >= 0.97 * len(wanted)
        await saga.drain(60)
        assert await saga.maintenance.differences(session) == []


async def test_a_chat_is_read_at_the_price_that_was_told() -> None:
    await whole(60)


@pytest.mark.deep
async def test_a_chat_of_500_turns_is_read_at_the_price_that_was_told() -> None:
    await whole(500)


async def test_it_stops_and_goes_on() -> None:
    reader = Reader()
    async with taken(20, reader) as (saga, session):
        half = await saga.background.backfill.step(session, 8)
        assert (half.read, half.left) == (8, 12)
        played = await saga.describe(session)
        assert played["turn"] == 20, "the chat is there before it is read"
        again = await saga.background.backfill.step(session, 64)
        assert (again.read, again.left, len(reader.asked)) == (12, 0, 20)
        done = await saga.background.backfill.step(session, 64)
        assert (done.read, done.dollars) == (0, 0.0) and len(reader.asked) == 20


async def test_what_was_read_is_undone_with_its_turn_alone() -> None:
    async with taken(10, Reader()) as (saga, session):
        await saga.background.backfill.step(session, 64)
        live = await saga.parts.live.get(session)
        at = live.tree.path(live.head)[5].id
        assert (await saga.describe(session, at))["location"] == PLACES[5]
        swipe = next(child for child in live.tree.children[live.tree.get(at).parent or ""] if child != at)
        assert (await saga.describe(session, swipe))["location"] == PLACES[4], "the swipe is not read"


async def test_a_turn_that_fails_is_told_and_does_not_stop_the_rest() -> None:
    class Failing(Reader):
        async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
            if "number 3 " in request.plan.text():
                self.asked.append(request)
                yield TextPart("I would rather not.")
                yield FinishPart("stop")
                return
            async for part in super().stream(request):
                yield part

    async with taken(6, Failing()) as (saga, session):
        state = await saga.background.backfill.step(session, 64)
        assert (state.left, state.failed) == (0, 1)


async def test_without_a_model_it_says_what_to_do() -> None:
    async with taken(2, None) as (saga, session):
        with pytest.raises(NotSupported, match=r"models\.extraction"):
            await saga.background.backfill.estimate(session)
