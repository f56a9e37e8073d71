"""The audit log: who read and changed what, when, and from where. Nothing of a story is in it.

Entries are noted in memory and written beside the replies. What the same key asks for again within a minute is one
entry. Entries go when they are too old. When there are too many, the oldest go of those who have the most: nobody can
push out what others did.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Final

from attrs import define, evolve, field, frozen

from saga_core import codec
from saga_core.access.records import AuditEntry
from saga_core.counters import Counters
from saga_core.errors import StoreCorrupt
from saga_core.journal import keys
from saga_core.ports import Clock
from saga_core.stores import Batch, Key, StateKV

TOGETHER_SECONDS: Final = 60.0
PRUNE_SECONDS: Final = 3_600.0
"""How often it is looked what is too old, or too much."""
MOST_WAITING: Final = 10_000
"""Entries that wait for the store; further ones are counted as lost."""
MOST_OF_ONE: Final = 60
"""Entries of one owner within a minute that tell session and turn; further ones tell what was asked for alone."""
_DAY: Final = 86_400.0
_PAGE: Final = 500
_END: Final = 10**15
"""Milliseconds since the epoch that no clock reaches: the number of an entry is what is left until then."""


@frozen
class Limits:
    """How much is kept."""

    days: float
    """0: nothing is noted."""
    entries: int


@define(eq=False, kw_only=True)
class AuditLog:
    """The log, as one server writes it."""

    kv: StateKV
    clock: Clock
    counters: Counters
    server: str
    _open: dict[tuple[object, ...], tuple[Key, AuditEntry]] = field(factory=dict, init=False)
    _dirty: dict[Key, AuditEntry] = field(factory=dict, init=False)
    _lately: Counter[str] = field(factory=Counter, init=False)
    """Entries of each owner in ``_open``, as it was when they were written last, and since."""
    _sequence: int = field(default=0, init=False)
    _pruned: float = field(default=float("-inf"), init=False)

    @property
    def waiting(self) -> bool:
        """Whether something is to be written."""
        return bool(self._dirty)

    def note(self, entry: AuditEntry) -> None:
        """Take an entry. What is the same but for its time is counted in the one before."""
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
            key = keys.audit(number, self.server)
        self._open[same] = key, entry
        self._dirty[key] = entry

    async def flush(self) -> None:
        """Write what waits. Raises ``StoreError``; then it waits on."""
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
        """The latest entries behind ``cursor``, of a key or its owner, or of a session; and where to go on.

        Raises ``StoreError``.
        """
        found: list[AuditEntry] = []
        after: Key | None = (*keys.AUDIT, *cursor.split(".", 1)) if cursor else None
        while rows := await self.kv.scan(keys.AUDIT, after=after, limit=_PAGE):
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

    async def prune(self, limits: Limits) -> int:
        """Remove what is too old or too much, if that was not looked at for an hour. How many entries went."""
        now = self.clock.monotonic()
        if now - self._pruned < PRUNE_SECONDS:
            return 0
        self._pruned = now
        oldest = f"{_END - int((self.clock.now() - limits.days * _DAY) * 1_000):015d}"
        young = Counter([owner async for number, owner, _ in self._owners() if number <= oldest])
        most = _share(list(young.values()), limits.entries)
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
        """Of each entry its number, its owner and its place, the latest first. One that cannot be read is nobody's."""
        after: Key | None = None
        while rows := await self.kv.scan(keys.AUDIT, after=after, limit=_PAGE):
            for key, raw in rows:
                try:
                    owner = codec.decode(raw, AuditEntry).owner
                except StoreCorrupt:
                    owner = ""
                yield key[2], owner, key
            after = rows[-1][0]
            await asyncio.sleep(0)


def _identity(entry: AuditEntry) -> tuple[object, ...]:
    """What is the same in entries that are one. What anybody can say of himself is no part of it."""
    return entry.key, entry.owner, entry.role, entry.source, entry.what, entry.session, entry.turn, entry.status


def _share(counts: Sequence[int], room: int) -> int:
    """How many each may keep, so that all fit: whoever has fewer leaves the rest to the others."""
    waiting = sorted(counts)
    while waiting and waiting[0] * len(waiting) <= room:
        room -= waiting.pop(0)
    return room // len(waiting) if waiting else max(counts, default=0)
