"""Vectors in LanceDB, an embedded database of columnar files.

Acknowledged data survives the end of the process, including a kill. The engine does not wait for the disk, so a power
cut may lose the last writes. A query reads its scopes completely and scores them exactly. The engine's own search works
in 32 bits, does not order ties by id, and takes as long.
"""

from __future__ import annotations

import shutil
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, define, frozen
from cattrs import Converter

from saga_backends.scoring import Singles
from saga_backends.vector.engine_folder import FolderEngine, FolderLayout, import_engine, slug
from saga_backends.vector.threaded import Block, PackedItem, open_threaded, read_metadata
from saga_core.codec import UNREADABLE
from saga_core.errors import SagaError
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Scalar, ScopeSpec, VectorItem, VectorStore

# --- Items as the rows of a LanceDB table, in Arrow's terms. ``arrow`` is the module ``pyarrow`` ------------------


def _arrow_schema(arrow: Any, spec: ScopeSpec) -> Any:
    """The columns of a scope's table; none may be null."""
    kinds = {
        "id": arrow.string(),
        "vector": arrow.list_(arrow.float32(), spec.dimension),
        "text": arrow.string(),
        "metadata": arrow.string(),
    }
    return arrow.schema([arrow.field(name, kind, nullable=False) for name, kind in kinds.items()])


def _arrow_rows(arrow: Any, items: Sequence[PackedItem], spec: ScopeSpec) -> Any:
    """An Arrow table of the items."""
    numbers = np.frombuffer(b"".join(item.vector for item in items), dtype=np.float32)
    columns = [
        arrow.array([item.id for item in items], arrow.string()),
        arrow.FixedSizeListArray.from_arrays(arrow.array(numbers), spec.dimension),
        arrow.array([item.text for item in items], arrow.string()),
        arrow.array([item.metadata for item in items], arrow.string()),
    ]
    return arrow.table(columns, schema=_arrow_schema(arrow, spec))


def _vectors_of(block: Any, spec: ScopeSpec) -> Singles:
    """The vectors of a block of rows, one a row."""
    numbers: Singles = block.column("vector").flatten().to_numpy(zero_copy_only=False)
    return numbers.reshape(-1, spec.dimension)


def _items_of(block: Any, spec: ScopeSpec, corrupt: Callable[[str], SagaError]) -> list[VectorItem]:
    """The items of a block of rows. Raises what ``corrupt`` makes for metadata that are no JSON."""
    ids = block.column("id").to_pylist()
    fields = read_metadata(ids, block.column("metadata").to_pylist(), corrupt)
    return [
        VectorItem(item_id, array("f", row.tobytes()), text, each)
        for item_id, row, text, each in zip(
            ids, _vectors_of(block, spec), block.column("text").to_pylist(), fields, strict=True
        )
    ]


# --- Stores vectors in LanceDB, with one table per scope. All code runs on the worker's thread --------------------
#
# The label of the folder, not the engine, records the table of each scope. The label is replaced atomically, so a scope
# either exists or not, even if the process is killed. A table without a scope is removed the next time the store is
# opened. No text of a filter is written: the engine's expressions take ids as values.

LAYOUT = FolderLayout(
    name="lancedb",
    version=1,
    damage=("corrupt", "not found"),
)

_BLOCK = 2_048
"""The number of rows in memory at a time while a query reads a scope."""

_OPEN_TABLES = 64
_METADATA_CACHE = 8 * 1_024 * 1_024
_INDEX_CACHE = 1_024 * 1_024

_CONVERTER = Converter(detailed_validation=False)

_WRITES = 32
"""Every write creates a file. After this many writes (more for a large table), the files are merged into one."""

_ROWS_A_WRITE = 500
_AT_ONCE = timedelta(milliseconds=1)
"""The smallest age that the engine accepts without a warning about concurrent readers, which do not exist here."""


@frozen
class _Scope:
    """What the label says of a scope."""

    table: str
    embedder: str
    dimension: int


@define(eq=False)
class _Table:
    """An open table and its number of files."""

    handle: Any
    writes: int


class LanceTables(FolderEngine):
    """A ``VectorEngine`` with a LanceDB database in the directory ``path``."""

    layout = LAYOUT

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._scopes: dict[str, _Scope] = {}
        self._next = 1
        self._tables: dict[str, _Table] = {}
        self._database: Any = None
        self._arrow: Any = None
        self._column: Any = None

    def open(self) -> None:
        """Import the engine, lock the directory, and remove incomplete tables of a killed process."""
        lance = import_engine("lancedb", LAYOUT.name)
        self._version = lance.__version__
        self._arrow = import_engine("pyarrow", LAYOUT.name)
        self._column = import_engine("lancedb.expr", LAYOUT.name).col
        self._read_notes(self._folder.open())
        with self._folder.translated("opening"):
            # By default, the caches of the engine may take gigabytes.
            session = lance.Session(index_cache_size_bytes=_INDEX_CACHE, metadata_cache_size_bytes=_METADATA_CACHE)
            database = lance.connect(str(self.path), session=session)
            self._sweep()
        self._database, self._open = database, True

    def close(self) -> None:
        """Close the database and release the lock, also after a failed ``open``. Further calls have no effect."""
        self._tables = {}
        self._order = self._database = None
        self._open = False
        self._folder.close()

    def put(self, name: str, spec: ScopeSpec, items: Sequence[PackedItem]) -> None:
        """See ``VectorEngine.put``."""
        with self._writing(name) as handle:
            merge = handle.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.execute(_arrow_rows(self._arrow, items, spec))

    def get(self, name: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        spec = self.spec(name)
        if spec is None or not ids:
            return {}
        found: dict[str, VectorItem] = {}
        for block in self._rows(name, ("id", "vector", "text", "metadata"), ids):
            found.update((item.id, item) for item in _items_of(block, spec, self._folder.corrupt))
        return {item_id: found[item_id] for item_id in ids if item_id in found}

    def blocks(self, name: str, spec: ScopeSpec, *, filtered: bool) -> Iterator[Block]:
        """See ``VectorEngine.blocks``."""
        for rows in self._rows(name, ("id", "vector", "metadata") if filtered else ("id", "vector")):
            ids = rows.column("id").to_pylist()
            yield Block(ids, _vectors_of(rows, spec), partial(self._fields, ids, rows))

    def remove(self, name: str, ids: Sequence[str]) -> int:
        """See ``VectorEngine.remove``."""
        before = self.number(name)
        with self._writing(name) as handle:
            handle.delete(self._column("id").isin(list(ids)))
        return before - self.number(name)

    def number(self, name: str) -> int:
        """See ``VectorEngine.number``."""
        with self._folder.translated(f"counting scope {name!r}"):
            return int(self._table(name).handle.count_rows())

    # --- tables --------------------------------------------------------------------------------------------------

    def _make(self, name: str, spec: ScopeSpec) -> None:
        scope = _Scope(f"{self._next:06}-{slug(name)}", spec.embedder, spec.dimension)
        self._next += 1
        with self._folder.translated(f"making scope {name!r}"):
            self._database.create_table(scope.table, schema=_arrow_schema(self._arrow, spec))
        self._write_notes({**self._scopes, name: scope})

    def _discard(self, name: str) -> None:
        table = self._scopes[name].table
        self._write_notes({other: scope for other, scope in self._scopes.items() if other != name})
        del self._specs[name]
        self._tables.pop(name, None)
        with self._folder.translated(f"dropping scope {name!r}"):
            self._database.drop_table(table)

    def _look(self) -> None:
        for name in list(self._scopes)[:1]:
            self._table(name)

    def _ids(self, name: str) -> list[str]:
        return [item_id for rows in self._rows(name, ("id",)) for item_id in rows.column("id").to_pylist()]

    def _fields(self, ids: Sequence[str], rows: Any) -> list[Mapping[str, Scalar]]:
        return read_metadata(ids, rows.column("metadata").to_pylist(), self._folder.corrupt)

    def _table(self, name: str) -> _Table:
        """Open the table of a scope. If too many tables are open, the least recently used one is closed."""
        table = self._tables.pop(name, None)
        if table is None:
            with self._folder.translated(f"opening scope {name!r}", reading=True):
                handle = self._database.open_table(self._scopes[name].table)
                table = _Table(handle, handle.stats()["fragment_stats"]["num_fragments"])
            while len(self._tables) >= _OPEN_TABLES:
                del self._tables[next(iter(self._tables))]
        self._tables[name] = table
        return table

    @contextmanager
    def _writing(self, name: str) -> Iterator[Any]:
        """Give the table for one write. If the write fails, it is opened anew."""
        table = self._table(name)
        self._order = None
        try:
            with self._folder.translated(f"writing to scope {name!r}"):
                yield table.handle
            table.writes += 1
            if table.writes >= _WRITES:
                with self._folder.translated(f"compacting scope {name!r}"):
                    self._compact(table)
        except BaseException:
            self._tables.pop(name, None)
            raise

    def _compact(self, table: _Table) -> None:
        if table.writes < _WRITES + table.handle.count_rows() // _ROWS_A_WRITE:
            return
        # The folder is locked, so nothing needs older versions or files of killed processes. The pause is needed
        # because a version from the last millisecond would be kept with all of its files.
        table.handle.optimize()
        time.sleep(2 * _AT_ONCE.total_seconds())
        table.handle.optimize(cleanup_older_than=_AT_ONCE, delete_unverified=True)
        table.writes = 1

    def _rows(self, name: str, columns: Sequence[str], ids: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield rows of the scope, some thousand at a time: all of them, or those of ``ids``."""
        with self._folder.translated(f"reading scope {name!r}", reading=True):
            search = self._table(name).handle.search().select(list(columns))
            if ids is not None:
                search = search.where(self._column("id").isin(list(ids)))
            reader = search.to_batches(_BLOCK)
        while True:
            with self._folder.translated(f"reading scope {name!r}", reading=True):
                rows = next(reader, None)
            if rows is None:
                return
            yield rows

    # --- the label -----------------------------------------------------------------------------------------------

    def _read_notes(self, notes: Mapping[str, Any]) -> None:
        try:
            self._scopes = _CONVERTER.structure(notes.get("scopes", {}), dict[str, _Scope])
            self._next = int(notes.get("next", 1))
        except UNREADABLE as error:
            raise self._folder.corrupt(f"the label's notes are not a list of scopes ({error!r})") from error
        self._specs = {name: ScopeSpec(scope.embedder, scope.dimension) for name, scope in self._scopes.items()}

    def _write_notes(self, scopes: dict[str, _Scope]) -> None:
        self._folder.note({"next": self._next, "scopes": {name: asdict(scope) for name, scope in scopes.items()}})
        self._scopes = scopes

    def _sweep(self) -> None:
        """Remove tables without a scope. They remain if the process ends while a scope is created or dropped."""
        known = {scope.table for scope in self._scopes.values()}
        for entry in self.path.glob("*.lance"):
            if entry.stem not in known:
                shutil.rmtree(entry)


async def _open(options: OpenOptions) -> VectorStore:
    return await open_threaded("lancedb", options, LanceTables)


BACKEND = Backend(
    kind="vector",
    name="lancedb",
    open=_open,
    summary="LanceDB tables in a directory, exact search",
    extra="lancedb",
)
