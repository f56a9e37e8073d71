"""Graphs in a Kuzu or Ladybug database: one adapter, since the two share their language and their Python API.

``path`` is a directory of its own. Options: ``buffer_pool_mb`` (memory for the engine's pages, 128), ``max_db_mb``
(the address space that is reserved for the database, a power of two, 65536) and ``raw_query`` (false).

What was acknowledged is on disk. A node is a few hundred bytes there, and deleting never gives any back to the disk.
The two engines have different files and cannot be loaded into one process; a graph is moved from one to the other by
making it anew. Kuzu takes two to five times Ladybug's CPU: a node or an edge is read in 0.2-0.3 ms against 0.1, and a
turn's mutation written in 5 ms against 3, or in milliseconds more when the tables are large.

With ``raw_query: true`` people can read what is there in Cypher (see ``kuzu_grammar`` for what is understood):

- ``Entity(scope, id, label, name, properties)``: a node; ``label`` is ``Character``, ``Location`` and so on, ``name``
  its property of that name if it is a text, ``properties`` all of them as JSON with sorted keys. (``pk`` is made of
  scope and id.)
- ``(:Entity)-[:Tie {source, type, target, key, properties}]->(:Entity)``: an edge; ``type`` is ``LOCATED_AT``,
  ``RELATES_TO`` and so on, ``source`` and ``target`` are the ids of its ends.
- ``Scope(name, watermark)``: a scope and the turn it shows.
- ``Meta(name, value)``: ``schema``, the version of these tables.

For example ``MATCH (c:Entity {label: 'Character'})-[t:Tie {type: 'LOCATED_AT'}]->(p:Entity) RETURN c.name, p.name``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from attrs import evolve

from saga_backends.graph import kuzu_engine
from saga_backends.graph.kuzu_database import KuzuDatabase
from saga_backends.graph.kuzu_engine import Engine
from saga_backends.graph.kuzu_query import QueryDoor
from saga_backends.graph.kuzu_tables import KuzuTables
from saga_backends.worker import Worker
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, NotSupported
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import (
    Direction,
    Edge,
    GraphStore,
    Health,
    Limits,
    Mutation,
    Node,
    StoreInfo,
    Value,
    check_mutation,
    check_names,
    check_neighbors,
    check_node_scan,
    check_scope,
)

_LEAST_POOL_MB = 32
_LIMITS = Limits(value_bytes=1_024 * 1_024)
"""A text of several megabytes does not fit into a small buffer pool."""


class KuzuGraph:
    """Made by ``KUZU.open`` and ``LADYBUG.open``. One call is one trip to the thread; a write completes also when the
    task that awaits it is cancelled."""

    def __init__(self, database: KuzuDatabase, worker: Worker, *, raw_query: bool) -> None:
        self._database = database
        self._tables = KuzuTables(database)
        self._worker = worker
        self._door = QueryDoor(database, worker) if raw_query else None
        self._closed = False
        self._limits = _LIMITS
        self._info = StoreInfo(
            kind="graph",
            name=database.engine.name,
            version=database.version,
            capabilities=frozenset({Capability.DURABLE} | ({Capability.RAW_QUERY} if raw_query else set())),
            limits=_LIMITS,
            location=str(database.file),
        )

    @property
    def info(self) -> StoreInfo:
        """``DURABLE``, and ``RAW_QUERY`` where the option is set."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """Counts the scopes; thorough: reads every node and edge."""
        self._alive()
        return await self._worker.run(self._tables.check, thorough)

    async def aclose(self) -> None:
        """Finish what was given, end a query that runs, bring the log into the database and unlock the directory."""
        self._closed = True
        if self._door is not None:
            await self._door.close()
        if not self._worker.closed:
            await _shut(self._database, self._worker)
        await self._worker.aclose()

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        self._check_scope(scope)
        check_mutation(mutation, self._limits)
        # The write outlives a caller who is cancelled, and so must its values.
        own = evolve(
            mutation,
            put_nodes=tuple(evolve(node, properties=dict(node.properties)) for node in mutation.put_nodes),
            put_edges=tuple(evolve(edge, properties=dict(edge.properties)) for edge in mutation.put_edges),
        )
        await self._worker.run(self._tables.apply, scope, own)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        self._check_scope(scope)
        check_names("ids", ids, self._limits)
        return await self._worker.run(self._tables.get, scope, list(ids))

    async def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        """See ``GraphStore.neighbors``."""
        self._check_scope(scope)
        check_neighbors(ids, types, direction, limit, self._limits)
        kept = None if types is None else list(types)
        return await self._worker.run(self._tables.neighbors, scope, list(ids), kept, direction, limit)

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        self._check_scope(scope)
        check_node_scan(label, after, limit, self._limits)
        return await self._worker.run(self._tables.scan, scope, label, after, limit)

    async def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        self._check_scope(scope)
        return await self._worker.run(self._tables.watermark, scope)

    async def scopes(self) -> list[str]:
        """See ``GraphStore.scopes``."""
        self._alive()
        return await self._worker.run(self._tables.scopes)

    async def drop(self, scope: str) -> None:
        """See ``GraphStore.drop``."""
        self._check_scope(scope)
        await self._worker.run(self._tables.drop, scope)

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """Not declared: a walk over ``neighbors`` is faster than the engines' patterns of variable length."""
        self._alive()
        raise NotSupported(f"graph.{self._info.name} has no native expand; walk over neighbors")

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """See ``RawQuery.query``, ``QueryDoor.query`` and the tables above."""
        self._alive()
        if self._door is None:
            raise NotSupported(
                f"graph.{self._info.name}: queries are switched off; set storage.graph.options.raw_query: true"
            )
        return await self._door.query(text, timeout=timeout, limit=limit)

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._database.file}: the graph store is closed")

    def _check_scope(self, scope: str) -> None:
        self._alive()
        check_scope(scope, self._limits)


async def _shut(database: KuzuDatabase, worker: Worker) -> None:
    try:
        await worker.run(database.close)
    finally:
        await worker.aclose()


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
        await _shut(database, worker)  # a cancelled opening may have succeeded all the same
        raise
    return cast(GraphStore, KuzuGraph(database, worker, raw_query=taken["raw_query"]))


async def _open_kuzu(options: OpenOptions) -> GraphStore:
    return await _open(kuzu_engine.KUZU, options)


async def _open_ladybug(options: OpenOptions) -> GraphStore:
    return await _open(kuzu_engine.LADYBUG, options)


KUZU = Backend("graph", "kuzu", _open_kuzu, "a Kuzu database on disk; Ladybug is maintained and faster", "kuzu")
LADYBUG = Backend("graph", "ladybug", _open_ladybug, "a Ladybug database on disk", "ladybug")
