"""The audit log: which key read or changed what, when, and from where. It contains no text of a story.

Entries are collected in memory and written in the background. Repeated requests of the same key within a minute form
one entry. Entries that are too old are removed. If there are too many, the oldest entries of the owners with the most
are removed, so that no owner can push out the entries of others.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Final

from attrs import define, evolve, field, frozen

from saga_core import codec
from saga_core.counters import Counters
from saga_core.errors import StoreCorrupt
from saga_core.ports import Clock
from saga_core.stores import Batch, Key, StateKV
from saga_server.hosting import layout

TOGETHER_SECONDS: Final = 60.0
PRUNE_SECONDS: Final = 3_600.0
"""Seconds between two searches for entries that are too old or too many."""
MOST_WAITING: Final = 10_000
"""The largest number of entries that wait for the store. Further ones are counted as lost."""
MOST_OF_ONE: Final = 60
"""Entries of one owner within a minute that name session and turn. Further ones name only the request."""
_DAY: Final = 86_400.0
_PAGE: Final = 500
_END: Final = 10**15
"""A time in milliseconds since the epoch that no clock reaches. An entry's number is the difference to it."""


@frozen(kw_only=True)
class AuditEntry:
    """A request, made once or several times within a minute. It contains no text of a story."""

    at: float
    last: float
    times: int
    key: str
    """The id of the key; empty for a key from the settings."""
    owner: str
    role: str
    source: str
    """The address that the request came from."""
    forwarded: str
    """The earlier addresses that the request claims. They can be forged."""
    what: str
    """The request, without the names in it."""
    session: str
    turn: str
    status: int


@define(eq=False, kw_only=True)
class AuditLog:
    """The log as written by one server."""

    kv: StateKV
    clock: Clock
    counters: Counters
    server: str
    _open: dict[tuple[object, ...], tuple[Key, AuditEntry]] = field(factory=dict, init=False)
    _dirty: dict[Key, AuditEntry] = field(factory=dict, init=False)
    _lately: Counter[str] = field(factory=Counter, init=False)
    """The number of entries of each owner in ``_open`` at the last flush, plus those added since."""
    _sequence: int = field(default=0, init=False)
    _pruned: float = field(default=float("-inf"), init=False)

    @property
    def waiting(self) -> bool:
        """Whether entries are waiting to be written."""
        return bool(self._dirty)

    def note(self, entry: AuditEntry) -> None:
        """Add an entry. An entry that differs from a recent one only in time is counted in that one."""
        same = _identity(entry)
        before = self._open.get(same)
        if before is None and self._lately[entry.owner] >= MOST_OF_ONE:
            entry = evolve(entry, session="", turn="", forwarded="")
            same = _identity(entry)
            before = self._open.get(same)
        if before is not None and entry.at - before[1].at < TOGETHER_SECONDS:
            key, entry = before[0], evolve(before[1], last=entry.at, times=before[1].times + 1)
        elif len(self._dirty) >= MOST_WAITING:
            self.counters.add("audit.lost")
            return
        else:
            self._sequence += 1
            self._lately[entry.owner] += 1
            number = f"{_END - int(entry.at * 1_000):015d}{_END - self._sequence:015d}"
            key = layout.audit(number, self.server)
        self._open[same] = key, entry
        self._dirty[key] = entry

    async def flush(self) -> None:
        """Write the waiting entries. If it raises ``StoreError``, they keep waiting."""
        dirty, self._dirty = self._dirty, {}
        now = self.clock.now()
        self._open = {same: each for same, each in self._open.items() if now - each[1].at < TOGETHER_SECONDS}
        self._lately = Counter(each.owner for _, each in self._open.values())
        rows = list(dirty.items())
        try:
            while rows:
                await self.kv.commit(Batch({key: codec.encode(entry) for key, entry in rows[:_PAGE]}))
                rows = rows[_PAGE:]
        except BaseException:
            self._dirty = {**dict(rows), **self._dirty}
            raise

    async def entries(
        self, *, limit: int, cursor: str | None = None, key: str | None = None, session: str | None = None
    ) -> tuple[list[AuditEntry], str | None]:
        """Return the latest entries after ``cursor`` of a key, its owner or a session, and the next cursor.

        Raises ``StoreError``.
        """
        found: list[AuditEntry] = []
        after: Key | None = (*layout.AUDIT, *cursor.split(".", 1)) if cursor else None
        while rows := await self.kv.scan(layout.AUDIT, after=after, limit=_PAGE):
            for place, raw in rows:
                after = place
                try:
                    entry = codec.decode(raw, AuditEntry)
                except StoreCorrupt:
                    self.counters.add("audit.unreadable")
                    continue
                if (key is None or key in (entry.key, entry.owner)) and session in (None, entry.session):
                    found.append(entry)
                    if len(found) == limit:
                        return found, ".".join(place[2:])
        return found, None

    async def prune(self, days: float, entries: int) -> int:
        """Remove entries older than ``days``, and those beyond the number of ``entries``, at most once an hour.

        Return the number of removed entries.
        """
        now = self.clock.monotonic()
        if now - self._pruned < PRUNE_SECONDS:
            return 0
        self._pruned = now
        oldest = f"{_END - int((self.clock.now() - days * _DAY) * 1_000):015d}"
        young = Counter([owner async for number, owner, _ in self._owners() if number <= oldest])
        most = _share(list(young.values()), entries)
        kept = Counter[str]()
        doomed: list[Key] = []
        gone = 0
        async for number, owner, key in self._owners():
            kept[owner] += 1
            if number > oldest or kept[owner] > most:
                doomed.append(key)
            if len(doomed) >= _PAGE:
                gone += await self._remove(doomed)
                doomed = []
        return gone + await self._remove(doomed)

    async def _remove(self, doomed: list[Key]) -> int:
        if doomed:
            await self.kv.commit(Batch(deletes=frozenset(doomed)))
        return len(doomed)

    async def _owners(self) -> AsyncIterator[tuple[str, str, Key]]:
        """Yield the number, owner and key of each entry, latest first. Unreadable entries have the owner ``""``."""
        after: Key | None = None
        while rows := await self.kv.scan(layout.AUDIT, after=after, limit=_PAGE):
            for key, raw in rows:
                try:
                    owner = codec.decode(raw, AuditEntry).owner
                except StoreCorrupt:
                    owner = ""
                yield key[2], owner, key
            after = rows[-1][0]
            await asyncio.sleep(0)


def _identity(entry: AuditEntry) -> tuple[object, ...]:
    """Return the fields that merged entries share, without fields that a client can choose freely."""
    return entry.key, entry.owner, entry.role, entry.source, entry.what, entry.session, entry.turn, entry.status


def _share(counts: Sequence[int], room: int) -> int:
    """Return the largest equal share per owner that fits into ``room``. Unused shares go to the other owners."""
    waiting = sorted(counts)
    while waiting and waiting[0] * len(waiting) <= room:
        room -= waiting.pop(0)
    return room // len(waiting) if waiting else max(counts, default=0)
