"""The collection job: at the start and once a day, it deletes fleeting sessions, and empties the trash."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

from attrs import define, field

from saga_core.background import Job, Step, Waiting
from saga_core.counters import Counters
from saga_core.errors import StoreError
from saga_core.ports import Clock

log = logging.getLogger("saga.sessions")

DAY = 86_400.0
LOOK = 3_600.0
"""Seconds between two checks of the clock, so that a machine that slept collects soon after it wakes up."""
_ALL = ""
"""Used in place of a session's id."""


@define(eq=False, slots=False)
class CollectionJob(Job):
    """Calls ``collect`` now, and then once a day; ``empty_trash`` at each look at the clock."""

    kind = "collect"
    counter = "sessions.collect"
    mode = "sessions.collect"
    keeps_loaded = False

    collect: Callable[[], Awaitable[int]]
    empty_trash: Callable[[], Awaitable[int]]
    clock: Clock
    counters: Counters
    _last: float | None = field(default=None, init=False)

    async def resume(self) -> None:
        """Start."""
        self.wake(_ALL)

    async def step(self, session: str) -> Step:
        """Collect, if a day has passed since the last time, or the clock was set back."""
        now = self.clock.now()
        if self._last is None or not self._last <= now < self._last + DAY:
            self._last = now
            try:
                await self.collect()
            except StoreError as error:
                self.counters.add("sessions.collect_failed")
                log.warning("fleeting sessions cannot be looked for, tried again in a day: %s", error)
        try:
            await self.empty_trash()
        except StoreError as error:
            self.counters.add("trash.failed")
            log.warning("the trash cannot be emptied, tried again in an hour: %s", error)
        return Step(again_in=LOOK)

    def waiting(self, reasons: Mapping[str, str]) -> Iterable[Waiting]:
        """Nothing, because nothing waits for a collection."""
        return ()
