from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from saga_core.errors import GaveWay
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import ChatModel, ChatPart, ChatRequest, FinishPart, TextPart
from saga_server.providers.background import BackgroundModels
from saga_server.providers.route import Provider, Route, Slots

ASK = ChatRequest(PromptPlan((Block("user", "a", Origin.WORDS),)), "any")


class Line:
    """Calls that hold their slot until they are let go, in the order in which they got it."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.running: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.wanted: dict[str, asyncio.Event] = {}

    async def narrate(self, name: str) -> None:
        async with self.slots.narration():
            await self._hold(name)

    async def read(self, name: str) -> None:
        async with self.slots.background() as self.wanted[name]:
            await self._hold(name)

    async def _hold(self, name: str) -> None:
        self.running.append(name)
        await self.gates.setdefault(name, asyncio.Event()).wait()

    def let_go(self, name: str) -> None:
        self.gates[name].set()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_one_at_a_time_narrations_first() -> None:
    line = Line(Slots(1))
    tasks = [asyncio.create_task(each) for each in (line.narrate("n1"), line.read("r1"), line.narrate("n2"))]
    await settle()
    assert (line.running, line.slots.waiting) == (["n1"], 2)
    line.let_go("n1")
    await settle()
    assert line.running == ["n1", "n2"]
    line.let_go("n2")
    await settle()
    assert line.running == ["n1", "n2", "r1"]
    line.let_go("r1")
    await asyncio.gather(*tasks)
    assert line.slots.waiting == 0


async def test_a_narration_asks_for_the_slot_of_the_youngest_background_call() -> None:
    line = Line(Slots(2))
    tasks = [asyncio.create_task(each) for each in (line.read("r1"), line.read("r2"))]
    await settle()
    tasks.append(asyncio.create_task(line.narrate("n1")))
    await settle()
    assert [line.wanted[name].is_set() for name in ("r1", "r2")] == [False, True]
    line.let_go("r2")
    await settle()
    assert line.running[-1] == "n1"
    for name in ("r1", "n1"):
        line.let_go(name)
    await asyncio.gather(*tasks)


async def test_who_stops_waiting_loses_nothing_for_the_others() -> None:
    line = Line(Slots(1))
    first, second, third = (asyncio.create_task(line.narrate(name)) for name in ("n1", "n2", "n3"))
    await settle()
    second.cancel()
    line.let_go("n1")
    await settle()
    assert line.running == ["n1", "n3"]
    line.let_go("n3")
    await asyncio.gather(first, third)
    with pytest.raises(asyncio.CancelledError):
        await second
    await asyncio.wait_for(asyncio.gather(line_of_one(line.slots)), 5)


async def test_one_that_is_cancelled_in_the_moment_of_its_turn_passes_it_on() -> None:
    line = Line(Slots(1))
    async with line.slots.narration():
        second, third = (asyncio.create_task(line.narrate(name)) for name in ("n2", "n3"))
        await settle()
    second.cancel()  # the slot is the second's now, which does not know it yet
    await settle()
    assert line.running == ["n3"]
    line.let_go("n3")
    await third


async def line_of_one(slots: Slots) -> None:
    async with slots.narration():
        assert slots.waiting == 0


async def test_without_a_number_nobody_waits() -> None:
    line = Line(Slots())
    tasks = [asyncio.create_task(line.narrate(str(number))) for number in range(50)]
    await settle()
    assert len(line.running) == 50
    for number in range(50):
        line.let_go(str(number))
    await asyncio.gather(*tasks)


class Slow:
    """A model whose calls wait at a gate, and are counted."""

    name = "slow"

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.asked: list[ChatRequest] = []
        self.broken_off = 0

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncGenerator[ChatPart, None]:
        self.asked.append(request)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.broken_off += 1
            raise
        yield TextPart("x")
        yield FinishPart("stop")

    async def models(self) -> list[str]:
        return []

    async def aclose(self) -> None:
        pass


def background(model: Slow, slots: Slots, dialect: str = "any") -> BackgroundModels:
    async def narrator(_: Provider) -> ChatModel:
        return model

    return BackgroundModels(narrator, Route(Provider("up", "openai", dialect=dialect, slots=slots), "tiny"))


async def all_of(model: BackgroundModels) -> list[ChatPart]:
    return [part async for part in model.stream(ASK, streaming=False)]


async def test_a_background_call_gives_its_slot_to_a_narration() -> None:
    model, slots = Slow(), Slots(1)
    reader = background(model, slots)
    reading = asyncio.create_task(all_of(reader))
    await settle()
    async with asyncio.timeout(5), slots.narration():
        with pytest.raises(GaveWay):
            await reading
        assert model.broken_off == 1
        model.gate.set()
    assert await all_of(reader) == [TextPart("x"), FinishPart("stop")]
    assert [request.model for request in model.asked] == ["tiny", "tiny"]


async def test_reading_a_turn_wants_no_thinking() -> None:
    for dialect, params in (("anthropic", {"reasoning_effort": "none"}), ("any", {})):
        model = Slow()
        model.gate.set()
        await all_of(background(model, Slots(), dialect))
        found: Any = model.asked[0].params
        assert found == params


async def test_a_background_call_that_is_cancelled_ends_its_call() -> None:
    model, slots = Slow(), Slots(1)
    reading = asyncio.create_task(all_of(background(model, slots)))
    await settle()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert model.broken_off == 1
    await asyncio.wait_for(line_of_one(slots), 5)
