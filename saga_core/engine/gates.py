"""Gates: what keeps a session's writers, its lane, and changes of the session as a whole out of each other's way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from attrs import define, field


@define(eq=False)
class _Gate:
    users: int = 0
    """Who waits here or went through: the gate is forgotten when there is nobody."""
    section: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by the one section that is under way."""
    writing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by whoever writes the session's journal."""
    holds: int = 0
    """Sections that are under way or about to be."""
    closed: bool = False
    """Whether a section is under way in which the journal of the session changes."""
    released: asyncio.Event = field(factory=asyncio.Event)


@define(eq=False)
class Gates:
    """A gate for each session that somebody is at."""

    changes: int = 0
    """Grows when a closed section begins, and when one ends."""
    _gates: dict[str, _Gate] = field(factory=dict)

    def __contains__(self, session: str) -> bool:
        return session in self._gates

    @asynccontextmanager
    async def _at(self, session: str) -> AsyncIterator[_Gate]:
        gate = self._gates.setdefault(session, _Gate())
        gate.users += 1
        try:
            yield gate
        finally:
            gate.users -= 1
            if not gate.users:
                del self._gates[session]

    @asynccontextmanager
    async def writing(self, session: str) -> AsyncIterator[None]:
        """Write the session's journal: one at a time, and not while it is closed."""
        async with self._at(session) as gate, gate.writing:
            yield

    @asynccontextmanager
    async def holding(self, session: str) -> AsyncIterator[None]:
        """Keep the session's lane from beginning anything, and other sections out."""
        async with self._at(session) as gate:
            gate.holds += 1
            try:
                async with gate.section:
                    yield
            finally:
                gate.holds -= 1
                if not gate.holds:
                    released, gate.released = gate.released, asyncio.Event()
                    released.set()

    @asynccontextmanager
    async def closing(self, session: str) -> AsyncIterator[None]:
        """Close the session's journal to everybody else. Within ``holding``."""
        async with self._at(session) as gate, gate.writing:
            gate.closed = True
            self.changes += 1
            try:
                yield
            finally:
                gate.closed = False
                self.changes += 1

    def held(self, session: str) -> bool:
        """Whether the session's lane has to rest."""
        gate = self._gates.get(session)
        return gate is not None and gate.holds > 0

    async def released(self, session: str) -> None:
        """Wait until the session's lane may go on."""
        gate = self._gates.get(session)
        if gate is not None and gate.holds:
            await gate.released.wait()

    async def opened(self, session: str) -> None:
        """Wait until the session's journal is not closed."""
        gate = self._gates.get(session)
        if gate is not None and gate.closed:
            async with self.writing(session):
                pass

    async def changed(self, since: int) -> bool:
        """Whether any session was closed since ``changes`` was ``since``; waits for those that are closed now."""
        closed = [session for session, gate in self._gates.items() if gate.closed]
        for session in closed:
            await self.opened(session)
        return bool(closed) or self.changes != since
