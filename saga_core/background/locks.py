"""Session locks: they keep a session's writers, its background work, and operations on the whole session apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from attrs import define, field


@define(eq=False, kw_only=True)
class _Lock:
    users: int = 0
    """Those that wait here or hold it: the lock is forgotten when there is none."""
    section: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by the one section that is under way."""
    writing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by whoever writes the session's journal."""
    holds: int = 0
    """Sections that are under way or about to be."""
    closed: bool = False
    """Whether a section is under way in which the journal of the session changes."""


@define(eq=False)
class SessionLocks:
    """One lock for each session in use."""

    changes: int = 0
    """Grows when a closed section begins, and when one ends."""
    _locks: dict[str, _Lock] = field(factory=dict)
    _on_release: list[Callable[[], None]] = field(factory=list)

    def __contains__(self, session: str) -> bool:
        return session in self._locks

    @asynccontextmanager
    async def _at(self, session: str) -> AsyncIterator[_Lock]:
        lock = self._locks.setdefault(session, _Lock())
        lock.users += 1
        try:
            yield lock
        finally:
            lock.users -= 1
            if not lock.users:
                del self._locks[session]

    @asynccontextmanager
    async def writing(self, session: str) -> AsyncIterator[None]:
        """Write the session's journal: one at a time, and not while it is closed."""
        async with self._at(session) as lock, lock.writing:
            yield

    @asynccontextmanager
    async def holding(self, session: str) -> AsyncIterator[None]:
        """Keep background work that rests in sections from beginning, and other sections out."""
        async with self._at(session) as lock:
            lock.holds += 1
            try:
                async with lock.section:
                    yield
            finally:
                lock.holds -= 1
                if not lock.holds:
                    for listener in self._on_release:
                        listener()

    @asynccontextmanager
    async def closing(self, session: str) -> AsyncIterator[None]:
        """Close the session's journal to everybody else. Within ``holding``."""
        async with self._at(session) as lock, lock.writing:
            lock.closed = True
            self.changes += 1
            try:
                yield
            finally:
                lock.closed = False
                self.changes += 1

    def on_release(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever a session is held no longer."""
        self._on_release.append(listener)

    def held(self, session: str) -> bool:
        """Whether background work that rests in sections may not begin."""
        lock = self._locks.get(session)
        return lock is not None and lock.holds > 0

    async def opened(self, session: str) -> None:
        """Wait until the session's journal is not closed."""
        lock = self._locks.get(session)
        if lock is not None and lock.closed:
            async with self.writing(session):
                pass

    async def changed(self, since: int) -> bool:
        """Whether any session was closed since ``changes`` was ``since``; waits for those that are closed now."""
        closed = [session for session, lock in self._locks.items() if lock.closed]
        for session in closed:
            await self.opened(session)
        return bool(closed) or self.changes != since
