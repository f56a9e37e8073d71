"""Exclusive sections: work on views rests, writers wait, and everything goes on afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from saga_core.background import InSections, Supervisor
from saga_core.counters import Counters
from tests.core.background.stage import OneByOne, Work, supervised, turns_of_the_loop


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def supervisor(work: Work) -> Supervisor:
    return supervised(work)


async def under_way(awaitable: Awaitable[object]) -> asyncio.Future[object]:
    task = asyncio.ensure_future(awaitable)
    await turns_of_the_loop()
    return task


async def test_a_section_waits_for_the_batch_and_holds_the_next(work: Work, supervisor: Supervisor) -> None:
    work.gate.clear()
    work.submit("a", ["t1"])
    await turns_of_the_loop()
    work.submit("a", ["t2"])
    entered, leave = asyncio.Event(), asyncio.Event()

    async def section() -> None:
        async with supervisor.exclusive("a"):
            assert work.running == set()
            entered.set()
            await leave.wait()

    task = await under_way(section())
    assert not entered.is_set()
    work.gate.set()
    await entered.wait()
    work.submit("a", ["t3"])
    work.submit("b", ["u1"])
    await turns_of_the_loop()
    assert work.calls == [("a", ("t1",)), ("b", ("u1",))], "the other session goes on"
    assert supervisor.busy("a")
    leave.set()
    await task
    assert (await supervisor.drain(5)).waiting == ()
    assert work.calls[2:] == [("a", ("t2", "t3"))]
    assert not supervisor.busy("a")


async def test_sections_of_one_session_come_one_after_the_other(work: Work, supervisor: Supervisor) -> None:
    order: list[str] = []

    async def section(name: str, session: str) -> None:
        async with supervisor.exclusive(session):
            order.append(f"{name} begins")
            await turns_of_the_loop(3)
            work.submit(session, [name])
            await turns_of_the_loop(3)
            order.append(f"{name} ends")

    await asyncio.gather(section("one", "a"), section("two", "a"))
    assert order == ["one begins", "one ends", "two begins", "two ends"]
    await supervisor.drain(5)
    assert work.calls == [("a", ("one", "two"))], "the work rested until the last of them was over"


async def test_a_closed_journal_keeps_writers_out_and_an_open_one_does_not(work: Work, supervisor: Supervisor) -> None:
    async def write() -> str:
        async with supervisor.locks.writing("a"):
            return "written"

    async with supervisor.exclusive("a"):
        assert await write() == "written"
    async with supervisor.exclusive("a", journal=True):
        waiting = await under_way(write())
        knocking = await under_way(supervisor.locks.opened("a"))
        assert not waiting.done()
        assert not knocking.done()
        await supervisor.locks.opened("b")
    assert await waiting == "written"
    await knocking
    assert "a" not in supervisor.locks


async def test_a_section_waits_for_the_writer_before_it(work: Work, supervisor: Supervisor) -> None:
    async def section() -> None:
        async with supervisor.exclusive("a", journal=True):
            pass

    async with supervisor.locks.writing("a"):
        task = await under_way(section())
        assert not task.done()
    await task


async def test_stopping_ends_the_lane_and_forgets_its_queue(work: Work, supervisor: Supervisor) -> None:
    work.gate.clear()
    work.submit("a", ["t1"])
    await turns_of_the_loop()
    async with supervisor.exclusive("a", journal=True, stop=True):
        assert work.depth() == 0
        assert work.running == set()
    work.gate.set()
    await supervisor.drain(5)
    assert work.calls == []


class Following(Work):
    """Work that goes on during sections."""

    kind = "follow"
    counter = mode = "following"
    in_sections = InSections.GOES_ON


@pytest.mark.parametrize("job", [OneByOne, Following])
async def test_stopping_ends_the_work_that_a_section_does_not_wait_for(job: type[Work]) -> None:
    work = job()
    supervisor = supervised(Work(), work)
    work.gate.clear()
    work.submit("a", ["t1"])
    await turns_of_the_loop()
    assert work.running == {"a"}
    async with supervisor.exclusive("a", journal=True, stop=True):
        assert (work.depth(), work.running) == (0, set())
    work.gate.set()
    await supervisor.drain(5)
    assert work.calls == []


async def test_stopping_ends_the_degraded_mode_of_the_work_that_failed() -> None:
    work, counters = Following(failures=1), Counters()
    supervisor = supervised(work, counters=counters)
    work.submit("a", ["t1"])
    await turns_of_the_loop()
    assert "following" in counters.degraded
    async with supervisor.exclusive("a", journal=True, stop=True):
        assert counters.degraded == {}


async def test_changes_tell_whether_a_reading_was_disturbed(work: Work, supervisor: Supervisor) -> None:
    before = supervisor.locks.changes
    assert not await supervisor.locks.changed(before)
    async with supervisor.exclusive("a"):
        assert not await supervisor.locks.changed(before), "views alone change no reading"
    async with supervisor.exclusive("a", journal=True):
        inside = supervisor.locks.changes
        asked = await under_way(supervisor.locks.changed(inside))
        assert not asked.done()
    assert await asked
    assert await supervisor.locks.changed(before)
    assert not await supervisor.locks.changed(supervisor.locks.changes)


async def test_a_section_that_fails_or_is_cancelled_lets_go(work: Work, supervisor: Supervisor) -> None:
    with pytest.raises(OSError, match="no"):
        async with supervisor.exclusive("a", journal=True):
            work.submit("a", ["t1"])
            raise OSError("no")
    await supervisor.drain(5)
    assert work.calls == [("a", ("t1",))]
    async with supervisor.exclusive("a"):

        async def section() -> None:
            async with supervisor.exclusive("a"):
                raise AssertionError("never entered")

        task = await under_way(section())
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert supervisor.locks.held("a")
    assert "a" not in supervisor.locks


async def test_a_failing_lane_rests_without_being_waited_for(work: Work, supervisor: Supervisor) -> None:
    work.failures = 1
    work.submit("a", ["t1"])
    await turns_of_the_loop()
    async with supervisor.exclusive("a"):
        assert [each.turn for each in supervisor.waiting()] == ["t1"]
    await supervisor.drain(5)
    assert work.calls == [("a", ("t1",))]


async def test_work_that_only_rests_is_not_waited_for_and_begins_nothing_in_a_section() -> None:
    slow = OneByOne()
    supervisor = supervised(slow)
    slow.gate.clear()
    slow.submit("a", ["t1", "t2"])
    await turns_of_the_loop()
    async with supervisor.exclusive("a"):
        slow.gate.set()
        await turns_of_the_loop()
        assert slow.calls == [("a", ("t1",))], "the step that was under way ended; no other began"
    await supervisor.drain(5)
    assert slow.calls == [("a", ("t1",)), ("a", ("t2",))]
