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
from saga_core.errors import NotSupported, UpstreamError
from saga_core.maintenance import ImportOptions
from saga_core.model import Source
from saga_core.ports import ChatPart, ChatRequest, FinishPart, TextPart, Usage, UsagePart
from saga_core.registry import OpenOptions
from tests.core.extraction.scripted import Scripted
from tests.core.frontend import Frontend
from tests.core.imports import samples

PLACES = "Harbour Mill Tower Crypt Garden Bridge Chapel".split()


def told(text: str) -> str:
    """The block about one turn: what changed in it, and nothing else."""
    place = re.search(r"You walk to the (\w+)", text)
    coin = re.search(r"You find the (coin \d+)", text)
    lines = [f"location: {place[1]}", "location_moved: true", "present: [Ysolde]"] if place else []
    lines += [f'items_gained: [{{name: "{coin[1]}", quantity: 1}}]'] if coin else []
    return "\n".join(
        [*lines, "mood: weary", "notes: The walk went on as before, through wind and along an empty road."]
    )


class Reader(Scripted):
    """A model that reads turns rightly, one or several, and bills what it was asked and what it said."""

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        self.asked.append(request)
        text = request.plan.text()
        counter = await BACKEND.open(OpenOptions())
        answer = self.answer(text)
        yield TextPart(answer)
        yield FinishPart("stop")
        yield UsagePart(Usage(counter.count(text), counter.count(answer)), model="small", provider="small")

    def answer(self, text: str) -> str:
        turns = text.split("## Turn ")[1:]
        if not turns:
            return f"```state\n{told(text)}\n```"
        return "\n".join(f"```state\nturn: {each.split()[0]}\n{told(each)}\n```" for each in turns)


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
        found = await saga.maintenance.import_files([("one.jsonl", chat_of(turns))], ImportOptions())
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
        assert len(reader.asked) == first.calls <= turns / 8, "several turns in a call; no swipe that was not taken"
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


async def test_answers_longer_than_thought_are_in_the_estimate_once_some_were_read() -> None:
    class Wordy(Reader):
        def answer(self, text: str) -> str:
            return super().answer(text).replace("notes: ", "notes: " + "It was a long way and nobody spoke. " * 5)

    async with taken(60, Wordy()) as (saga, session):
        first = state = await saga.background.backfill.step(session, 12)
        while state.left:
            state = await saga.background.backfill.step(session, 32)
        assert first.spent is not None and first.dollars is not None
        assert state.spent == pytest.approx(first.spent + first.dollars, rel=0.1)


async def test_it_stops_and_goes_on() -> None:
    reader = Reader()
    async with taken(20, reader) as (saga, session):
        half = await saga.background.backfill.step(session, 8)
        assert (half.read, half.left) == (8, 12)
        played = await saga.describe(session)
        assert played["turn"] == 20, "the chat is there before it is read"
        again = await saga.background.backfill.step(session, 64)
        assert (again.read, again.left, len(reader.asked)) == (12, 0, 2)
        done = await saga.background.backfill.step(session, 64)
        assert (done.read, done.dollars) == (0, 0.0) and len(reader.asked) == 2


async def test_what_was_read_is_undone_with_its_turn_alone() -> None:
    async with taken(10, Reader()) as (saga, session):
        await saga.background.backfill.step(session, 64)
        live = await saga.parts.live.get(session)
        at = live.tree.path(live.head)[5].id
        assert (await saga.describe(session, at))["location"] == PLACES[5]
        swipe = next(child for child in live.tree.children[live.tree.get(at).parent or ""] if child != at)
        assert (await saga.describe(session, swipe))["location"] == PLACES[4], "the swipe is not read"


class Reluctant(Reader):
    """Leaves out a turn of each window, and says nothing of use about it when it is asked about that turn alone."""

    def answer(self, text: str) -> str:
        turns = text.split("## Turn ")[1:]
        if not turns:
            return "I would rather not." if "number 3 " in text else super().answer(text)
        blocks = super().answer(text).split("\n\n")
        whole = "\n\n".join(blocks)
        third = next((each for each in turns if "number 3 " in each), None)
        if third is None:
            return whole
        return re.sub(rf"```state\nturn: {third.split()[0]}\n.*?```", "", whole, flags=re.DOTALL)


async def test_a_turn_that_fails_is_told_and_does_not_stop_the_rest() -> None:
    reader = Reluctant()
    async with taken(6, reader) as (saga, session):
        state = await saga.background.backfill.step(session, 64)
        assert (state.left, state.failed) == (0, 1)
        assert len(reader.asked) == 3, "all at once, then the one that was left out, twice"
        assert (await saga.describe(session))["location"] == PLACES[6]


async def test_a_model_that_cannot_read_several_turns_is_asked_about_each_and_that_is_told() -> None:
    class Single(Reader):
        def answer(self, text: str) -> str:
            return "What do you mean?" if "## Turn 2" in text else super().answer(text)

    reader = Single()
    async with taken(40, reader) as (saga, session):
        while (state := await saga.background.backfill.step(session, 24)).left:
            assert state.read
        assert len(reader.asked) == 40 + 2, "two windows are enough to see that it cannot"
        assert (await saga.describe(session))["location"] == PLACES[40 % 7]
        assert "small cannot be asked about several turns" in (await saga.status())["degraded"]["extraction.windows"]


@pytest.mark.parametrize("asked", [True, pytest.param(False, marks=pytest.mark.deep)])
async def test_windows_are_tried_again_by_themselves_and_when_somebody_asks(asked: bool) -> None:
    class Learning(Reader):
        able = False

        def answer(self, text: str) -> str:
            return "What do you mean?" if "## Turn 2" in text and not self.able else super().answer(text)

    reader = Learning()
    async with taken(100, reader) as (saga, session):
        saga.parts.background.extraction.pace.pause = 8
        await saga.background.backfill.step(session, 24)
        assert "extraction.windows" in (await saga.status())["degraded"]
        reader.able = True
        if asked:
            await saga.background.backfill.again(session)
            assert "extraction.windows" not in (await saga.status())["degraded"]
        before = len(reader.asked)
        await saga.background.backfill.step(session, 24)
        calls = len(reader.asked) - before
        assert calls == 2 if asked else calls < 24, "it is asked about several at once again"
        assert "extraction.windows" not in (await saga.status())["degraded"]
        while (state := await saga.background.backfill.step(session, 64)).left:
            assert state.read
        assert (await saga.describe(session))["location"] == PLACES[100 % 7]


async def test_what_is_read_waits_at_its_turn_until_a_person_accepts_it() -> None:
    reader = Reader()
    async with taken(30, reader) as (saga, session):
        opened = (await saga.describe(session))["location"]
        state = await saga.background.backfill.step(session, 64, review="ask")
        assert (state.read, state.left) == (30, 0)
        found = await saga.describe(session)
        assert (found["location"], found["inventory"]) == (opened, (await saga.describe(session))["inventory"])
        waiting = [each for each in await saga.memory.changes(session) if each["waiting"]]
        assert [each["turn"] for each in waiting] == list(range(1, 31))
        assert {each["by"] for each in waiting} == {"extraction"}
        await saga.memory.decide(session, waiting[8]["id"], accept=True)
        await saga.memory.decide(session, waiting[29]["id"], accept=False)
        assert (await saga.describe(session))["location"] == PLACES[9 % 7], "it counts at its turn, and further down"
        live = await saga.parts.live.get(session)
        assert (await saga.describe(session, live.tree.path(live.head)[8].id))["location"] == opened
        await saga.memory.decide(session, waiting[24]["id"], accept=True)
        assert "coin 25" in {item["name"] for item in (await saga.describe(session))["inventory"]}
        await saga.drain(60)
        assert await saga.maintenance.differences(session) == []
        calls = len(reader.asked)
        again = await saga.background.backfill.step(session, 64)
        assert (again.read, again.left, len(reader.asked)) == (0, 0, calls), (
            "what waits or was refused is not read anew"
        )


async def test_what_waits_is_not_read_again_by_itself() -> None:
    reader = Reader()
    async with taken(2, reader) as (saga, _):
        frontend = Frontend(saga, session="talk")
        await frontend.say("I go on.", "You walk to the Mill, and nobody has told anybody of it.")
        await saga.background.backfill.step("talk", 64, review="ask")
        await saga.drain(60)
        await frontend.say("And on.", "You walk to the Tower, and the day is nearly over by then.")
        await saga.drain(60)
        session = (await saga.sessions.get("talk")).id
        live = await saga.parts.live.get(session)
        first = live.tree.path(live.head)[1]
        assert sum(delta.source is Source.EXTRACTION for delta in live.amendments[first.id]) == 1
        assert [each["waiting"] for each in await saga.memory.changes(session) if each["turn"] == 1] == [True]


async def test_turns_that_could_not_be_read_are_left_again_when_somebody_asks() -> None:
    class Better(Reluctant):
        def answer(self, text: str) -> str:
            return super().answer(text) if len(self.asked) <= 3 else Reader.answer(self, text)

    async with taken(6, Better()) as (saga, session):
        state = await saga.background.backfill.step(session, 64)
        assert (state.left, state.failed) == (0, 1)
        await saga.background.backfill.again(session)
        again = await saga.background.backfill.estimate(session)
        assert (again.left, again.failed) == (1, 0) and again.dollars
        done = await saga.background.backfill.step(session, 64)
        assert (done.read, done.left, done.failed) == (1, 0, 0)
        live = await saga.parts.live.get(session)
        third = live.tree.path(live.head)[3]
        assert (await saga.describe(session, third.id))["location"] == PLACES[3]


async def test_a_model_whose_context_is_too_small_for_a_window_is_asked_about_each() -> None:
    class Narrow(Reader):
        async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
            if "## Turn 2" in request.plan.text():
                raise UpstreamError("the prompt is longer than the context", status=400)
            async for part in super().stream(request):
                yield part

    async with taken(6, Narrow()) as (saga, session):
        state = await saga.background.backfill.step(session, 64)
        assert (state.read, state.left, state.failed) == (6, 0, 0)


async def test_what_a_window_says_is_recorded_at_the_turn_where_it_happened() -> None:
    async with taken(9, Reader()) as (saga, session):
        await saga.background.backfill.step(session, 64)
        live = await saga.parts.live.get(session)
        path = live.tree.path(live.head)
        for depth in range(1, 10):
            assert (await saga.describe(session, path[depth].id))["location"] == PLACES[depth % 7]


async def test_without_a_model_it_says_what_to_do() -> None:
    async with taken(2, None) as (saga, session):
        with pytest.raises(NotSupported, match=r"models\.extraction"):
            await saga.background.backfill.estimate(session)
