"""Vectors in a SQLite file, with exact search by numpy.

The file is written in WAL mode with ``synchronous=normal``. Acknowledged writes survive the end of the process,
including a kill. A power cut may lose the last writes, which are then rebuilt from the journal.

A query reads all items of its scopes, some hundred rows at a time (5 ms CPU for 1,500 vectors of 256 components). The
resident layer keeps them in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saga_backends import sqlite_file
from saga_backends.path_owner import APPLICATION_IDS
from saga_backends.sqlite_file import MOST_ROWS, OwnFile
from saga_backends.vector.threaded import Block, PackedItem, VectorEngine, open_threaded, read_metadata
from saga_backends.vector_bytes import from_little_endian, to_little_endian
from saga_core.capabilities import Capability
from saga_core.errors import StoreCorrupt
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Scalar, ScopeSpec, StoreInfo, VectorItem, VectorStore
from saga_core.stores.validate import check_same_spec

if TYPE_CHECKING:
    import sqlite_utils


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

_HERE = "scope = (SELECT number FROM scopes WHERE name = ?)"
_PUT = (
    "INSERT INTO items (scope, id, vector, text, metadata) "
    "VALUES ((SELECT number FROM scopes WHERE name = ?), ?, ?, ?, ?) ON CONFLICT (scope, id) "
    "DO UPDATE SET vector = excluded.vector, text = excluded.text, metadata = excluded.metadata"
)
_ITEM = "SELECT id, vector, text, metadata FROM items"


class VectorFile(OwnFile, VectorEngine):
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
            found = self.spec(name)
            if found is None:
                row = (name, spec.embedder, spec.dimension)
                connection.execute("INSERT INTO scopes (name, embedder, dimension) VALUES (?, ?, ?)", row)
            else:
                check_same_spec(name, found, spec)

    def spec(self, name: str) -> ScopeSpec | None:
        """See ``VectorEngine.spec``."""
        with self.connected() as connection:
            row = connection.execute("SELECT embedder, dimension FROM scopes WHERE name = ?", (name,)).fetchone()
        return ScopeSpec(*row) if row else None

    def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""
        with self.connected() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM scopes ORDER BY name")]

    def drop(self, name: str) -> None:
        """See ``VectorStore.drop``."""
        with self.writing() as connection:
            connection.execute(f"DELETE FROM items WHERE {_HERE}", (name,))
            connection.execute("DELETE FROM scopes WHERE name = ?", (name,))

    def put(self, name: str, spec: ScopeSpec, items: Sequence[PackedItem]) -> None:
        """See ``VectorEngine.put``."""
        rows = ((name, item.id, to_little_endian(item.vector), item.text, item.metadata) for item in items)
        with self.connected() as connection:
            connection.executemany(_PUT, rows)

    def get(self, name: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        statement = f"{_ITEM} WHERE {_HERE} AND id = ?"
        with self.reading() as connection:
            found = [connection.execute(statement, (name, item_id)).fetchone() for item_id in ids]
            return {item.id: item for item in self._items(name, [row for row in found if row is not None])}

    def scan(self, name: str, after: str | None, limit: int) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        statement = f"{_ITEM} WHERE {_HERE} AND id > ? ORDER BY id LIMIT ?"
        with self.reading() as connection:
            return self._items(name, connection.execute(statement, (name, after or "", min(limit, MOST_ROWS))))

    def blocks(self, name: str, spec: ScopeSpec, *, filtered: bool) -> Iterator[Block]:
        """See ``VectorEngine.blocks``."""
        import numpy as np

        with self.connected() as connection:
            cursor = connection.execute(f"SELECT id, vector, metadata FROM items WHERE {_HERE}", (name,))
        while True:
            with self.connected():
                rows = cursor.fetchmany(_CHUNK)
            if not rows:
                return
            self._check_widths(rows, spec)
            vectors = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").astype(np.float32, copy=False)
            yield Block([row[0] for row in rows], vectors.reshape(len(rows), -1), partial(self._metadata, rows))

    def remove(self, name: str, ids: Sequence[str]) -> int:
        """See ``VectorEngine.remove``."""
        with self.connected() as connection:
            rows = [(name, item_id) for item_id in ids]
            return connection.executemany(f"DELETE FROM items WHERE {_HERE} AND id = ?", rows).rowcount

    def number(self, name: str) -> int:
        """See ``VectorEngine.number``."""
        with self.connected() as connection:
            (number,) = connection.execute(f"SELECT count(*) FROM items WHERE {_HERE}", (name,)).fetchone()
        return int(number)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection for consistent reads.

        All calls run in order on one thread, so nothing changes between the reads of a call. If other processes write
        too, the reads are in a transaction.
        """
        with self.connected() as connection:
            if begins := self.is_shared and not connection.in_transaction:
                connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if begins:
                    connection.rollback()

    def _items(self, name: str, found: Iterable[tuple[str, bytes, str, str]]) -> list[VectorItem]:
        rows, spec = list(found), self.spec(name)
        if spec is None:
            return []
        self._check_widths(rows, spec)
        return [
            VectorItem(row[0], from_little_endian(row[1]), row[2], fields)
            for row, fields in zip(rows, self._metadata(rows), strict=True)
        ]

    def _check_widths(self, rows: Sequence[tuple[Any, ...]], spec: ScopeSpec) -> None:
        width = spec.dimension * 4
        for item_id, blob, *_ in rows:
            if len(blob) != width:
                raise self._corrupt(f"item {item_id!r} is damaged: its vector has {len(blob)} bytes and not {width}")

    def _metadata(self, rows: Sequence[tuple[Any, ...]]) -> list[Mapping[str, Scalar]]:
        """Parse the metadata of rows, which is their last column."""
        return read_metadata([row[0] for row in rows], [row[-1] for row in rows], self._corrupt)

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
