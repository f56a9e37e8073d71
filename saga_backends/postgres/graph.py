"""GraphStore in PostgreSQL, with a table of nodes and a table of edges that a recursive query walks.

An edge refers to both of its nodes by foreign keys that include the scope. So the two tables can serve directly as the
vertex and edge tables of a property graph (``CREATE PROPERTY GRAPH``, SQL/PGQ). docs/scale.md has the statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection

from saga_backends.postgres import exact_json
from saga_backends.postgres.database import Database, Migration, Part, place_of
from saga_core.capabilities import Capability
from saga_core.errors import NotSupported
from saga_core.registry import OpenOptions
from saga_core.stores import Direction, Edge, FenceOf, GraphStore, Health, Mutation, Node, StoreInfo, Value
from saga_core.stores.validate import (
    check_endpoints,
    check_expand,
    check_mutation,
    check_names,
    check_neighbors,
    check_node_scan,
    check_scope,
    endpoints,
)

_MOST_ROWS = 2**62
_TABLES = """
CREATE TABLE {schema}.graph_scopes (scope text COLLATE "C" PRIMARY KEY, watermark text);
CREATE TABLE {schema}.graph_nodes (
  scope text COLLATE "C" NOT NULL REFERENCES {schema}.graph_scopes ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  properties json NOT NULL,
  PRIMARY KEY (scope, id)
);
CREATE TABLE {schema}.graph_edges (
  scope text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  properties json NOT NULL,
  PRIMARY KEY (scope, source, type, target, key),
  FOREIGN KEY (scope, source) REFERENCES {schema}.graph_nodes (scope, id) ON DELETE CASCADE,
  FOREIGN KEY (scope, target) REFERENCES {schema}.graph_nodes (scope, id) ON DELETE CASCADE
);
CREATE INDEX graph_edges_by_target ON {schema}.graph_edges (scope, target);
"""
PART = Part("graph", (Migration(_TABLES),))


class _Statements:
    """The SQL statements, with the name of the schema filled in."""

    def __init__(self, schema: str) -> None:
        scopes, nodes, edges = (f"{schema}.graph_{name}" for name in ("scopes", "nodes", "edges"))
        node, edge = "id, label, properties::text", "source, type, target, key, properties::text"
        near = {
            "out": "source = ANY(%(ids)s::text[])",
            "in": "target = ANY(%(ids)s::text[])",
            "both": "(source = ANY(%(ids)s::text[]) OR target = ANY(%(ids)s::text[]))",
        }
        types = "(%(types)s::text[] IS NULL OR type = ANY(%(types)s::text[]))"
        self.take = (
            f"INSERT INTO {scopes} AS known (scope, watermark) VALUES (%s, %s) ON CONFLICT (scope) "
            "DO UPDATE SET watermark = coalesce(excluded.watermark, known.watermark)".encode()
        )
        self.present = f"SELECT id FROM {nodes} WHERE scope = %s AND id = ANY(%s::text[])".encode()
        self.delete_edges = (
            f"DELETE FROM {edges} USING unnest(%s::text[], %s::text[], %s::text[], %s::text[]) AS gone(a, b, c, d) "
            "WHERE scope = %s AND source = a AND type = b AND target = c AND key = d".encode()
        )
        self.delete_nodes = f"DELETE FROM {nodes} WHERE scope = %s AND id = ANY(%s::text[])".encode()
        self.put_nodes = (
            f"INSERT INTO {nodes} (scope, id, label, properties) "
            "SELECT %s, a, b, c::json FROM unnest(%s::text[], %s::text[], %s::text[]) AS put(a, b, c) "
            "ON CONFLICT (scope, id) DO UPDATE SET label = excluded.label, properties = excluded.properties".encode()
        )
        self.put_edges = (
            f"INSERT INTO {edges} (scope, source, type, target, key, properties) SELECT %s, a, b, c, d, e::json "
            "FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[]) AS put(a, b, c, d, e) "
            "ON CONFLICT (scope, source, type, target, key) DO UPDATE SET properties = excluded.properties".encode()
        )
        self.get = f"SELECT {node} FROM {nodes} WHERE scope = %s AND id = ANY(%s::text[])".encode()
        self.neighbors = {
            direction: (
                f"SELECT {edge} FROM {edges} WHERE scope = %(scope)s AND {where} AND {types} "
                "ORDER BY source, type, target, key LIMIT %(limit)s"
            ).encode()
            for direction, where in near.items()
        }
        self.scan = (
            f"SELECT {node} FROM {nodes} WHERE scope = %(scope)s "
            "AND (%(after)s::text IS NULL OR id > %(after)s::text) "
            "AND (%(label)s::text IS NULL OR label = %(label)s::text) ORDER BY id LIMIT %(limit)s".encode()
        )
        self.watermark = f"SELECT watermark FROM {scopes} WHERE scope = %s".encode()
        self.scopes = f"SELECT scope FROM {scopes} ORDER BY scope".encode()
        self.drop = f"DELETE FROM {scopes} WHERE scope = %s".encode()
        self.expand = (
            f"WITH RECURSIVE walk (id, distance) AS ("
            f"SELECT id, 0 FROM {nodes} WHERE scope = %(scope)s AND id = ANY(%(ids)s::text[]) "
            "UNION "
            "SELECT step.id, walk.distance + 1 FROM walk CROSS JOIN LATERAL ("
            f"SELECT target FROM {edges} WHERE scope = %(scope)s AND source = walk.id AND {types} "
            f"UNION ALL SELECT source FROM {edges} WHERE scope = %(scope)s AND target = walk.id AND {types}"
            ") AS step (id) WHERE walk.distance < %(hops)s"
            ") SELECT id, min(distance) FROM walk GROUP BY id".encode()
        )
        self.everything = (
            f"SELECT (SELECT count(properties::text) FROM {nodes}), (SELECT count(properties::text) FROM {edges})"
        ).encode()
        self.one = f"SELECT 1 FROM {scopes} LIMIT 1".encode()


class PostgresGraph:
    """The graph store, created by ``open_graph``.

    Each read is one statement and sees one snapshot. Each mutation is one transaction.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ask = _Statements(database.schema)
        self._info = StoreInfo(
            kind="graph",
            name="postgres",
            version=database.version,
            capabilities=frozenset({Capability.DURABLE, Capability.SHARED, Capability.NATIVE_EXPAND}),
            location=database.place.shown,
            identity=database.identity,
        )

    @property
    def info(self) -> StoreInfo:
        """The version of the server, the limits, and the location of the schema."""
        return self._info

    def fence(self, fence_of: FenceOf) -> None:
        """See ``Fenced``."""
        self._database.fence(fence_of)

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        self._check_scope(scope)
        check_mutation(mutation, self._info.limits)
        if not mutation:
            return
        own = _Own(scope, mutation)  # a copy, so that the caller cannot change it while we wait

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(self._ask.take, [scope, mutation.watermark])
            needed = list(own.needed)
            present: set[str] = set()
            if needed:
                found = await connection.execute(self._ask.present, [scope, needed])
                present = {row[0] for row in await found.fetchall()}
            check_endpoints(mutation, present)
            for statement, values in own.steps(self._ask):
                await connection.execute(statement, values)

        await self._database.change(scope, write)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        self._check_scope(scope)
        check_names("ids", ids, self._info.limits)
        rows = await self._rows(self._ask.get, [scope, list(ids)])
        found = {row[0]: _node(row) for row in rows}
        return {each: found[each] for each in ids if each in found}

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
        check_neighbors(ids, types, direction, limit, self._info.limits)
        values = {
            "scope": scope,
            "ids": list(ids),
            "types": None if types is None else list(types),
            "limit": _MOST_ROWS if limit is None else min(limit, _MOST_ROWS),
        }
        return [_edge(row) for row in await self._rows(self._ask.neighbors[direction], values)]

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        self._check_scope(scope)
        check_node_scan(label, after, limit, self._info.limits)
        values = {"scope": scope, "label": label, "after": after, "limit": min(limit, _MOST_ROWS)}
        return [_node(row) for row in await self._rows(self._ask.scan, values)]

    async def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        self._check_scope(scope)
        rows = await self._rows(self._ask.watermark, [scope])
        found: str | None = rows[0][0] if rows else None
        return found

    async def scopes(self) -> list[str]:
        """See ``GraphStore.scopes``."""
        self._database.alive()
        return [row[0] for row in await self._rows(self._ask.scopes, [])]

    async def drop(self, scope: str) -> None:
        """See ``GraphStore.drop``."""
        self._check_scope(scope)

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(self._ask.drop, [scope])

        await self._database.change(scope, write)

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``NativeExpand.expand``."""
        self._check_scope(scope)
        check_expand(ids, hops, types, self._info.limits)
        values = {"scope": scope, "ids": list(ids), "hops": hops, "types": None if types is None else list(types)}
        return dict(await self._rows(self._ask.expand, values))

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """Raise ``NotSupported``, because the database can be queried directly."""
        self._database.alive()
        raise NotSupported("graph.postgres has no query language here; use psql on its tables")

    async def check(self, *, thorough: bool = False) -> Health:
        """Read from the tables and measure their size. If ``thorough``, read all nodes and edges."""
        self._database.alive()

        async def look(connection: AsyncConnection) -> None:
            await connection.execute(self._ask.everything if thorough else self._ask.one)

        return await self._database.health(look, ("graph_scopes", "graph_nodes", "graph_edges"), thorough)

    async def aclose(self) -> None:
        """Wait for the calls in progress and release the connections."""
        await self._database.aclose()

    async def _rows(self, statement: bytes, values: Sequence[object] | Mapping[str, object]) -> list[tuple[Any, ...]]:
        async def look(connection: AsyncConnection) -> list[tuple[Any, ...]]:
            return await (await connection.execute(statement, values)).fetchall()

        return await self._database.read(look)

    def _check_scope(self, scope: str) -> None:
        self._database.alive()
        check_scope(scope, self._info.limits)


class _Own:
    """A mutation as columns for SQL. If a node or edge is put twice, the last one is kept."""

    def __init__(self, scope: str, mutation: Mutation) -> None:
        self._scope = scope
        self.needed = endpoints(mutation)
        self._gone_edges = [(each.source, each.type, each.target, each.key) for each in mutation.delete_edges]
        self._gone_nodes = list(mutation.delete_nodes)
        nodes = {each.id: (each.id, each.label, exact_json.dumps(each.properties)) for each in mutation.put_nodes}
        edges = {
            (each.source, each.type, each.target, each.key): exact_json.dumps(each.properties)
            for each in mutation.put_edges
        }
        self._nodes = [nodes[each] for each in sorted(nodes)]
        self._edges = [(*each, edges[each]) for each in sorted(edges)]

    def steps(self, ask: _Statements) -> list[tuple[bytes, list[object]]]:
        """The required statements, in the order that ``Mutation`` prescribes."""
        found: list[tuple[bytes, list[object]]] = []
        if self._gone_edges:
            found.append((ask.delete_edges, [*_columns(self._gone_edges), self._scope]))
        if self._gone_nodes:
            found.append((ask.delete_nodes, [self._scope, self._gone_nodes]))
        if self._nodes:
            found.append((ask.put_nodes, [self._scope, *_columns(self._nodes)]))
        if self._edges:
            found.append((ask.put_edges, [self._scope, *_columns(self._edges)]))
        return found


def _columns(rows: Sequence[tuple[str, ...]]) -> list[object]:
    return [list(column) for column in zip(*rows, strict=True)]


def _node(row: Sequence[Any]) -> Node:
    node_id, label, properties = row
    return Node(node_id, label, exact_json.loads(properties))


def _edge(row: Sequence[Any]) -> Edge:
    source, kind, target, key, properties = row
    return Edge(source, kind, target, key, exact_json.loads(properties))


async def open_graph(options: OpenOptions) -> GraphStore:
    """Connect to the database of ``options.url``. Raises ``StoreError`` and ``BadInput``."""
    place, _ = place_of(options, "graph")
    database = Database(place, "graph")
    await database.open(PART)
    return PostgresGraph(database)
