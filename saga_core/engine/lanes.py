"""Lanes: one serial queue of background work for each session, owned by a supervisor.

Work is noted in the journal before it is queued, so that a crash loses nothing: what waits is queued again at the next
start. A job that fails is tried again with growing pauses, and stays in the journal until it succeeds.

What changes a session as a whole (reset, delete, prune, rebuild) takes an ``exclusive`` section of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from attrs import define, field, frozen

from saga_core.engine.counters import Counters
from saga_core.engine.gates import Gates
from saga_core.errors import SagaError
from saga_core.subject import concern

log = logging.getLogger("saga.lanes")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
PATIENCE = 600.0
"""Seconds that a batch may take. One that takes longer hangs in a store, and is tried again."""

Work = Callable[[str, Sequence[str]], Awaitable[None]]
"""Does what the turns of a session still need; told again about turns that failed."""


@frozen
class Waiting:
    """Work that could not be done yet, and why."""

    session: str
    turn: str
    kind: str
    reason: str


@frozen
class DrainReport:
    """What draining came to."""

    done: int
    waiting: tuple[Waiting, ...] = ()


@define(eq=False)
class _Lane:
    session: str
    turns: dict[str, None] = field(factory=dict)
    task: asyncio.Task[None] | None = None
    wake: asyncio.Event = field(factory=asyncio.Event)
    failures: int = 0
    reason: str = ""
    resting: bool = False
    working: asyncio.Lock = field(factory=asyncio.Lock)
    """Held while a batch is under way."""


@define(eq=False)
class Lanes:
    """The supervisor: starts a lane when a session has work, ends it when there is none."""

    work: Work
    counters: Counters
    gates: Gates = field(factory=Gates)
    patience: float = PATIENCE
    _lanes: dict[str, _Lane] = field(factory=dict)
    _idle: asyncio.Event = field(factory=asyncio.Event)
    _done: int = 0
    _closed: bool = False

    def submit(self, session: str, turns: Sequence[str]) -> None:
        """Queue what ``turns`` need. Turns that wait together are handled together, in order."""
        if self._closed or not turns:
            return
        lane = self._lanes.setdefault(session, _Lane(session))
        lane.turns.update(dict.fromkeys(turns))
        if lane.task is None:
            lane.task = asyncio.create_task(self._run(lane), name=f"saga-lane-{session}")

    def busy(self, session: str) -> bool:
        """Whether the session has work that is queued or under way, or is being written."""
        return session in self._lanes or session in self.gates

    @asynccontextmanager
    async def exclusive(self, session: str, *, journal: bool = False, stop: bool = False) -> AsyncIterator[None]:
        """A section in which the session's lane rests; what is queued goes on afterwards. One at a time.

        It begins when the lane's batch is over. ``journal``: nothing is recorded in the session either, and requests
        that land in it wait. ``stop``: do not wait for the lane, end it and forget its queue.
        """
        async with self.gates.holding(session), AsyncExitStack() as stack:
            lane = self._lanes.get(session)
            if lane is not None and not stop:
                async with lane.working:
                    pass
            if journal:
                await stack.enter_async_context(self.gates.closing(session))
            if stop:
                await self.cancel(session)
            yield

    def queued(self, session: str) -> Collection[str]:
        """The session's turns whose work is queued or under way."""
        lane = self._lanes.get(session)
        return lane.turns if lane is not None else ()

    def depth(self) -> int:
        """Turns whose work is not done."""
        return sum(len(lane.turns) for lane in self._lanes.values())

    def waiting(self) -> tuple[Waiting, ...]:
        """What is not done, and why as far as it is known."""
        return tuple(
            Waiting(lane.session, turn, "project", lane.reason or "queued")
            for lane in self._lanes.values()
            for turn in lane.turns
        )

    def failures(self) -> dict[str, tuple[int, str]]:
        """The sessions whose work failed when it was last tried: how often in a row, and why."""
        return {lane.session: (lane.failures, lane.reason) for lane in self._lanes.values() if lane.failures}

    def hurry(self, session: str) -> None:
        """Try the session's work now, if it rests after a failure."""
        lane = self._lanes.get(session)
        if lane is not None and lane.resting:
            lane.wake.set()

    async def _run(self, lane: _Lane) -> None:
        concern(request="", session=lane.session)
        while lane.turns:
            if self.gates.held(lane.session):
                await self.gates.released(lane.session)
                continue
            batch = list(lane.turns)
            concern(turn=batch[-1])
            try:
                async with lane.working, asyncio.timeout(self.patience) as limit:
                    await self.work(lane.session, batch)
            except asyncio.CancelledError:
                raise
            except Exception as error:
                lane.failures += 1
                lane.reason = f"{type(error).__name__}: {error}"
                if limit.expired():
                    lane.reason = f"a store did not answer within {self.patience:g} s"
                self.counters.add("lane.failures")
                self.counters.degrade("background", f"session {lane.session}: {lane.reason}")
                log.warning(
                    "session %s: background work failed, will be tried again: %s",
                    lane.session,
                    lane.reason,
                    exc_info=None if isinstance(error, SagaError | TimeoutError) else error,  # those say what is wrong
                )
                await self._rest(lane)
                continue
            lane.failures, lane.reason = 0, ""
            self._done += len(batch)
            for turn in batch:
                lane.turns.pop(turn, None)
        self._lanes.pop(lane.session, None)
        if not any(other.failures for other in self._lanes.values()):
            self.counters.recover("background")
        self._idle.set()

    async def _rest(self, lane: _Lane) -> None:
        """Pause before the next try, unless somebody wants it now."""
        lane.wake.clear()
        lane.resting = True
        self._idle.set()
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (lane.failures - 1))
        try:
            async with asyncio.timeout(pause):  # ``wait_for`` loses a cancellation that comes with the waking
                await lane.wake.wait()
        except TimeoutError:
            self.counters.add("lane.retries")
        lane.resting = False

    async def drain(self, timeout: float) -> DrainReport:
        """Run all that is due, resting retries included (once), until nothing is left or ``timeout`` seconds passed."""
        before = self._done
        retried = set()
        try:
            async with asyncio.timeout(timeout):
                while self._lanes:
                    self._idle.clear()
                    for lane in list(self._lanes.values()):
                        if lane.resting and lane.session not in retried:
                            retried.add(lane.session)
                            lane.wake.set()
                    unsettled = [lane for lane in self._lanes.values() if not lane.resting or lane.wake.is_set()]
                    if not unsettled:
                        break
                    await self._idle.wait()
        except TimeoutError:
            log.info("draining did not finish within %.1f s; %d turns wait in the journal", timeout, self.depth())
        return DrainReport(self._done - before, self.waiting())

    async def cancel(self, session: str) -> None:
        """Stop a session's lane and forget its queue: the session is about to be removed."""
        lane = self._lanes.pop(session, None)
        if lane is not None and lane.task is not None:
            lane.turns.clear()
            lane.task.cancel()
            await asyncio.gather(lane.task, return_exceptions=True)
            self._idle.set()

    async def aclose(self) -> None:
        """Stop. What is under way is cancelled; the journal still has it."""
        self._closed = True
        tasks = [lane.task for lane in self._lanes.values() if lane.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._lanes.clear()
