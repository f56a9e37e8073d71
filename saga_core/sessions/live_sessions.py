"""The sessions in memory. Each is loaded once, and evicted when others are played."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from attrs import define, field

from saga_core.counters import Counters
from saga_core.errors import StoreCorrupt
from saga_core.journal import Journal
from saga_core.model import Tree
from saga_core.sessions.live_session import LiveSession, PreparedWorld, restore

_WORLDS = 16
"""The number of worlds from which on worlds without a session in memory are removed."""


class Ownership(Protocol):
    """Knows whether other servers have written a session since it was read, if several share the journal."""

    def holds(self, session: str) -> bool:
        """Whether no other server writes the session."""
        ...

    async def is_current(self, session: str) -> bool:
        """Whether the session in memory matches the journal."""
        ...

    async def loading(self, session: str) -> int:
        """Announce that a session is about to be read. Return the value to pass to ``is_loaded`` afterwards."""
        ...

    def is_loaded(self, session: str, found: int) -> bool:
        """Whether the session was not written while it was read."""
        ...


@define(eq=False, repr=False)
class LiveSessions:
    """The sessions in memory. Each is loaded once. Beyond ``limit``, the least recently used is evicted."""

    journal: Journal
    counters: Counters
    busy: Callable[[str], bool]
    checkpoint_every: int
    limit: int = 64
    ownership: Ownership | None = None
    """Set if several servers share the journal."""
    before_load: Callable[[str], Awaitable[None]] | None = None
    """Awaited before a session is read from the journal."""
    evicted: set[str] = field(factory=set)
    """Recently evicted sessions, for parts that keep their own data in memory for them."""
    forgotten: int = 0
    """How often a session was dropped because its stored data may have changed."""
    loads: Counter[str] = field(factory=lambda: Counter[str]())
    """How often each session was loaded. Only loaded sessions are ever changed."""
    _live: OrderedDict[str, LiveSession] = field(factory=OrderedDict)
    _loading: dict[str, asyncio.Task[LiveSession]] = field(factory=dict)
    _outdated: set[str] = field(factory=set)
    """Sessions that were dropped while they were being read."""
    _lore: dict[str, PreparedWorld] = field(factory=dict)
    _preparing: dict[str, asyncio.Task[PreparedWorld]] = field(factory=dict)

    async def get(self, session_id: str) -> LiveSession:
        """Return the session, and load it if necessary. ``NotFound``."""
        while True:
            found = self._live.get(session_id)
            if found is not None and self.ownership is not None:
                current = await self.ownership.is_current(session_id)
                if self._live.get(session_id) is not found:
                    continue  # dropped or loaded again meanwhile, so the answer is outdated
                if not current:
                    self.forget(session_id)
                    found = None
            if found is not None:
                self._live.move_to_end(session_id)
                return found
            task = self._loading.get(session_id)
            begun_before = task is not None
            if task is None:
                task = asyncio.create_task(self._load(session_id))
                self._loading[session_id] = task
                task.add_done_callback(lambda _: self._loaded(session_id))
            # The cancellation of one caller must not cancel the load for the others.
            live = await asyncio.shield(task)
            if self.ownership is None or not begun_before:
                return live
            # Another server may have written the session after that load began and before this call.

    async def tree(self, session_id: str) -> Tree:
        """Return the session's tree."""
        return (await self.get(session_id)).tree

    def peek(self, session_id: str) -> LiveSession | None:
        """Return the session if it is in memory and no other server writes it."""
        if self.ownership is not None and not self.ownership.holds(session_id):
            return None
        return self._live.get(session_id)

    def admit(self, live: LiveSession) -> None:
        """Keep a session in memory."""
        self._live[live.session.id] = live
        self._live.move_to_end(live.session.id)
        self.evicted.discard(live.session.id)
        for session_id in list(self._live):
            if len(self._live) <= self.limit:
                break
            if session_id != live.session.id and not self.busy(session_id):
                del self._live[session_id]
                self.evicted.add(session_id)

    def forget(self, session_id: str) -> None:
        """Drop a session from memory, because its stored data may have been rewritten. A running load begins again."""
        self._live.pop(session_id, None)
        if session_id in self._loading:
            self._outdated.add(session_id)
        self.forgotten += 1

    async def aclose(self) -> None:
        """Cancel the running loads and drop all sessions."""
        loading = [*self._loading.values(), *self._preparing.values()]
        for task in loading:
            task.cancel()
        await asyncio.gather(*loading, return_exceptions=True)
        self._live.clear()

    def __len__(self) -> int:
        return len(self._live)

    async def _world(self, digest: str) -> PreparedWorld:
        """Return the world with the data that its sessions share."""
        known = self._lore.get(digest)
        if known is None:
            task = self._preparing.get(digest)
            if task is None:
                task = asyncio.create_task(self._prepare(digest))
                self._preparing[digest] = task
                task.add_done_callback(lambda _: self._preparing.pop(digest, None))
            known = await asyncio.shield(task)
        return known

    async def _prepare(self, digest: str) -> PreparedWorld:
        world = await self.journal.world(digest)
        # In a thread, because a large world takes a tenth of a second.
        known = await asyncio.to_thread(PreparedWorld.of, world)
        if len(self._lore) >= _WORLDS:
            used = {live.session.digest for live in self._live.values()}
            self._lore = {each: found for each, found in self._lore.items() if each in used}
        self._lore[digest] = known
        if known.lore.kept.unread:
            self.counters.degrade(
                "lore.patterns",
                f"world {world.name}: {known.lore.kept.unread} keys of lore are patterns that cannot be matched in"
                " bounded time, and open nothing; install the extra lore (google-re2), or write them as words",
            )
        return known

    def _unreadable(self, session_id: str, error: StoreCorrupt) -> None:
        self.counters.degrade("journal.reviews", f"session {session_id}: a review is left out: {error}")

    def _loaded(self, session_id: str) -> None:
        self._loading.pop(session_id, None)
        self._outdated.discard(session_id)

    async def _load(self, session_id: str) -> LiveSession:
        while True:
            self._outdated.discard(session_id)
            if self.before_load is not None:
                await self.before_load(session_id)
            found = await self.ownership.loading(session_id) if self.ownership is not None else 0
            live = await self._read(session_id)
            if session_id in self._outdated:
                continue
            if self.ownership is None or self.ownership.is_loaded(session_id, found):
                break
        self.counters.add("sessions.loaded")
        self.loads[session_id] += 1
        self.admit(live)
        return live

    async def _read(self, session_id: str) -> LiveSession:
        session = await self.journal.session(session_id)
        prepared = await self._world(session.digest)
        tree = await self.journal.tree(session_id)
        amendments = await self.journal.amendments(session_id)
        live = LiveSession(session, prepared, tree, self.journal, amendments, self.checkpoint_every)
        await restore(live)
        await live.index_all()
        live.timelines = await self.journal.timelines(session_id)
        live.reviews = await self.journal.reviews(session_id, partial(self._unreadable, session_id))
        return live
