"""Lanes: serial within a session, side by side across sessions, tried again until done, drained cleanly."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from saga_core.engine.counters import Counters
from saga_core.engine.lanes import Lanes


class Work:
    """Records what it is told, fails as often as asked, and holds at a gate."""

    def __init__(self, failures: int = 0) -> None:
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self.running: set[str] = set()
        self.overlaps: list[str] = []
        self.most = 0
        self.failures = failures
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, session: str, turns: Sequence[str]) -> None:
        if session in self.running:
            self.overlaps.append(session)
        self.running.add(session)
        self.most = max(self.most, len(self.running))
        try:
            await self.gate.wait()
            if self.failures:
                self.failures -= 1
                raise OSError("disk is full")
            self.calls.append((session, tuple(turns)))
        finally:
            self.running.discard(session)


async def test_turns_of_a_session_are_handled_in_order_and_never_at_once() -> None:
    work = Work()
    lanes = Lanes(work, Counters())
    work.gate.clear()
    lanes.submit("a", ["t1"])
    lanes.submit("b", ["u1"])
    await asyncio.sleep(0)
    lanes.submit("a", ["t2", "t3"])
    assert lanes.busy("a")
    assert lanes.depth() == 4
    work.gate.set()
    report = await lanes.drain(5)
    assert [turns for session, turns in work.calls if session == "a"] == [("t1",), ("t2", "t3")]
    assert work.overlaps == []
    assert work.most == 2
    assert report.done == 4
    assert report.waiting == ()
    assert not lanes.busy("a")


async def test_a_failure_is_visible_tried_again_by_drain_and_forgotten_when_it_is_over() -> None:
    counters = Counters()
    work = Work(failures=2)
    lanes = Lanes(work, counters)
    lanes.submit("a", ["t1"])
    report = await lanes.drain(5)
    assert [(each.session, each.turn) for each in report.waiting] == [("a", "t1")]
    assert "disk is full" in report.waiting[0].reason
    assert "disk is full" in counters.degraded["background"]
    report = await lanes.drain(5)
    assert report.waiting == ()
    assert report.done == 1
    assert work.calls == [("a", ("t1",))]
    assert counters.degraded == {}
    assert counters.counts["lane.failures"] == 2


async def test_draining_stops_at_its_deadline_and_says_what_waits() -> None:
    work = Work()
    work.gate.clear()
    lanes = Lanes(work, Counters())
    lanes.submit("a", ["t1", "t2"])
    report = await lanes.drain(0.01)
    assert [each.turn for each in report.waiting] == ["t1", "t2"]
    assert report.waiting[0].reason == "queued"
    await lanes.aclose()
    assert work.calls == []
    lanes.submit("a", ["t3"])
    assert lanes.depth() == 0


async def test_cancelling_one_session_leaves_the_others() -> None:
    work = Work()
    work.gate.clear()
    lanes = Lanes(work, Counters())
    lanes.submit("a", ["t1"])
    lanes.submit("b", ["u1"])
    await asyncio.sleep(0)
    await lanes.cancel("a")
    work.gate.set()
    await lanes.drain(5)
    assert work.calls == [("b", ("u1",))]
    await lanes.cancel("unknown")


async def test_one_that_is_woken_and_stopped_at_once_stops() -> None:
    work = Work(failures=9)
    lanes = Lanes(work, Counters())
    lanes.submit("a", ["t1"])
    await lanes.drain(5)
    tried = work.failures
    work.gate.clear()  # what is tried again hangs
    lanes.hurry("a")
    async with asyncio.timeout(5):
        await lanes.aclose()
    assert (work.calls, work.failures) == ([], tried)
