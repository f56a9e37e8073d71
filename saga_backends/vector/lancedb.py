"""Vectors in LanceDB, an embedded database of columnar files.

Acknowledged data survives the end of the process, including a kill. The engine does not wait for the disk, so a power
cut may lose the last writes. A query reads its scopes completely and scores them exactly. The engine's own search works
in 32 bits, does not order ties by id, and takes as long.
"""

from __future__ import annotations

import re
import shutil
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, frozen

from saga_backends.scoring import Nearest, Singles
from saga_backends.vector.engine_folder import EngineFolder, FolderLayout, import_engine
from saga_backends.vector.threaded import PackedItem, latest, open_threaded, read_metadata
from saga_core.capabilities import Capability
from saga_core.errors import Closed, SagaError
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Health, Hit, ScopeSpec, StoreInfo, VectorItem, VectorStore
from saga_core.stores.filters import Predicate
from saga_core.stores.validate import check_dimension, check_same_spec, unknown_scope

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
# opened. Rows are found by the engine's row ids. Its filter language is only used to delete rows.

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

_WRITES = 32
"""Every write creates a file. After this many writes (more for a large table), the files are merged into one."""

_ROWS_A_WRITE = 500
_AT_ONCE = timedelta(milliseconds=1)
"""The smallest age that the engine accepts without a warning about concurrent readers, which do not exist here."""


@frozen
class _Scope:
    table: str
    spec: ScopeSpec


@define(eq=False)
class _Table:
    """An open table and its number of files."""

    handle: Any
    writes: int


@frozen(eq=False)
class _Order:
    """The sorted ids of a scope with their row ids. Kept for the last scope read, until that scope is written."""

    scope: str
    ids: list[str]
    rows: dict[str, int]


class LanceTables:
    """A ``VectorEngine`` with a LanceDB database in the directory ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder = EngineFolder(path, LAYOUT)
        self._scopes: dict[str, _Scope] = {}
        self._next = 1
        self._tables: dict[str, _Table] = {}
        self._order: _Order | None = None
        self._database: Any = None
        self._lance: Any = None
        self._arrow: Any = None
        self._column: Any = None

    def info(self) -> StoreInfo:
        """The version of the engine and its capabilities."""
        return StoreInfo(
            kind="vector",
            name=LAYOUT.name,
            version=self._lance.__version__,
            capabilities=frozenset({Capability.DURABLE}),
            location=str(self.path),
        )

    def open(self) -> None:
        """Import the engine, lock the directory, and remove incomplete tables of a killed process."""
        self._lance = import_engine("lancedb", LAYOUT.name)
        self._arrow = import_engine("pyarrow", LAYOUT.name)
        self._column = import_engine("lancedb.expr", LAYOUT.name).col
        notes = self._folder.open()
        self._scopes, self._next = self._read_notes(notes)
        with self._folder.translated("opening"):
            # By default, the caches of the engine may take gigabytes.
            session = self._lance.Session(
                index_cache_size_bytes=_INDEX_CACHE, metadata_cache_size_bytes=_METADATA_CACHE
            )
            database = self._lance.connect(str(self.path), session=session)
            self._sweep()
        self._database = database

    def close(self) -> None:
        """Close the database and release the lock, also after a failed ``open``. Further calls have no effect."""
        self._tables = {}
        self._order = None
        self._database = None
        self._folder.close()

    def check(self, thorough: bool) -> Health:
        """Open a table, or read every item if ``thorough``."""
        try:
            self._alive()
            names = list(self._scopes) if thorough else list(self._scopes)[:1]
            for name in names:
                scope = self._scopes[name]
                if not thorough:
                    self._table(name, scope)
                    continue
                for block in self._blocks(name, scope, ("id", "vector", "text", "metadata")):
                    _items_of(block, scope.spec, self._folder.corrupt)
            size = self._folder.size()
        except Closed:
            raise
        except (SagaError, OSError) as error:
            return Health(ok=False, detail=str(error))
        return Health(ok=True, detail=f"{self.path}: {'every item was read' if thorough else 'readable'}", bytes=size)

    # --- scopes --------------------------------------------------------------------------------------------------

    def create(self, name: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        database = self._alive()
        found = self._scopes.get(name)
        if found is not None:
            check_same_spec(name, found.spec, spec)
            return
        scope = _Scope(f"{self._next:06}-{_slug(name)}", spec)
        self._next += 1
        with self._folder.translated(f"making scope {name!r}"):
            database.create_table(scope.table, schema=_arrow_schema(self._arrow, spec))
        self._write_notes({**self._scopes, name: scope})

    def describe(self, name: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``."""
        self._alive()
        found = self._scopes.get(name)
        return found.spec if found else None

    def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""
        self._alive()
        return sorted(self._scopes)

    def drop(self, name: str) -> None:
        """See ``VectorStore.drop``."""
        database = self._alive()
        found = self._scopes.get(name)
        if found is None:
            return
        self._write_notes({other: scope for other, scope in self._scopes.items() if other != name})
        with self._folder.translated(f"dropping scope {name!r}"):
            self._forget(name)
            database.drop_table(found.table)

    # --- items ---------------------------------------------------------------------------------------------------

    def upsert(self, name: str, items: Sequence[PackedItem]) -> None:
        """See ``VectorStore.upsert``."""
        self._alive()
        found = self._scopes.get(name)
        if found is None:
            raise unknown_scope(name)
        rows = latest(items, name, found.spec)
        if not rows:
            return
        with self._writing(name, found) as handle:
            merge = handle.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.execute(_arrow_rows(self._arrow, rows, found.spec))

    def get(self, name: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        self._alive()
        found = self._scopes.get(name)
        if found is None or not ids:
            return {}
        rows = self._ordered(name, found).rows
        items = self._take(name, found, [rows[item_id] for item_id in ids if item_id in rows])
        return {item_id: items[item_id] for item_id in ids if item_id in items}

    def scan(self, name: str, after: str | None, limit: int) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        self._alive()
        found = self._scopes.get(name)
        if found is None:
            return []
        order = self._ordered(name, found)
        start = 0 if after is None else bisect_right(order.ids, after)
        page = order.ids[start : start + limit]
        items = self._take(name, found, [order.rows[item_id] for item_id in page])
        return [items[item_id] for item_id in page]

    def query(self, names: Sequence[str], asked: array[float], k: int, wanted: Predicate | None) -> list[Hit]:
        """See ``VectorStore.query``. Keeps ``k`` candidates and some thousand rows in memory at a time."""
        self._alive()
        nearest = Nearest(asked, k)
        places = {place: name for place, name in enumerate(names) if name in self._scopes}
        for name in places.values():
            check_dimension("vector", asked, name, self._scopes[name].spec)
        columns = ("id", "vector") if wanted is None else ("id", "vector", "metadata")
        for place, name in places.items():
            found = self._scopes[name]
            for block in self._blocks(name, found, columns):
                ids, numbers = block.column("id").to_pylist(), block.column("_rowid").to_pylist()
                vectors = _vectors_of(block, found.spec)
                if wanted is not None:
                    fields = read_metadata(ids, block.column("metadata").to_pylist(), self._folder.corrupt)
                    passing = [index for index, each in enumerate(fields) if wanted(each)]
                    ids = [ids[index] for index in passing]
                    numbers = [numbers[index] for index in passing]
                    vectors = vectors[passing]
                nearest.show(place, ids, numbers, vectors)
        items = {
            place: self._take(name, self._scopes[name], [number for _, _, at, number in nearest.best if at == place])
            for place, name in places.items()
        }
        best = [(score, items[place][item_id]) for score, item_id, place, _ in nearest.best]
        return [Hit(item.id, score, item.text, item.metadata) for score, item in best]

    def delete(self, name: str, ids: Sequence[str] | None, wanted: Predicate | None) -> int:
        """See ``VectorStore.delete``."""
        self._alive()
        found = self._scopes.get(name)
        if found is None:
            return 0
        if wanted is not None:
            gone = self._passing(name, found, wanted)
        else:
            rows = self._ordered(name, found).rows
            gone = [item_id for item_id in ids or () if item_id in rows]
        if gone:
            with self._writing(name, found) as handle:
                handle.delete(self._column("id").isin(gone))
        return len(gone)

    def count(self, name: str, wanted: Predicate | None) -> int:
        """See ``VectorStore.count``."""
        self._alive()
        found = self._scopes.get(name)
        if found is None:
            return 0
        if wanted is not None:
            return len(self._passing(name, found, wanted))
        with self._folder.translated(f"counting scope {name!r}"):
            number = self._table(name, found).handle.count_rows()
        assert isinstance(number, int)
        return number

    # --- tables --------------------------------------------------------------------------------------------------

    def _alive(self) -> Any:
        if self._database is None:
            raise Closed(f"{self.path}: is closed")
        return self._database

    def _table(self, name: str, scope: _Scope) -> _Table:
        """Open the table of a scope. If too many tables are open, the least recently used one is closed."""
        table = self._tables.pop(name, None)
        if table is None:
            with self._folder.translated(f"opening scope {name!r}", reading=True):
                handle = self._alive().open_table(scope.table)
                table = _Table(handle, handle.stats()["fragment_stats"]["num_fragments"])
            while len(self._tables) >= _OPEN_TABLES:
                del self._tables[next(iter(self._tables))]
        self._tables[name] = table
        return table

    def _forget(self, name: str) -> None:
        self._tables.pop(name, None)
        if self._order is not None and self._order.scope == name:
            self._order = None

    @contextmanager
    def _writing(self, name: str, scope: _Scope) -> Iterator[Any]:
        """Give the table for one write. If the write fails, the cached table and ids are dropped."""
        table = self._table(name, scope)
        if self._order is not None and self._order.scope == name:
            self._order = None
        try:
            with self._folder.translated(f"writing to scope {name!r}"):
                yield table.handle
            table.writes += 1
            if table.writes >= _WRITES:
                with self._folder.translated(f"compacting scope {name!r}"):
                    self._compact(table)
        except BaseException:
            self._forget(name)
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

    def _ordered(self, name: str, scope: _Scope) -> _Order:
        if self._order is None or self._order.scope != name:
            rows: dict[str, int] = {}
            for block in self._blocks(name, scope, ("id",)):
                rows.update(zip(block.column("id").to_pylist(), block.column("_rowid").to_pylist(), strict=True))
            self._order = _Order(name, sorted(rows), rows)
        return self._order

    def _passing(self, name: str, scope: _Scope, wanted: Predicate) -> list[str]:
        passing: list[str] = []
        for block in self._blocks(name, scope, ("id", "metadata")):
            ids = block.column("id").to_pylist()
            fields = read_metadata(ids, block.column("metadata").to_pylist(), self._folder.corrupt)
            passing += [item_id for item_id, each in zip(ids, fields, strict=True) if wanted(each)]
        return passing

    def _blocks(self, name: str, scope: _Scope, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of the scope with their row ids, some thousand at a time."""
        with self._folder.translated(f"reading scope {name!r}", reading=True):
            rows = self._table(name, scope).handle.search().select(list(columns)).with_row_id(True)
            reader = rows.to_batches(_BLOCK)
        while True:
            with self._folder.translated(f"reading scope {name!r}", reading=True):
                block = next(reader, None)
            if block is None:
                return
            yield block

    def _take(self, name: str, scope: _Scope, rows: Sequence[int]) -> dict[str, VectorItem]:
        if not rows:
            return {}
        with self._folder.translated(f"reading scope {name!r}", reading=True):
            blocks = self._table(name, scope).handle.take_row_ids(list(rows)).to_arrow().to_batches()
        return {item.id: item for block in blocks for item in _items_of(block, scope.spec, self._folder.corrupt)}

    # --- the label -----------------------------------------------------------------------------------------------

    def _read_notes(self, notes: Mapping[str, Any]) -> tuple[dict[str, _Scope], int]:
        try:
            scopes = {
                name: _Scope(str(entry["table"]), ScopeSpec(str(entry["embedder"]), int(entry["dimension"])))
                for name, entry in notes.get("scopes", {}).items()
            }
            return scopes, int(notes.get("next", 1))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._folder.corrupt(f"the label's notes are not a list of scopes ({error!r})") from error

    def _write_notes(self, scopes: Mapping[str, _Scope]) -> None:
        entries = {
            name: {"table": scope.table, "embedder": scope.spec.embedder, "dimension": scope.spec.dimension}
            for name, scope in scopes.items()
        }
        self._folder.note({"next": self._next, "scopes": entries})
        self._scopes = dict(scopes)

    def _sweep(self) -> None:
        """Remove tables without a scope. They remain if the process ends while a scope is created or dropped."""
        known = {scope.table for scope in self._scopes.values()}
        for entry in self.path.glob("*.lance"):
            if entry.stem not in known:
                shutil.rmtree(entry)


def _slug(name: str) -> str:
    """Return a readable part of the scope's name, for users who look at the files."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "scope"


async def _open(options: OpenOptions) -> VectorStore:
    return await open_threaded("lancedb", options, LanceTables)


BACKEND = Backend(
    kind="vector",
    name="lancedb",
    open=_open,
    summary="LanceDB tables in a directory, exact search",
    extra="lancedb",
)
