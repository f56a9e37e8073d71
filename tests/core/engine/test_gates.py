"""Exclusive sections: the lane rests, writers wait, and everything goes on afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from saga_core.engine.counters import Counters
from saga_core.engine.lanes import Lanes
from tests.core.engine.test_lanes import Work


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def lanes(work: Work) -> Lanes:
    return Lanes(work, Counters())


async def turns_of_the_loop(count: int = 20) -> None:
    """Let everything that can go on go on."""
    for _ in range(count):
        await asyncio.sleep(0)


async def under_way(awaitable: Awaitable[object]) -> asyncio.Future[object]:
    task = asyncio.ensure_future(awaitable)
    await turns_of_the_loop()
    return task


async def test_a_section_waits_for_the_batch_and_holds_the_next(work: Work, lanes: Lanes) -> None:
    work.gate.clear()
    lanes.submit("a", ["t1"])
    await turns_of_the_loop()
    lanes.submit("a", ["t2"])
    entered, leave = asyncio.Event(), asyncio.Event()

    async def section() -> None:
        async with lanes.exclusive("a"):
            assert work.running == set()
            entered.set()
            await leave.wait()

    task = await under_way(section())
    assert not entered.is_set()
    work.gate.set()
    await entered.wait()
    lanes.submit("a", ["t3"])
    lanes.submit("b", ["u1"])
    await turns_of_the_loop()
    assert work.calls == [("a", ("t1",)), ("b", ("u1",))], "the other session goes on"
    assert lanes.busy("a")
    leave.set()
    await task
    assert (await lanes.drain(5)).waiting == ()
    assert work.calls[2:] == [("a", ("t2", "t3"))]
    assert not lanes.busy("a")


async def test_sections_of_one_session_come_one_after_the_other(work: Work, lanes: Lanes) -> None:
    order: list[str] = []

    async def section(name: str, session: str) -> None:
        async with lanes.exclusive(session):
            order.append(f"{name} begins")
            await turns_of_the_loop(3)
            lanes.submit(session, [name])
            await turns_of_the_loop(3)
            order.append(f"{name} ends")

    await asyncio.gather(section("one", "a"), section("two", "a"))
    assert order == ["one begins", "one ends", "two begins", "two ends"]
    await lanes.drain(5)
    assert work.calls == [("a", ("one", "two"))], "the lane rested until the last of them was over"


async def test_a_closed_journal_keeps_writers_out_and_an_open_one_does_not(lanes: Lanes) -> None:
    async def write() -> str:
        async with lanes.gates.writing("a"):
            return "written"

    async with lanes.exclusive("a"):
        assert await write() == "written"
    async with lanes.exclusive("a", journal=True):
        waiting = await under_way(write())
        knocking = await under_way(lanes.gates.opened("a"))
        assert not waiting.done()
        assert not knocking.done()
        await lanes.gates.opened("b")
    assert await waiting == "written"
    await knocking
    assert "a" not in lanes.gates


async def test_a_section_waits_for_the_writer_before_it(lanes: Lanes) -> None:
    async def section() -> None:
        async with lanes.exclusive("a", journal=True):
            pass

    async with lanes.gates.writing("a"):
        task = await under_way(section())
        assert not task.done()
    await task


async def test_stopping_ends_the_lane_and_forgets_its_queue(work: Work, lanes: Lanes) -> None:
    work.gate.clear()
    lanes.submit("a", ["t1"])
    await turns_of_the_loop()
    async with lanes.exclusive("a", journal=True, stop=True):
        assert lanes.depth() == 0
        assert work.running == set()
    work.gate.set()
    await lanes.drain(5)
    assert work.calls == []


async def test_changes_tell_whether_a_reading_was_disturbed(lanes: Lanes) -> None:
    before = lanes.gates.changes
    assert not await lanes.gates.changed(before)
    async with lanes.exclusive("a"):
        assert not await lanes.gates.changed(before), "views alone change no reading"
    async with lanes.exclusive("a", journal=True):
        inside = lanes.gates.changes
        asked = await under_way(lanes.gates.changed(inside))
        assert not asked.done()
    assert await asked
    assert await lanes.gates.changed(before)
    assert not await lanes.gates.changed(lanes.gates.changes)


async def test_a_section_that_fails_or_is_cancelled_lets_go(work: Work, lanes: Lanes) -> None:
    with pytest.raises(OSError, match="no"):
        async with lanes.exclusive("a", journal=True):
            lanes.submit("a", ["t1"])
            raise OSError("no")
    await lanes.drain(5)
    assert work.calls == [("a", ("t1",))]
    async with lanes.exclusive("a"):

        async def section() -> None:
            async with lanes.exclusive("a"):
                raise AssertionError("never entered")

        task = await under_way(section())
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert lanes.gates.held("a")
    assert "a" not in lanes.gates


async def test_a_failing_lane_rests_without_being_waited_for(work: Work, lanes: Lanes) -> None:
    work.failures = 1
    lanes.submit("a", ["t1"])
    await turns_of_the_loop()
    async with lanes.exclusive("a"):
        assert [each.turn for each in lanes.waiting()] == ["t1"]
    await lanes.drain(5)
    assert work.calls == [("a", ("t1",))]
