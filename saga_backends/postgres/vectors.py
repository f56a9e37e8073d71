"""VectorStore in PostgreSQL with pgvector. A query scores all rows of a scope, which a b-tree index finds.

Each row has the original vector and a unit vector. The inner product of the latter with the query's unit vector is a
32-bit score. The rows that could be among the best by this score are fetched and scored exactly. A session has some
thousands of rows. Reading all of them is faster than an approximate index with a filter, and misses nothing.
"""

from __future__ import annotations

import struct
from array import array
from math import isfinite

import numpy as np
import psycopg
from psycopg import AsyncConnection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format

from saga_backends.checked import CheckedVectors, Numbered
from saga_backends.postgres import exact_json
from saga_backends.postgres.database import Database, Migration, Part, connected
from saga_backends.postgres.store import MOST_ROWS, PostgresView
from saga_backends.scoring import QueryVector, as_row, as_rows, squared_norms
from saga_backends.vector_bytes import from_little_endian, to_little_endian
from saga_core.errors import StoreCorrupt, StoreUnavailable
from saga_core.registry import OpenOptions
from saga_core.stores import Filter, Hit, ScopeSpec, VectorItem, VectorStore
from saga_core.stores.filters import predicate
from saga_core.stores.validate import check_dimension, check_same_spec, unknown_scope

_TABLES = """
CREATE TABLE {schema}.vector_scopes (
  scope text COLLATE "C" PRIMARY KEY,
  embedder text NOT NULL,
  dimension integer NOT NULL
);
CREATE TABLE {schema}.vector_items (
  scope text COLLATE "C" NOT NULL REFERENCES {schema}.vector_scopes ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL,
  given bytea NOT NULL,
  unit {vector}.vector NOT NULL,
  content text NOT NULL,
  metadata json NOT NULL,
  PRIMARY KEY (scope, id)
);
COMMENT ON COLUMN {schema}.vector_items.given IS '32-bit floats, little-endian';
ALTER TABLE {schema}.vector_items ALTER given SET STORAGE EXTERNAL, ALTER unit SET STORAGE MAIN;
"""


class PostgresVectors(PostgresView, CheckedVectors):
    """The vector store, created by ``open_``."""

    kind = "vector"
    name = "pgvector"
    tables = ("vector_scopes", "vector_items")
    everything = (
        "SELECT count(*), sum(length(given)), count(unit::text), count(metadata::text), sum(length(content)) "
        "FROM {vector_items}"
    )

    def __init__(self, database: Database, extension: str, version: str) -> None:
        super().__init__(database, f"{database.version} with pgvector {version}")
        self._near = f"- (unit OPERATOR({extension}.<#>) %(asked)b::{extension}.vector)"
        self._specs, self._items = self._named["vector_scopes"], self._named["vector_items"]
        self._put = (
            f"INSERT INTO {self._items} (scope, id, given, unit, content, metadata) "
            f"VALUES (%s, %s, %b, %b::{extension}.vector, %s, %s::json) ON CONFLICT (scope, id) DO UPDATE SET "
            "given = excluded.given, unit = excluded.unit, content = excluded.content, metadata = excluded.metadata"
        ).encode()

    async def _create(self, scope: str, spec: ScopeSpec) -> None:
        make = (
            f"INSERT INTO {self._specs} (scope, embedder, dimension) VALUES (%s, %s, %s) ON CONFLICT (scope) DO NOTHING"
        ).encode()

        async def write(connection: AsyncConnection) -> ScopeSpec:
            while True:
                await connection.execute(make, [scope, spec.embedder, spec.dimension])
                found = await self._spec(connection, scope)
                if found is not None:  # otherwise it was dropped meanwhile
                    return found

        check_same_spec(scope, await self._database.change(scope, write), spec)

    async def _describe(self, scope: str) -> ScopeSpec | None:
        return await self._database.read(lambda connection: self._spec(connection, scope))

    async def _spec(self, connection: AsyncConnection, scope: str, *, lock: bool = False) -> ScopeSpec | None:
        statement = f"SELECT embedder, dimension FROM {self._specs} WHERE scope = %s" + " FOR KEY SHARE" * lock
        row = await (await connection.execute(statement.encode(), [scope])).fetchone()
        return None if row is None else ScopeSpec(row[0], row[1])

    async def _upsert(self, scope: str, items: list[Numbered]) -> None:
        rows = {
            item.id: (
                scope,
                item.id,
                to_little_endian(vector),
                _Unit.of(vector),
                item.text,
                exact_json.dumps(item.metadata),
            )
            for item, vector in items
        }

        async def write(connection: AsyncConnection) -> None:
            spec = await self._spec(connection, scope, lock=True)
            if spec is None:
                raise unknown_scope(scope)
            for index, (_, vector) in enumerate(items):
                check_dimension(f"items[{index}].vector", vector, scope, spec)
            async with connection.cursor() as cursor:
                # In a fixed order, so that two writers of the same rows cannot deadlock.
                await cursor.executemany(self._put, [rows[each] for each in sorted(rows)])

        await self._database.change(scope, write)

    async def _get(self, scope: str, ids: list[str]) -> dict[str, VectorItem]:
        found = await self._read_items("scope = %(scope)s AND id = ANY(%(ids)s::text[])", scope=scope, ids=ids)
        by_id = {item.id: item for item in found}
        return {each: by_id[each] for each in ids if each in by_id}

    async def _scan(self, scope: str, after: str | None, limit: int) -> list[VectorItem]:
        where = "scope = %(scope)s AND (%(after)s::text IS NULL OR id > %(after)s::text) ORDER BY id LIMIT %(limit)s"
        return await self._read_items(where, scope=scope, after=after, limit=min(limit, MOST_ROWS))

    async def _read_items(self, where: str, **values: object) -> list[VectorItem]:
        statement = f"SELECT id, given, content, metadata::text FROM {self._items} WHERE {where}".encode()
        rows = await self._rows(statement, values, binary=True)
        return [VectorItem(each, _unpacked(raw), text, exact_json.loads(fields)) for each, raw, text, fields in rows]

    async def _query(self, scopes: list[str], asked: array[float], k: int, where: Filter | None) -> list[Hit]:
        places = {scope: place for place, scope in enumerate(scopes)}
        question = QueryVector(asked)
        passing = "" if where is None else " AND (scope, id) IN (SELECT * FROM unnest(%(of)s::text[], %(ids)s::text[]))"
        statement = (
            f"WITH scored AS MATERIALIZED (SELECT scope, id, {self._near} AS near FROM {self._items} "
            f"WHERE scope = ANY(%(scopes)s::text[]){passing}), "
            "cut AS (SELECT near FROM scored ORDER BY near DESC OFFSET %(behind)s LIMIT 1) "
            f"SELECT scope, id, given, content, metadata::text FROM scored JOIN {self._items} USING (scope, id) "
            "WHERE near >= coalesce((SELECT near FROM cut), -3) - %(margin)s"
        ).encode()
        values: dict[str, object] = {
            "scopes": scopes,
            "asked": _Unit.of(asked),
            "behind": min(k, MOST_ROWS) - 1,
            "margin": 2 * question.margin,
        }

        async def look(connection: AsyncConnection) -> list[tuple[str, str, bytes, str, str]]:
            async with self._database.one_moment(connection):
                specs = await connection.execute(
                    f"SELECT scope, embedder, dimension FROM {self._specs} WHERE scope = ANY(%s::text[])".encode(),
                    [scopes],
                )
                for scope, embedder, dimension in sorted(await specs.fetchall(), key=lambda row: places[row[0]]):
                    check_dimension("vector", asked, scope, ScopeSpec(embedder, dimension))
                if where is not None:
                    matching = await self._matching(connection, scopes, where)
                    values["of"], values["ids"] = [each[0] for each in matching], [each[1] for each in matching]
                return await (await connection.execute(statement, values, binary=True)).fetchall()

        rows = await self._database.read(look)
        if not rows:
            return []
        given = as_rows([_unpacked(row[2]) for row in rows])
        scores = question.exact(given, squared_norms(given)).tolist()
        ranked = sorted(
            (-score, row[1], places[row[0]], number)
            for number, (row, score) in enumerate(zip(rows, scores, strict=True))
        )
        return [
            Hit(item_id, 0.0 - minus, rows[number][3], exact_json.loads(rows[number][4]))
            for minus, item_id, _, number in ranked[:k]
        ]

    async def _delete(self, scope: str, ids: list[str] | None, where: Filter | None) -> int:
        statement = f"DELETE FROM {self._items} WHERE scope = %s AND id = ANY(%s::text[])".encode()

        async def write(connection: AsyncConnection) -> int:
            gone = ids or []
            if where is not None:
                gone = [each for _, each in await self._matching(connection, [scope], where, lock=True)]
            return (await connection.execute(statement, [scope, gone])).rowcount

        return await self._database.change(scope, write)

    async def _count(self, scope: str, where: Filter | None) -> int:
        if where is not None:
            return len(await self._database.read(lambda connection: self._matching(connection, [scope], where)))
        ((number,),) = await self._rows(f"SELECT count(*) FROM {self._items} WHERE scope = %s".encode(), [scope])
        return int(number)

    async def _matching(
        self, connection: AsyncConnection, scopes: list[str], where: Filter, *, lock: bool = False
    ) -> list[tuple[str, str]]:
        """Return scope and id of the items in ``scopes`` that pass the filter. With ``lock``, nobody else may change
        an item of the scopes until the transaction ends."""
        statement = (
            f"SELECT scope, id, metadata::text FROM {self._items} WHERE scope = ANY(%s::text[])"
            f"{' ORDER BY scope, id FOR UPDATE' * lock}"
        ).encode()
        passes = predicate(where)
        rows = await (await connection.execute(statement, [scopes])).fetchall()
        return [(scope, each) for scope, each, fields in rows if passes(exact_json.loads(fields))]


class _Unit(bytes):
    """A vector in pgvector's binary wire format."""

    @classmethod
    def of(cls, vector: array[float]) -> _Unit:
        """Return ``vector`` scaled to unit length. A zero vector stays zero."""
        wide = as_row(vector).astype(np.float64)
        unit = wide / (float(wide @ wide) ** 0.5 or 1.0)
        return cls(struct.pack(">HH", len(vector), 0) + unit.astype(">f4").tobytes())


class _UnitDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: _Unit) -> Buffer | None:
        """Return the bytes unchanged. Statements cast each parameter of this kind, which gives it its type."""
        return obj


psycopg.adapters.register_dumper(_Unit, _UnitDumper)


def _unpacked(raw: bytes) -> array[float]:
    """The vector from little-endian bytes. Raises ``StoreCorrupt`` if they are not finite components."""
    if not raw or len(raw) % 4:
        raise StoreCorrupt(f"a stored vector has {len(raw)} bytes; each component has four")
    vector = from_little_endian(raw)
    if not all(map(isfinite, vector)):
        raise StoreCorrupt("a stored vector has a component that is no number")
    return vector


async def _extension(connection: AsyncConnection) -> tuple[str, str]:
    """Return the schema and the version of pgvector. The extension is created in the database if necessary.

    Raises ``StoreUnavailable`` if pgvector is not installed on the server.
    """
    look = (
        "SELECT quote_ident(nspname), extversion FROM pg_extension JOIN pg_namespace "
        "ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
    )
    row = await (await connection.execute(look)).fetchone()
    if row is None:
        offered = await connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
        if await offered.fetchone() is None:
            raise StoreUnavailable(
                "the PostgreSQL server has no pgvector; install its package there, or keep vectors elsewhere with "
                "storage.vector.backend: sqlite"
            )
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('saga pgvector', 0))")
            await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        row = await (await connection.execute(look)).fetchone()
    assert row is not None
    return row[0], row[1]


async def open_(options: OpenOptions) -> VectorStore:
    """Connect to the database of ``options.url``, and create the pgvector extension if necessary.

    Raises ``StoreError`` and ``BadInput``.
    """
    found = ("", "")

    async def part(connection: AsyncConnection) -> Part:
        nonlocal found
        found = await _extension(connection)
        return Part("vectors", (Migration(_TABLES.replace("{vector}", found[0])),))

    return PostgresVectors(await connected(options, "vector", part), *found)
