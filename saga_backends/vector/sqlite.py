"""Vectors in a SQLite file, exact search by numpy.

The file is written in WAL mode with ``synchronous=normal``: what was acknowledged survives the end of the process,
a kill included; the last writes may be lost with the power, and are then made anew from the journal.

A query reads the scopes that it asks, some hundred rows in memory at a time (5 ms CPU for 1,500 vectors of 256
components). Kept in memory they are the resident layer's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from saga_backends.vector.sqlite_items import PackedItem, VectorFile
from saga_backends.worker import Worker
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed
from saga_core.registry import Backend, OpenOptions
from saga_core.stores.filters import Filter, predicate
from saga_core.stores.lifecycle import Health, StoreInfo
from saga_core.stores.validate import (
    as_float32,
    check_delete,
    check_item_scan,
    check_items,
    check_names,
    check_query,
    check_scope,
    check_spec,
    check_where,
)
from saga_core.stores.vector import Hit, ScopeSpec, Vector, VectorItem, VectorStore


class SqliteVectors:
    """Made by ``BACKEND.open``. One call is one trip to the thread, and calls are answered in the order they came.

    A write completes also when the task that awaits it is cancelled.
    """

    def __init__(self, file: VectorFile, worker: Worker) -> None:
        self._file = file
        self._worker = worker
        self._closed = False
        self._info = StoreInfo(
            kind="vector",
            name="sqlite",
            version=sqlite3.sqlite_version,
            capabilities=frozenset({Capability.DURABLE}),
            location=str(file.path),
        )
        self._limits = self._info.limits

    @property
    def info(self) -> StoreInfo:
        """Engine version, limits and the file."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """A read and the size with the write-ahead log; thorough: SQLite's quick check of the whole file."""
        self._alive()
        return await self._worker.run(self._file.check, thorough)

    async def aclose(self) -> None:
        """Finish what was given, bring the log into the file, close it and unlock it."""
        self._closed = True
        if not self._worker.closed:
            await _shut(self._file, self._worker)
        await self._worker.aclose()

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        self._check_scope(scope)
        check_spec(spec, self._limits)
        await self._worker.run(self._file.create, scope, spec)

    async def describe(self, scope: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``."""
        self._check_scope(scope)
        return await self._worker.run(self._file.describe, scope)

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        """See ``VectorStore.upsert``."""
        self._check_scope(scope)
        check_items(items, self._limits)
        packed = [
            PackedItem.of(item, as_float32(f"items[{index}].vector", item.vector)) for index, item in enumerate(items)
        ]
        await self._worker.run(self._file.upsert, scope, packed)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        self._check_scope(scope)
        check_names("ids", ids, self._limits)
        return await self._worker.run(self._file.get, scope, list(ids))

    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        self._check_scope(scope)
        check_item_scan(after, limit, self._limits)
        return await self._worker.run(self._file.scan, scope, after, limit)

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        """See ``VectorStore.query``."""
        self._alive()
        check_query(scopes, k, where, self._limits)
        asked = as_float32("vector", vector)
        wanted = predicate(where) if where is not None else None
        return await self._worker.run(self._file.query, list(dict.fromkeys(scopes)), asked, k, wanted)

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """See ``VectorStore.delete``."""
        self._check_scope(scope)
        check_delete(ids, where, self._limits)
        own = list(ids) if ids is not None else None
        wanted = predicate(where) if where is not None else None
        return await self._worker.run(self._file.delete, scope, own, wanted)

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        """See ``VectorStore.count``."""
        self._check_scope(scope)
        check_where(where, self._limits)
        return await self._worker.run(self._file.count, scope, predicate(where) if where is not None else None)

    async def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""
        self._alive()
        return await self._worker.run(self._file.scopes)

    async def drop(self, scope: str) -> None:
        """See ``VectorStore.drop``."""
        self._check_scope(scope)
        await self._worker.run(self._file.drop, scope)

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._file.path}: the vector store is closed")

    def _check_scope(self, scope: str) -> None:
        self._alive()
        check_scope(scope, self._limits)


async def _shut(file: VectorFile, worker: Worker) -> None:
    try:
        await worker.run(file.close)
    finally:
        await worker.aclose()


async def _open(options: OpenOptions) -> VectorStore:
    options.take()
    if options.path is None:
        raise BadInput("storage.vector.path: the sqlite backend keeps its data in a file; give its path")
    file = VectorFile(options.path.absolute())
    worker = Worker(f"vector.sqlite {file.path}")
    try:
        await worker.run(file.open)
    except BaseException:
        await _shut(file, worker)  # a cancelled opening may have succeeded all the same
        raise
    return SqliteVectors(file, worker)


BACKEND = Backend(
    kind="vector",
    name="sqlite",
    open=_open,
    summary="one SQLite file, exact search by numpy; the default",
)
