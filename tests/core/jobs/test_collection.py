"""Fleeting sessions are looked for at the start and once a day, and never at the cost of anything else."""

from __future__ import annotations

import pytest

from saga_core.background import Supervisor
from saga_core.counters import Counters
from saga_core.errors import StoreUnavailable
from saga_core.jobs.collection import DAY, LOOK, CollectionJob
from tests.bench.cache.play import PlayClock


class Desk:
    """A job, and how often it collected."""

    def __init__(self) -> None:
        self.collected = self.emptied = 0
        self.error: Exception | None = None
        self.clock = PlayClock()
        self.counters = Counters()
        self.job = CollectionJob(self.collect, self.empty_trash, self.clock, self.counters)

    async def collect(self) -> int:
        self.collected += 1
        if self.error is not None:
            raise self.error
        return 0

    async def empty_trash(self) -> int:
        self.emptied += 1
        return 0

    async def after(self, seconds: float) -> int:
        self.clock.at += seconds
        step = await self.job.step("")
        assert step.again_in == LOOK and not step.more
        return self.collected


async def test_it_collects_at_once_and_again_when_a_day_has_passed() -> None:
    desk = Desk()
    assert [await desk.after(seconds) for seconds in (0, LOOK, DAY - LOOK - 1, 1, 1)] == [1, 1, 1, 2, 2]


async def test_a_clock_that_was_set_back_is_no_reason_to_wait_for_years() -> None:
    desk = Desk()
    await desk.after(0)
    assert await desk.after(-10 * DAY) == 2


async def test_a_store_that_fails_is_counted_and_asked_again_in_a_day() -> None:
    desk = Desk()
    desk.error = StoreUnavailable("away")
    assert [await desk.after(seconds) for seconds in (0, LOOK)] == [1, 1]
    assert desk.counters.counts["sessions.collect_failed"] == 1
    desk.error = ValueError("a bug")
    with pytest.raises(ValueError, match="a bug"):
        await desk.after(DAY)


async def test_it_begins_by_itself_and_empties_the_trash_too() -> None:
    desk = Desk()
    supervisor = Supervisor(desk.counters)
    supervisor.add(desk.job)
    await desk.job.resume()
    await supervisor.drain(5)
    await supervisor.aclose(5)
    assert (desk.collected, desk.emptied) == (1, 1)
    assert desk.job.waiting({"": "resting"}) == ()
