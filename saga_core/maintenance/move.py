"""Moving the journal to another store: everything is copied, and then compared entry by entry.

Views are not moved: graph, vectors and pages are rendered from the journal again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from saga_core.errors import BadInput, StoreError
from saga_core.stores import Batch, Key, StateKV

_PAGE = 500
_MOST_BYTES = 8 * 1_024 * 1_024
"""Bytes of values in one commit, about."""
_STAYS = (("lease",), ("meta", "shown-by"), ("meta", "shown-in"), ("meta", "probe"))
"""What belongs to servers and engines, not to stories."""


async def move_journal(source: StateKV, target: StateKV, told: Callable[[int], None] = lambda _: None) -> int:
    """Copy all of ``source`` into ``target``, which must be empty, and compare them; how many entries there are.

    ``told`` hears how many are copied by now. Raises ``BadInput`` for a target that holds something, and
    ``StoreError`` when the two differ afterwards: somebody wrote meanwhile.
    """
    if await target.scan((), limit=1):
        raise BadInput(
            f"{target.info.location or target.info.name}: holds something already; give an empty database, schema or "
            "file"
        )
    count, waiting, size = 0, dict[Key, bytes](), 0
    async for key, value in _entries(source):
        waiting[key] = value
        size += len(value)
        if len(waiting) >= _PAGE or size >= _MOST_BYTES:
            await target.commit(Batch(waiting))
            count += len(waiting)
            told(count)
            waiting, size = {}, 0
    if waiting:
        await target.commit(Batch(waiting))
        count += len(waiting)
        told(count)
    await _compare(source, target)
    return count


async def _compare(source: StateKV, target: StateKV) -> None:
    there = _entries(target)
    async for entry in _entries(source):
        if await anext(there, None) != entry:
            break
    else:
        if await anext(there, None) is None:
            return
    raise StoreError(
        "the journal was written while it was moved, and the copy is not equal to it: stop every server that has it "
        "open, empty the target, and move it again; nothing was changed where it is"
    )


async def _entries(store: StateKV) -> AsyncIterator[tuple[Key, bytes]]:
    """What is moved, in the order of the keys."""
    after: Key | None = None
    while rows := await store.scan((), after=after, limit=_PAGE):
        for key, value in rows:
            if not any(key[: len(prefix)] == prefix for prefix in _STAYS):
                yield key, value
        after = rows[-1][0]
