"""The views job: renders the graph, the pages and the key-value view of recorded turns, and starts what follows them.

The journal notes what a turn needs before the turn is queued here. The note is removed when the work is done, so a
crash loses nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from saga_core.background import DONE, InSections, Job, Retry, Step, Waiting
from saga_core.counters import set_log_context
from saga_core.errors import LeaseLost, NotFound, StoreError
from saga_core.journal import Journal, PendingWork
from saga_core.sessions import LiveSession, LiveSessions
from saga_core.views import Projector

log = logging.getLogger("saga.jobs")

PATIENCE = 600.0
"""Seconds that a batch may take. A batch that takes longer hangs in a store, and is retried."""

_KEPT_LOADED = 256
"""Sessions whose views are due and that stay in memory for it."""
_BACKLOG = 512
"""Sessions whose views are due, from which on new sessions wait."""


class FollowingJob(Job):
    """A job that has work once the views of turns are rendered."""

    async def wants(self, live: LiveSession, turns: Sequence[str]) -> Mapping[str, PendingWork]:
        """The jobs of ``turns`` to note in the journal when the jobs for their views are removed; none by default."""
        return {}

    def views_rendered(self, live: LiveSession, turns: Sequence[str]) -> None:
        """Called when the views of ``turns`` are rendered, and the jobs for them are removed.

        The root of a session is among them. A turn comes again when its views are rendered again.
        """
        raise NotImplementedError


class ViewsJob(Job):
    """Renders the views of all sessions. Waiting turns of one session are rendered together, in order."""

    kind = "project"
    counter = "lane"
    mode = "background"
    retry = Retry(0.5, 60.0)
    patience: float | None = PATIENCE
    in_sections = InSections.AWAITED
    finishes_at_close = True

    def __init__(self, live: LiveSessions, projector: Projector, journal: Journal) -> None:
        self._live = live
        self._room = asyncio.Event()
        """Set when a step ends while new sessions wait."""
        self._projector = projector
        self._journal = journal
        self._turns: dict[str, dict[str, None]] = {}

    @property
    def keeps_queued_loaded(self) -> bool:
        """Whether a queued session stays in memory. Of a long backlog each is read again when its step comes."""
        return len(self._turns) <= _KEPT_LOADED

    async def room(self) -> None:
        """Wait up to a second while the views of many sessions are due, so that new ones come no faster than they are
        rendered."""
        counters, waiting = self._journal.counters, len(self._turns)
        if waiting <= _BACKLOG:
            return
        counters.add("backlog.waits")
        counters.degrade("backlog", f"the views of {_BACKLOG} sessions and more are due; new sessions wait up to 1 s")
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                while len(self._turns) > _BACKLOG:
                    self._room.clear()
                    await self._room.wait()

    @cached_property
    def followers(self) -> Sequence[FollowingJob]:
        """The supervisor's other jobs that have work once views are rendered, in their order."""
        return [job for job in self.scheduler.jobs if isinstance(job, FollowingJob)]

    def submit(self, session: str, turns: Sequence[str]) -> None:
        """Queue the views of ``turns`` for rendering."""
        if turns:
            self._turns.setdefault(session, {}).update(dict.fromkeys(turns))
            self.wake(session)

    async def resume(self) -> None:
        """Queue the turns whose views the journal notes as due."""
        for session in await self._journal.unfinished():
            await self._settle(session)
        waiting: dict[str, list[str]] = {}
        for session, turn, wanted in await self._journal.jobs():
            if wanted is None:
                waiting.setdefault(session, []).append(turn)
        for session, turns in waiting.items():
            self.submit(session, turns)
        if waiting:
            log.info("resuming the work of %d turns in %d sessions", sum(map(len, waiting.values())), len(waiting))

    async def take_up(self, session: str) -> None:
        """Queue the turns of a session whose views the journal notes as due."""
        self.submit(session, [turn for _, turn, wanted in await self._journal.jobs(session) if wanted is None])

    async def _settle(self, session: str) -> None:
        """Undo or finish the write of a process that has ended."""
        try:
            await self._journal.settle(session)
        except LeaseLost:
            log.debug("session %s: another server has it, and may be writing it", session)
        except StoreError as error:
            self._journal.counters.degrade("journal.unfinished", f"session {session}: {error}; see saga verify")

    def queued(self, session: str) -> Collection[str]:
        """The session's turns whose views are queued or being rendered."""
        return self._turns.get(session, ())

    async def step(self, session: str) -> Step:
        """Render all queued turns of a session."""
        batch = list(self._turns.get(session, ()))
        if not batch:
            return DONE
        set_log_context(turn=batch[-1])
        try:
            live = await self._live.get(session)
        except NotFound:
            # The session was deleted after the turn was recorded and before it was queued.
            await self._journal.change_jobs(session, batch, {})
            return self._done(session, batch)
        await self._projector.render(live, batch, vectors=False)
        await self._projector.let_go(self._live.evicted)
        live.rest()
        wanted: dict[str, PendingWork] = {}
        for follower in self.followers:
            wanted.update(await follower.wants(live, batch))
        await self._journal.change_jobs(session, batch, wanted)
        for follower in self.followers:
            follower.views_rendered(live, batch)
        return self._done(session, batch)

    def _done(self, session: str, batch: Sequence[str]) -> Step:
        left = self._turns.get(session, {})
        for turn in batch:
            left.pop(turn, None)
        if not left:
            self._turns.pop(session, None)
        self._room.set()
        if len(self._turns) == _BACKLOG // 2:
            self._journal.counters.recover("backlog")
        self._live.trim()
        return Step(bool(left), len(batch))

    def waiting(self, reasons: Mapping[str, str]) -> Iterable[Waiting]:
        """Every turn whose views are not rendered."""
        return [
            Waiting(session, turn, self.kind, reasons.get(session) or "queued")
            for session, turns in self._turns.items()
            for turn in turns
        ]

    def depth(self) -> int:
        """Turns whose views are not rendered."""
        return sum(map(len, self._turns.values()))

    def forget(self, session: str) -> None:
        """Drop the queue of a session that is about to be removed."""
        self._turns.pop(session, None)
