"""Session locks: they separate a session's writers, its background work, and operations on the whole session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from attrs import define, field


@define(eq=False, kw_only=True)
class _Lock:
    users: int = 0
    """The number of tasks that wait for it or hold it. It is removed when there are none."""
    section: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by the running section."""
    writing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by the writer of the session's journal."""
    holds: int = 0
    """The number of running and waiting sections."""
    closed: bool = False
    """Whether a section is running that changes the session's journal."""


@define(eq=False)
class SessionLocks:
    """One lock for each session in use."""

    changes: int = 0
    """Grows at the beginning and the end of each closed section."""
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
        """Hold the write lock of the session's journal. It is exclusive, also against closed sections."""
        async with self._at(session) as lock, lock.writing:
            yield

    @asynccontextmanager
    async def holding(self, session: str) -> AsyncIterator[None]:
        """Hold an exclusive section. Background work that rests in sections cannot begin."""
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
        """Close the session's journal to all others. Use this within ``holding``."""
        async with self._at(session) as lock, lock.writing:
            lock.closed = True
            self.changes += 1
            try:
                yield
            finally:
                lock.closed = False
                self.changes += 1

    def on_release(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever a session is no longer held."""
        self._on_release.append(listener)

    def held(self, session: str) -> bool:
        """Whether background work that rests in sections must not begin."""
        lock = self._locks.get(session)
        return lock is not None and lock.holds > 0

    async def opened(self, session: str) -> None:
        """Wait until the session's journal is not closed."""
        lock = self._locks.get(session)
        if lock is not None and lock.closed:
            async with self.writing(session):
                pass

    async def changed(self, since: int) -> bool:
        """Whether a session was closed since ``changes`` was ``since``. Waits for sessions that are closed now."""
        closed = [session for session, lock in self._locks.items() if lock.closed]
        for session in closed:
            await self.opened(session)
        return bool(closed) or self.changes != since
