"""Moving the journal to another store: what differs is copied, again and again while somebody writes, and at the end
both are compared entry by entry.

Views are not moved: graph, vectors and pages are rendered from the journal again. As long as part of the journal is
missing, an entry of the target says so, and no server opens it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from attrs import define, field, frozen

from saga_core.errors import BadInput, StoreError
from saga_core.journal import keys
from saga_core.stores import Batch, Key, StateKV

_PAGE = 500
_MOST_BYTES = 8 * 1_024 * 1_024
"""Bytes of values in one commit, about."""
_STAYS = (
    ("lease",),
    ("meta", "shown-by"),
    ("meta", "shown-in"),
    keys.PROBE_KEY,
    keys.MOVING_KEY,
)
"""What belongs to servers and engines, not to stories."""

Told = Callable[[int], None]


class Scanned(Protocol):
    """What a journal is read from."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        ...


@frozen
class Passed:
    """What one pass over a journal came to."""

    entries: int
    """Entries of the journal."""
    changed: int
    """Those that were copied, and those that were removed from the target."""


async def move_journal(source: StateKV, target: StateKV, told: Told = lambda _: None) -> int:
    """Copy all of ``source`` into ``target``, and compare them; how many entries there are.

    ``target`` must be empty, or hold what a move left that was cut off. ``told`` hears how many were copied by now.
    Raises ``BadInput`` for a target that holds something else, and ``StoreError`` when the two differ afterwards:
    somebody wrote meanwhile.
    """
    await begin_move(target)
    found = await catch_up(source, target, told)
    await end_move(source, target)
    return found.entries


async def begin_move(target: StateKV) -> None:
    """Mark ``target`` as one that a journal is moved into. Raises ``BadInput`` for one that holds something else."""
    if keys.MOVING_KEY in await target.get([keys.MOVING_KEY]):
        return
    if await target.scan((), limit=1):
        raise BadInput(
            f"{target.info.location or target.info.name}: holds something already; give an empty database, schema or "
            "file"
        )
    await target.commit(Batch({keys.MOVING_KEY: b"1"}), expected={keys.MOVING_KEY: None})


async def catch_up(source: Scanned, target: StateKV, told: Told = lambda _: None) -> Passed:
    """Make ``target`` like ``source`` as one pass reads it. What is written meanwhile may be missed: pass again.

    Raises ``BadInput`` for a ``source`` of which part is missing.
    """
    if await source.scan(keys.MOVING_KEY, limit=1):
        raise BadInput("what is to be moved is itself the target of a move that was cut off; finish that one first")
    writing, entries = _Writing(target, told), 0
    here, there = _entries(source), _entries(target)
    old = await anext(there, None)
    async for key, value in here:
        entries += 1
        while old is not None and old[0] < key:
            await writing.delete(old[0])
            old = await anext(there, None)
        if old is None or old[0] != key:
            await writing.put(key, value)
            continue
        if old[1] != value:
            await writing.put(key, value)
        old = await anext(there, None)
    while old is not None:
        await writing.delete(old[0])
        old = await anext(there, None)
    await writing.flush()
    return Passed(entries, writing.changed)


async def end_move(source: Scanned, target: StateKV) -> None:
    """Compare the two, and let servers open ``target``. Raises ``StoreError`` when they differ."""
    there = _entries(target)
    async for entry in _entries(source):
        if await anext(there, None) != entry:
            break
    else:
        if await anext(there, None) is None:
            await target.commit(Batch(deletes=frozenset({keys.MOVING_KEY})))
            return
    raise StoreError(
        "the journal was written while it was moved, and the copy is not equal to it: stop every server that has it "
        "open, and give the same command again; nothing was changed where it is"
    )


@define
class _Writing:
    """Commits of a size that a store takes well."""

    target: StateKV
    told: Told
    changed: int = 0
    _puts: dict[Key, bytes] = field(factory=dict)
    _deletes: set[Key] = field(factory=set)
    _size: int = 0

    async def put(self, key: Key, value: bytes) -> None:
        self._puts[key] = value
        self._size += len(value)
        await self._filled()

    async def delete(self, key: Key) -> None:
        self._deletes.add(key)
        await self._filled()

    async def _filled(self) -> None:
        if len(self._puts) + len(self._deletes) >= _PAGE or self._size >= _MOST_BYTES:
            await self.flush()

    async def flush(self) -> None:
        """Commit what waits."""
        if not self._puts and not self._deletes:
            return
        await self.target.commit(Batch(self._puts, frozenset(self._deletes)))
        self.changed += len(self._puts) + len(self._deletes)
        self._puts, self._deletes, self._size = {}, set(), 0
        self.told(self.changed)


async def _entries(store: Scanned) -> AsyncIterator[tuple[Key, bytes]]:
    """What is moved, in the order of the keys."""
    after: Key | None = None
    while rows := await store.scan((), after=after, limit=_PAGE):
        for key, value in rows:
            if not any(key[: len(prefix)] == prefix for prefix in _STAYS):
                yield key, value
        after = rows[-1][0]
