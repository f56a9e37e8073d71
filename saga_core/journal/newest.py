"""The newest rows of an index of the journal."""

from __future__ import annotations

from saga_core.stores import Key, StateKV

_PAGE = 2_000


async def newest(kv: StateKV, prefix: Key, limit: int) -> list[tuple[Key, bytes]]:
    """Return the last ``limit`` rows below ``prefix``, oldest first. The ids at the end of their keys ascend with time.

    A store is read forwards only, so this takes time in proportion to the number of rows if there are ``limit`` or
    more.
    """
    rows = page = await kv.scan(prefix, limit=limit)
    size = limit
    while len(page) == size:
        size = _PAGE
        page = await kv.scan(prefix, after=page[-1][0], limit=size)
        rows = [*rows, *page][-limit:]
    return rows
