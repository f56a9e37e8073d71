"""Vectors in a SQLite file, with exact search by numpy.

The file is written in WAL mode with ``synchronous=normal``. Acknowledged writes survive the end of the process,
including a kill. A power cut may lose the last writes, which are then rebuilt from the journal.

A query reads all items of its scopes, some hundred rows at a time (5 ms CPU for 1,500 vectors of 256 components). The
resident layer keeps them in memory.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from saga_backends import sqlite_file
from saga_backends.path_owner import APPLICATION_IDS
from saga_backends.sqlite_file import MOST_ROWS, OwnFile
from saga_backends.vector.threaded import PackedItem, open_threaded, read_metadata
from saga_backends.vector_bytes import from_little_endian, to_little_endian
from saga_core.capabilities import Capability
from saga_core.errors import StoreCorrupt
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Hit, Scalar, ScopeSpec, StoreInfo, VectorItem, VectorStore
from saga_core.stores.filters import Predicate
from saga_core.stores.validate import check_dimension, check_same_spec, unknown_scope

if TYPE_CHECKING:
    import sqlite_utils

    from saga_backends.scoring import Singles


# --- The tables of the SQLite vector store and the operations on them. All code runs on the worker's thread -------

_OF_SEVERAL = (Capability.SHARED, Capability.COMPACTS)
"""Capabilities of a file that several processes have open. With a single process, the file is deleted instead."""

_CHUNK = 512
"""The number of rows in memory at a time while a query reads a scope."""


def _create_tables(database: sqlite_utils.Database) -> None:
    scopes = {"number": int, "name": str, "embedder": str, "dimension": int}
    database.execute(
        database.create_table_sql("scopes", scopes, pk="number", not_null={"name", "embedder", "dimension"})
    )
    database.execute("CREATE UNIQUE INDEX scopes_by_name ON scopes (name)")
    items = {"scope": int, "id": str, "vector": bytes, "text": str, "metadata": str}
    database.execute(
        database.create_table_sql("items", items, pk=("scope", "id"), not_null={"vector", "text", "metadata"})
    )


SCHEMA = sqlite_file.Schema(application_id=APPLICATION_IDS["vector.sqlite"], migrations=(_create_tables,))

_SCOPE = "SELECT number, embedder, dimension FROM scopes WHERE name = ?"
_PUT = (
    "INSERT INTO items (scope, id, vector, text, metadata) VALUES (?, ?, ?, ?, ?) ON CONFLICT (scope, id) "
    "DO UPDATE SET vector = excluded.vector, text = excluded.text, metadata = excluded.metadata"
)
_GET = "SELECT id, vector, text, metadata FROM items WHERE scope = ? AND id = ?"
_SCAN = "SELECT id, vector, text, metadata FROM items WHERE scope = ? AND id > ? ORDER BY id LIMIT ?"
_VECTORS = "SELECT id, vector, metadata FROM items WHERE scope = ?"
_METADATA = "SELECT id, metadata FROM items WHERE scope = ?"
_DELETE = "DELETE FROM items WHERE scope = ? AND id = ?"


@frozen
class _Scope:
    number: int
    spec: ScopeSpec


class VectorFile(OwnFile):
    """A ``VectorEngine`` with a SQLite file."""

    def __init__(self, path: Path) -> None:
        # It is enough that writes survive the end of the process, as vectors can be rebuilt from the journal.
        remedy = "move it away, and make the vectors anew with `saga rebuild`"
        super().__init__(path, "vector.sqlite", SCHEMA, "normal", remedy)

    def info(self) -> StoreInfo:
        """The version of SQLite and the path of the file."""
        return StoreInfo(
            kind="vector",
            name="sqlite",
            version=sqlite3.sqlite_version,
            capabilities=frozenset({Capability.DURABLE, *(_OF_SEVERAL if self.is_shared else ())}),
            location=str(self.path),
        )

    def open(self) -> None:
        """Lock the file, connect and migrate."""
        try:
            super().open()
        except StoreCorrupt as error:
            raise StoreCorrupt(f"{error}; `saga rebuild` makes the vectors again from the journal") from error

    def create(self, name: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        with self.writing() as connection:
            found = self._scope(connection, name)
            if found is None:
                row = (name, spec.embedder, spec.dimension)
                connection.execute("INSERT INTO scopes (name, embedder, dimension) VALUES (?, ?, ?)", row)
            else:
                check_same_spec(name, found.spec, spec)

    def describe(self, name: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``."""
        with self._reading() as connection:
            found = self._scope(connection, name)
        return found.spec if found else None

    def upsert(self, name: str, items: Sequence[PackedItem]) -> None:
        """See ``VectorStore.upsert``."""
        with self.writing() as connection:
            found = self._scope(connection, name)
            if found is None:
                raise unknown_scope(name)
            for index, item in enumerate(items):
                check_dimension(f"items[{index}].vector", item.vector, name, found.spec)
            rows = ((found.number, item.id, to_little_endian(item.vector), item.text, item.metadata) for item in items)
            connection.executemany(_PUT, rows)

    def get(self, name: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        with self._reading() as connection:
            found = self._scope(connection, name)
            if found is None:
                return {}
            rows = [connection.execute(_GET, (found.number, item_id)).fetchone() for item_id in dict.fromkeys(ids)]
        return {item.id: item for item in self._items([row for row in rows if row is not None], found.spec)}

    def scan(self, name: str, after: str | None, limit: int) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        with self._reading() as connection:
            found = self._scope(connection, name)
            if found is None:
                return []
            rows = connection.execute(_SCAN, (found.number, after or "", min(limit, MOST_ROWS))).fetchall()
        return self._items(rows, found.spec)

    def query(self, names: Sequence[str], asked: array[float], k: int, wanted: Predicate | None) -> list[Hit]:
        """See ``VectorStore.query``. Keeps ``k`` candidates and some hundred rows in memory at a time."""
        from saga_backends.scoring import Nearest  # imported here, so that the start does not pay for numpy

        nearest = Nearest(asked, k)
        with self._reading() as connection:
            for place, name in enumerate(names):
                found = self._scope(connection, name)
                if found is None:
                    continue
                check_dimension("vector", asked, name, found.spec)
                for ids, vectors in self._chunks(connection, found, wanted):
                    nearest.show(place, ids, [found.number] * len(ids), vectors)
            best = nearest.best
            rows = [connection.execute(_GET, (number, item_id)).fetchone() for _, item_id, _, number in best]
        metadata = self._metadata([(row[0], row[3]) for row in rows])
        return [Hit(row[0], entry[0], row[2], fields) for entry, row, fields in zip(best, rows, metadata, strict=True)]

    def delete(self, name: str, ids: Sequence[str] | None, wanted: Predicate | None) -> int:
        """See ``VectorStore.delete``."""
        with self.writing() as connection:
            found = self._scope(connection, name)
            if found is None:
                return 0
            gone = list(ids) if ids is not None else self._matching(connection, found, wanted)
            return (
                connection.executemany(_DELETE, [(found.number, item_id) for item_id in gone]).rowcount if gone else 0
            )

    def count(self, name: str, wanted: Predicate | None) -> int:
        """See ``VectorStore.count``."""
        with self._reading() as connection:
            found = self._scope(connection, name)
            if found is None:
                return 0
            if wanted is not None:
                return len(self._matching(connection, found, wanted))
            (number,) = connection.execute("SELECT count(*) FROM items WHERE scope = ?", (found.number,)).fetchone()
        assert isinstance(number, int)
        return number

    def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""
        with self._reading() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM scopes ORDER BY name")]

    def drop(self, name: str) -> None:
        """See ``VectorStore.drop``."""
        with self.writing() as connection:
            found = self._scope(connection, name)
            if found is not None:
                connection.execute("DELETE FROM items WHERE scope = ?", (found.number,))
                connection.execute("DELETE FROM scopes WHERE number = ?", (found.number,))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection for consistent reads.

        All calls run in order on one thread, so nothing changes between the reads of a call. If other processes write
        too, the reads are in a transaction.
        """
        with self.connected() as connection:
            if self.is_shared:
                connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if self.is_shared:
                    sqlite_file.rollback(connection)

    def _scope(self, connection: sqlite3.Connection, name: str) -> _Scope | None:
        row = connection.execute(_SCOPE, (name,)).fetchone()
        return _Scope(row[0], ScopeSpec(row[1], row[2])) if row else None

    def _chunks(
        self, connection: sqlite3.Connection, scope: _Scope, wanted: Predicate | None
    ) -> Iterator[tuple[list[str], Singles]]:
        """Yield the ids and vectors of the items that pass the filter, some hundred at a time."""
        import numpy as np

        cursor = connection.execute(_VECTORS, (scope.number,))
        while rows := cursor.fetchmany(_CHUNK):
            if wanted is not None:
                metadata = self._metadata([(row[0], row[2]) for row in rows])
                rows = [row for row, fields in zip(rows, metadata, strict=True) if wanted(fields)]
            self._check_widths(rows, scope.spec)
            if rows:
                block = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4")
                yield [row[0] for row in rows], block.astype(np.float32, copy=False).reshape(len(rows), -1)

    def _matching(self, connection: sqlite3.Connection, scope: _Scope, wanted: Predicate | None) -> list[str]:
        rows = connection.execute(_METADATA, (scope.number,)).fetchall()
        if wanted is None:
            return [item_id for item_id, _ in rows]
        return [item_id for (item_id, _), fields in zip(rows, self._metadata(rows), strict=True) if wanted(fields)]

    def _items(self, rows: Sequence[tuple[str, bytes, str, str]], spec: ScopeSpec) -> list[VectorItem]:
        self._check_widths(rows, spec)
        metadata = self._metadata([(row[0], row[3]) for row in rows])
        return [
            VectorItem(row[0], from_little_endian(row[1]), row[2], fields)
            for row, fields in zip(rows, metadata, strict=True)
        ]

    def _check_widths(self, rows: Sequence[tuple[Any, ...]], spec: ScopeSpec) -> None:
        width = spec.dimension * 4
        for item_id, blob, *_ in rows:
            if len(blob) != width:
                raise self._corrupt(f"item {item_id!r} is damaged: its vector has {len(blob)} bytes and not {width}")

    def _metadata(self, rows: Sequence[tuple[str, str]]) -> list[Mapping[str, Scalar]]:
        """Parse the metadata of items, given as pairs of id and JSON."""
        return read_metadata([row[0] for row in rows], [row[1] for row in rows], self._corrupt)

    def _corrupt(self, what: str) -> StoreCorrupt:
        return StoreCorrupt(f"{self.path}: {what}; move the file away, and make the vectors anew with `saga rebuild`")


async def _open(options: OpenOptions) -> VectorStore:
    return await open_threaded("sqlite", options, VectorFile, place="a file")


BACKEND = Backend(
    kind="vector",
    name="sqlite",
    open=_open,
    summary="one SQLite file, exact search by numpy; the default",
    warm_up=("numpy", "saga_backends.scoring"),
)
