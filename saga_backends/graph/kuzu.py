"""Graphs in a Kuzu or Ladybug database. One adapter serves both, since they share their language and Python API.

``path`` is a directory that holds nothing else. Options: ``buffer_pool_mb`` (memory for the engine's pages, 128),
``max_db_mb`` (the address space to reserve for the database, a power of two, 65536) and ``raw_query`` (false).

Acknowledged writes are on disk. A node takes a few hundred bytes there, and deleting nodes never frees disk space. The
two engines have different file formats and cannot be loaded into one process. To move a graph from one to the other,
rebuild it. Kuzu takes two to five times the CPU of Ladybug: reading a node or an edge takes 0.2-0.3 ms instead of 0.1,
and writing the mutation of a turn takes 5 ms instead of 3, or some milliseconds more if the tables are large.

With ``raw_query: true``, users can read the tables in Cypher (``kuzu_grammar`` describes the supported subset):

- ``Entity(scope, id, label, name, properties)`` is a node. ``label`` is ``Character``, ``Location`` and so on.
  ``name`` is the property of that name if it is a text. ``properties`` are all properties as JSON with sorted keys.
  (``pk`` combines scope and id.)
- ``(:Entity)-[:Tie {source, type, target, key, properties}]->(:Entity)`` is an edge. ``type`` is ``LOCATED_AT``,
  ``RELATES_TO`` and so on. ``source`` and ``target`` are the ids of its ends.
- ``Scope(name, watermark)`` is a scope and the turn whose state it shows.
- ``Meta(name, value)`` has ``schema``, the version of these tables.

For example ``MATCH (c:Entity {label: 'Character'})-[t:Tie {type: 'LOCATED_AT'}]->(p:Entity) RETURN c.name, p.name``.
"""

from __future__ import annotations

from functools import partial

from saga_backends.checked import CheckedGraph
from saga_backends.graph import kuzu_engine
from saga_backends.graph.kuzu_database import KuzuDatabase
from saga_backends.graph.kuzu_engine import Engine
from saga_backends.graph.kuzu_query import QueryDoor
from saga_backends.graph.kuzu_tables import KuzuTables
from saga_backends.worker import Worker
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, NotSupported
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Direction, Edge, GraphStore, Health, Limits, Mutation, Node, StoreInfo, Value

_LEAST_POOL_MB = 32
_LIMITS = Limits(value_bytes=1_024 * 1_024)
"""Limited, because a text of several megabytes does not fit into a small buffer pool."""


class KuzuGraph(CheckedGraph):
    """The graph store, created by ``KUZU.open`` and ``LADYBUG.open``.

    Each call is one hop to the worker thread. A write completes even if the task that awaits it is cancelled.
    """

    def __init__(self, database: KuzuDatabase, worker: Worker, *, raw_query: bool) -> None:
        self._database = database
        self._tables = KuzuTables(database)
        self._worker = worker
        self._door = QueryDoor(database, worker) if raw_query else None
        self._closed = False
        self._info = StoreInfo(
            kind="graph",
            name=database.engine.name,
            version=database.version,
            capabilities=frozenset({Capability.DURABLE} | ({Capability.RAW_QUERY} if raw_query else set())),
            limits=_LIMITS,
            location=str(database.file),
        )

    async def check(self, *, thorough: bool = False) -> Health:
        """Count the scopes, or read every node and edge if ``thorough``."""
        self._alive()
        return await self._worker.run(self._tables.check, thorough)

    async def aclose(self) -> None:
        """Kill a running query, finish the submitted calls, close the database and unlock the directory."""
        self._closed = True
        if self._door is not None:
            await self._door.close()
        await self._worker.shut(self._database.close)

    async def _apply(self, scope: str, mutation: Mutation) -> None:
        await self._worker.run(self._tables.apply, scope, mutation)

    async def _get(self, scope: str, ids: list[str]) -> dict[str, Node]:
        return await self._worker.run(self._tables.get, scope, ids)

    async def _neighbors(
        self, scope: str, ids: list[str], types: list[str] | None, direction: Direction, limit: int | None
    ) -> list[Edge]:
        return await self._worker.run(self._tables.neighbors, scope, ids, types, direction, limit)

    async def _scan(self, scope: str, label: str | None, after: str | None, limit: int) -> list[Node]:
        return await self._worker.run(self._tables.scan, scope, label, after, limit)

    async def _watermark(self, scope: str) -> str | None:
        return await self._worker.run(self._tables.watermark, scope)

    async def _scopes(self) -> list[str]:
        return await self._worker.run(self._tables.scopes)

    async def _drop(self, scope: str) -> None:
        await self._worker.run(self._tables.drop, scope)

    async def _query(self, text: str, timeout: float, limit: int) -> list[dict[str, Value]]:
        """See ``QueryDoor.query`` and the tables above."""
        if self._door is None:
            raise NotSupported(
                f"graph.{self._info.name}: queries are switched off; set storage.graph.options.raw_query: true"
            )
        return await self._door.query(text, timeout=timeout, limit=limit)

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._database.file}: the graph store is closed")


async def _open(engine: Engine, options: OpenOptions) -> GraphStore:
    taken = options.take(buffer_pool_mb=128, max_db_mb=65_536, raw_query=False)
    pool_mb, max_mb = taken["buffer_pool_mb"], taken["max_db_mb"]
    if pool_mb < _LEAST_POOL_MB:
        raise BadInput(f"options.buffer_pool_mb: {pool_mb} is too little; give at least {_LEAST_POOL_MB}")
    if max_mb < pool_mb or max_mb & (max_mb - 1):
        raise BadInput(
            f"options.max_db_mb: {max_mb}; give a power of two of at least buffer_pool_mb ({pool_mb}), such as 65536"
        )
    if options.path is None:
        raise BadInput(f"storage.graph.path: {engine.name} keeps its data in a directory; give its path")
    database = KuzuDatabase(engine, options.path.absolute(), pool_mb=pool_mb, max_mb=max_mb)
    worker = Worker(f"graph.{engine.name} {database.file}")
    try:
        await worker.run(database.open)
    except BaseException:
        await worker.shut(database.close)  # the opening may have succeeded even if it was cancelled
        raise
    return KuzuGraph(database, worker, raw_query=taken["raw_query"])


KUZU = Backend(
    "graph",
    "kuzu",
    partial(_open, kuzu_engine.KUZU),
    "a Kuzu database on disk; Ladybug is maintained and faster",
    "kuzu",
)
LADYBUG = Backend("graph", "ladybug", partial(_open, kuzu_engine.LADYBUG), "a Ladybug database on disk", "ladybug")
