"""Rows of a StateKV, however many: a prefix read to its end in pages, and entries written or deleted in parts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from itertools import islice
from typing import Protocol

from saga_core.journal.keys import fits
from saga_core.stores import Batch, Key, StateKV

PAGE = 1_000
"""Rows of a page or a part. A store accepts at least 2,000 in one commit."""

Row = tuple[Key, bytes]


class Scanned(Protocol):
    """A source of rows: a StateKV, or a server that is asked for them."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[Row]:
        """See ``StateKV.scan``."""
        ...


async def value(kv: StateKV, key: Key) -> bytes | None:
    """Return the value of one key."""
    return (await kv.get([key])).get(key)


async def pages(kv: Scanned, prefix: Key, size: int = PAGE) -> AsyncIterator[list[Row]]:
    """Yield the rows below ``prefix`` in pages. The rows of a page may be deleted before the next one is read."""
    after: Key | None = None
    while page := await kv.scan(prefix, after=after, limit=size):
        yield page
        if len(page) < size:
            return
        after = page[-1][0]


async def rows(kv: StateKV, prefix: Key, size: int = PAGE) -> AsyncIterator[Row]:
    """Yield the rows below ``prefix`` whose keys have the form of their kind, read in pages of ``size``."""
    async for page in pages(kv, prefix, size):
        for row in page:
            if fits(row[0]):
                yield row


async def put_rows(kv: StateKV, puts: Mapping[Key, bytes]) -> None:
    """Write ``puts`` in parts. An interruption leaves some of them unwritten."""
    left = iter(puts.items())
    while part := dict(islice(left, PAGE)):
        await kv.commit(Batch(part))


async def delete_rows(kv: StateKV, doomed: Iterable[Key]) -> None:
    """Delete keys in parts. An interruption leaves some of them."""
    left = iter(doomed)
    while part := frozenset(islice(left, PAGE)):
        await kv.commit(Batch(deletes=part))


async def delete_below(kv: StateKV, prefix: Key, doomed: Callable[[Key, bytes], bool] = lambda *_: True) -> None:
    """Delete the rows below ``prefix`` for which ``doomed`` is true, page by page."""
    async for page in pages(kv, prefix):
        if gone := frozenset(key for key, raw in page if doomed(key, raw)):
            await kv.commit(Batch(deletes=gone))
