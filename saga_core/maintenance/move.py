"""Moves the journal to another store.

Each pass copies the entries that differ. Passes can be repeated while servers write, and at the end both stores are
compared entry by entry. Views are not moved: graph, vectors and pages are rendered from the journal again. Until the
move is complete, an entry marks the target as incomplete, and no server opens it. Then an entry marks the source as
moved, and a server that opens it says so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from hashlib import blake2b

from attrs import define, field, frozen

from saga_core.errors import BadInput, StoreError
from saga_core.journal import Scanned, keys, pages
from saga_core.stores import Batch, Key, StateKV, StoreInfo

_PAGE = 500
_MOST_BYTES = 8 * 1_024 * 1_024
"""Approximate bytes of values in one commit."""
_STAYS = (
    ("lease",),
    ("meta", "shown-by"),
    ("meta", "shown-in"),
    keys.PROBE_KEY,
    keys.MOVING_KEY,
    keys.MOVED_KEY,
)
"""Keys that are not moved, because they belong to servers and engines, not to sessions."""

_LOST = b"lost"
"""The value of ``MOVING_KEY`` in a target that did not keep what was written to it."""
_BROKEN = "`saga conformance` tells what is wrong with it. Move to another backend"
_SAFE = "nothing was changed where the journal is"

Progress = Callable[[int], None]


@frozen
class MovePass:
    """The result of one pass over a journal."""

    entries: int
    """The number of entries of the journal."""
    changed: int
    """The number of entries that were copied to the target or removed from it."""
    digest: bytes
    """The digest of the journal's entries, as they were read."""


async def move_journal(
    source: StateKV,
    target: StateKV,
    told: Progress = lambda _: None,
    *,
    named: str = "",
    reopen: Callable[[], Awaitable[StateKV]] | None = None,
) -> int | None:
    """Copy all of ``source`` into ``target``, compare the two, and return the number of entries.

    ``reopen`` closes ``target`` and opens it again, so that a target that did not keep its entries is found out: that
    raises ``StoreError`` as well. ``named`` is the name of the target for messages.

    ``target`` must be empty or unused, or hold the result of an interrupted move. Returns None if it was moved there
    already. ``told`` is called with the number of entries that were changed so far. Raises ``BadInput`` if the target
    holds something else, and ``StoreError`` if it lost entries, now or in an earlier move, or if the source was written
    meanwhile.
    """
    if not await begin_move(source, target, named):
        return None
    found = await catch_up(source, target, told, named)
    if (await _digest(source))[1] != found.digest:
        raise StoreError(
            "the journal was written while it was moved, and the copy is not equal to it: stop every server that has "
            f"it open, and give the same command again; {_SAFE}"
        )
    if reopen is not None:
        target = await reopen()
        await _check_kept(target, found, named, "opened again, ")
    await target.commit(Batch(deletes=frozenset({keys.MOVING_KEY, keys.MOVED_KEY})))
    return found.entries


async def begin_move(source: Scanned, target: StateKV, named: str = "") -> bool:
    """Mark ``target`` as the target of a move. Returns False if the move is complete, and the two are equal.

    A journal that was opened and never used is as good as an empty target. Raises ``BadInput`` if the target holds
    something else, and ``StoreError`` if it lost entries of an earlier move.
    """
    mark = (await target.get([keys.MOVING_KEY])).get(keys.MOVING_KEY)
    if mark == _LOST:
        raise StoreError(
            f"{named or target.info.name}: did not keep what an earlier move wrote to it; {_BROKEN}, or mend it and "
            f"move {target.info.location or 'what it holds'} away; {_SAFE}"
        )
    if mark is not None:
        return True
    if await _is_used(target):
        if await _digest(source) == await _digest(target):
            await target.commit(Batch(deletes=frozenset({keys.MOVED_KEY})))
            return False
        raise BadInput(
            f"{target.info.location or target.info.name}: holds something already; give an empty database, schema or "
            "file, or move that away"
        )
    await target.commit(Batch({keys.MOVING_KEY: b"1"}), expected={keys.MOVING_KEY: None})
    return True


async def catch_up(source: Scanned, target: StateKV, told: Progress = lambda _: None, named: str = "") -> MovePass:
    """Make ``target`` equal to ``source`` in one pass. Entries that are written meanwhile may need another pass.

    Raises ``BadInput`` if ``source`` is itself the target of an unfinished move, and ``StoreError`` if ``target`` does
    not hold what was written to it.
    """
    if await source.scan(keys.MOVING_KEY, limit=1):
        raise BadInput("what is to be moved is itself the target of a move that was cut off; finish that one first")
    writing, entries, digest = _Writing(target, told), 0, blake2b()
    here, there = _entries(source), _entries(target)
    old = await anext(there, None)
    async for key, value in here:
        entries += 1
        digest.update(_bytes(key, value))
        while old is not None and old[0] < key:
            await writing.delete(old[0])
            old = await anext(there, None)
        if old != (key, value):
            await writing.put(key, value)
        if old is not None and old[0] == key:
            old = await anext(there, None)
    while old is not None:
        await writing.delete(old[0])
        old = await anext(there, None)
    await writing.flush()
    found = MovePass(entries, writing.changed, digest.digest())
    await _check_kept(target, found, named)
    return found


async def _check_kept(target: StateKV, found: MovePass, named: str, when: str = "") -> None:
    """Compare a target with what was copied. One that lost entries is marked, so that no later move accepts it."""
    kept, digest = await _digest(target)
    if digest == found.digest:
        return
    await target.commit(Batch({keys.MOVING_KEY: _LOST}))
    raise StoreError(
        f"{named or target.info.name}: did not keep what was written to it: {when}it has {kept} entries, and they are "
        f"not the {found.entries} of the journal; {_BROKEN}; {_SAFE}"
    )


async def _digest(store: Scanned) -> tuple[int, bytes]:
    """The number of entries to move, and their digest."""
    entries, digest = 0, blake2b()
    async for key, value in _entries(store):
        entries += 1
        digest.update(_bytes(key, value))
    return entries, digest.digest()


def _bytes(key: Key, value: bytes) -> bytes:
    return f"{key!r} {len(value)} ".encode("utf-8", "surrogatepass") + value


async def mark_moved(source: StateKV, target: StoreInfo) -> None:
    """Note in ``source`` that its copy in ``target`` takes its place. ``saga move --stay`` removes the note."""
    place = f"{target.name} in {target.location}" if target.location else target.name
    await source.commit(Batch({keys.MOVED_KEY: place.encode()}))


async def _is_used(target: StateKV) -> bool:
    async for key, _ in _entries(target):
        if key[0] != "meta":
            return True
    return False


@define
class _Writing:
    """Collects changes, and commits them in batches of limited size."""

    target: StateKV
    told: Progress
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
        """Commit the pending changes."""
        if not self._puts and not self._deletes:
            return
        await self.target.commit(Batch(self._puts, frozenset(self._deletes)))
        self.changed += len(self._puts) + len(self._deletes)
        self._puts, self._deletes, self._size = {}, set(), 0
        self.told(self.changed)


async def _entries(store: Scanned) -> AsyncIterator[tuple[Key, bytes]]:
    """Yield the entries to move. Raises ``StoreError`` if they are not in the order of their keys."""
    last: Key = ()
    async for page in pages(store, (), _PAGE):
        for key, value in page:
            if key <= last:
                name = getattr(store, "info", StoreInfo("state", "the server")).name
                raise StoreError(f"the scan of {name} gave {key} behind {last}; keys come in their order, each once")
            last = key
            if not any(key[: len(prefix)] == prefix for prefix in _STAYS):
                yield key, value
