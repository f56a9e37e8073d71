"""Summaries: sessions as lists show them, which of them are fleeting, and the collection of those."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from attrs import define, frozen

from saga_core.engine.catalog import Catalog
from saga_core.errors import NotFound, StoreError
from saga_core.journal.tree import Tree
from saga_core.model.deltas import Source
from saga_core.model.turn import Session

log = logging.getLogger("saga.sessions")

DAY = 86_400.0
_UNHEARD_OF = 30 * DAY
"""Silence behind the configured time from which on the clock is not believed, until somebody plays."""
_LOOK = 3_600.0
"""Seconds between two looks at the clock: a machine that slept collects soon after it woke."""


@frozen
class SessionSummary:
    """A session as lists show it."""

    session: Session
    turns: int
    """Turns in its tree, the root left out."""
    depth: int
    """Turns on the path to the active head."""
    updated: float
    """Seconds since the epoch of the newest turn."""
    fleeting: bool = False
    """Whether it never got a second turn, has no name, and is older than ``session.collect_after_days``."""


@define(eq=False)
class Summaries(Catalog):
    """Lists sessions, and deletes those that nobody came back for."""

    async def sessions(self, *, owner: str | None = None) -> list[SessionSummary]:
        """All sessions, or those of one owner, oldest first."""
        found = [session for session in await self.journal.sessions() if owner is None or session.owner == owner]
        summaries = []
        for session in found:
            try:
                summaries.append(await self._summary(session))
            except NotFound:
                # It was reset or deleted since it was listed.
                with suppress(NotFound):
                    summaries.append(await self.summary(session.id))
        return summaries

    async def summary(self, session_id: str) -> SessionSummary:
        """One session, by id or label. ``NotFound``."""
        return await self._summary(await self.session(session_id))

    async def _summary(self, session: Session) -> SessionSummary:
        await self.lanes.gates.opened(session.id)
        live = self.live.peek(session.id)
        tree = live.tree if live is not None else await self.journal.tree(session.id)
        head = session.head or tree.root
        newest = max((node.at for node in tree.nodes.values()), default=session.created)
        fleeting = await self._is_fleeting(session, tree)
        return SessionSummary(session, len(tree) - 1, tree.get(head).depth, newest, fleeting)

    async def _is_fleeting(self, session: Session, tree: Tree) -> bool:
        """Whether nobody came back after the first turn, whose swipes count as one, for the configured time."""
        age = self.config.session.collect_after_days * DAY
        if not age or session.label or any(node.depth > 1 for node in tree.nodes.values()):
            return False
        live = self.live.peek(session.id)
        touched = live.touched if live is not None else 0.0
        newest = max(touched, session.created, *(node.at for node in tree.nodes.values()))
        if self.clock.now() - newest < age:
            return False
        # A name or a correction by hand is somebody who came back.
        if await self.journal.timelines(session.id):
            return False
        later = await self.journal.amendments(session.id)
        return not any(delta.source is Source.EDIT for deltas in later.values() for delta in deltas)

    async def collect(self) -> int:
        """Delete the fleeting sessions and say how many there were. What cannot be deleted is left for next time."""
        age = self.config.session.collect_after_days * DAY
        if not age:
            return 0
        before, count = self.clock.now() - age, 0
        sessions = await self.journal.sessions()
        if not sessions:
            return 0
        if before - await self._newest(sessions) > _UNHEARD_OF:
            log.info("nothing is collected: by this clock nobody played for long; it may have jumped")
            return 0
        for session in sessions:
            if session.label or session.created > before:
                continue
            try:
                count += await self._collected(session)
            except (StoreError, NotFound) as error:
                self.counters.add("sessions.collect_failed")
                log.warning("session %s: cannot be collected, tried again in a day: %s", session.id, error)
        if count:
            log.info("collected %d sessions that never got a second turn (session.collect_after_days)", count)
        return count

    async def _newest(self, sessions: Sequence[Session]) -> float:
        """When a session was begun or played last, as far as their heads tell."""
        newest = 0.0
        for session in sessions:
            with suppress(NotFound):  # it was deleted meanwhile
                newest = max(newest, (await self.journal.node(session.id, session.head or session.root)).at)
        return newest

    async def _collected(self, session: Session) -> bool:
        head = await self.journal.node(session.id, session.head or session.root)
        if self.lanes.busy(session.id):
            return False
        if head.depth > 1 or not await self._is_fleeting(session, await self.journal.tree(session.id)):
            return False
        async with self._changing(session.id) as live:
            # Somebody may have come back while the session was looked at.
            if not await self._is_fleeting(live.session, live.tree):
                return False
            await self._delete(live)
        self.counters.add("sessions.collected")
        return True

    async def keep_collecting(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Collect now, and whenever a day has passed; until cancelled. ``pause`` waits for so many seconds."""
        last = self.clock.now() - DAY
        while True:
            now = self.clock.now()
            if not last <= now < last + DAY:
                last = now
                try:
                    await self.collect()
                except StoreError as error:
                    self.counters.add("sessions.collect_failed")
                    log.warning("fleeting sessions cannot be looked for, tried again in a day: %s", error)
            await pause(_LOOK)
