"""GraphStore in PostgreSQL, with a table of nodes and a table of edges that a recursive query walks.

An edge refers to both of its nodes by foreign keys that include the scope. So the two tables can serve directly as the
vertex and edge tables of a property graph (``CREATE PROPERTY GRAPH``, SQL/PGQ). docs/scale.md has the statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection

from saga_backends.checked import CheckedGraph
from saga_backends.postgres import exact_json
from saga_backends.postgres.database import Database, Migration, Part, connected
from saga_backends.postgres.store import MOST_ROWS, PostgresView
from saga_backends.scope_graph import identity
from saga_core.capabilities import Capability
from saga_core.errors import NotSupported
from saga_core.registry import OpenOptions
from saga_core.stores import Direction, Edge, GraphStore, Mutation, Node, Value
from saga_core.stores.validate import check_endpoints, endpoints

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
    """The SQL statements, with the names of the tables filled in."""

    def __init__(self, named: Mapping[str, str]) -> None:
        scopes, nodes, edges = named["graph_scopes"], named["graph_nodes"], named["graph_edges"]
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


class PostgresGraph(PostgresView, CheckedGraph):
    """The graph store, created by ``open_``.

    Each read is one statement and sees one snapshot. Each mutation is one transaction.
    """

    kind = "graph"
    tables = ("graph_scopes", "graph_nodes", "graph_edges")
    everything = (
        "SELECT count(properties::text) FROM {graph_nodes} UNION ALL SELECT count(properties::text) FROM {graph_edges}"
    )
    more = frozenset({Capability.NATIVE_EXPAND})

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._ask = _Statements(self._named)

    async def _apply(self, scope: str, mutation: Mutation) -> None:
        if not mutation:
            return
        steps = list(_steps(self._ask, scope, mutation))
        needed = list(endpoints(mutation))

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(self._ask.take, [scope, mutation.watermark])
            present: set[str] = set()
            if needed:
                found = await connection.execute(self._ask.present, [scope, needed])
                present = {row[0] for row in await found.fetchall()}
            check_endpoints(mutation, present)
            for statement, values in steps:
                await connection.execute(statement, values)

        await self._database.change(scope, write)

    async def _get(self, scope: str, ids: list[str]) -> dict[str, Node]:
        rows = await self._rows(self._ask.get, [scope, ids])
        found = {row[0]: _node(row) for row in rows}
        return {each: found[each] for each in ids if each in found}

    async def _neighbors(
        self, scope: str, ids: list[str], types: list[str] | None, direction: Direction, limit: int | None
    ) -> list[Edge]:
        values = {
            "scope": scope,
            "ids": ids,
            "types": types,
            "limit": MOST_ROWS if limit is None else min(limit, MOST_ROWS),
        }
        return [_edge(row) for row in await self._rows(self._ask.neighbors[direction], values)]

    async def _scan(self, scope: str, label: str | None, after: str | None, limit: int) -> list[Node]:
        values = {"scope": scope, "label": label, "after": after, "limit": min(limit, MOST_ROWS)}
        return [_node(row) for row in await self._rows(self._ask.scan, values)]

    async def _watermark(self, scope: str) -> str | None:
        rows = await self._rows(self._ask.watermark, [scope])
        found: str | None = rows[0][0] if rows else None
        return found

    async def _expand(self, scope: str, ids: list[str], hops: int, types: list[str] | None) -> dict[str, int]:
        values = {"scope": scope, "ids": ids, "hops": hops, "types": types}
        return dict(await self._rows(self._ask.expand, values))

    async def _query(self, text: str, timeout: float, limit: int) -> list[dict[str, Value]]:
        raise NotSupported("graph.postgres has no query language here; use psql on its tables")


def _steps(ask: _Statements, scope: str, mutation: Mutation) -> Iterator[tuple[bytes, list[object]]]:
    """The required statements, in the order that ``Mutation`` prescribes. What is put twice is put as the last says."""
    nodes = {each.id: (each.id, each.label, exact_json.dumps(each.properties)) for each in mutation.put_nodes}
    edges = {identity(each): (*identity(each), exact_json.dumps(each.properties)) for each in mutation.put_edges}
    if mutation.delete_edges:
        yield ask.delete_edges, [*_columns(map(identity, mutation.delete_edges)), scope]
    if mutation.delete_nodes:
        yield ask.delete_nodes, [scope, list(mutation.delete_nodes)]
    if nodes:
        yield ask.put_nodes, [scope, *_columns(nodes[each] for each in sorted(nodes))]
    if edges:
        yield ask.put_edges, [scope, *_columns(edges[each] for each in sorted(edges))]


def _columns(rows: Iterable[tuple[str, ...]]) -> list[object]:
    return [list(column) for column in zip(*rows, strict=True)]


def _node(row: Sequence[Any]) -> Node:
    node_id, label, properties = row
    return Node(node_id, label, exact_json.loads(properties))


def _edge(row: Sequence[Any]) -> Edge:
    source, kind, target, key, properties = row
    return Edge(source, kind, target, key, exact_json.loads(properties))


async def open_(options: OpenOptions) -> GraphStore:
    """Connect to the database of ``options.url``. Raises ``StoreError`` and ``BadInput``."""
    return PostgresGraph(await connected(options, "graph", PART))
