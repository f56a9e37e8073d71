"""Stores vectors in Chroma, with one collection per scope. All code runs on the worker's thread.

One metadata value holds the whole item, with its 32-bit vector, its text and its metadata. This is because Chroma has
no null, normalises vectors, and keeps them in index files that a kill can tear (see ``chroma_index``). The embedding
of a Chroma item is the same vector at unit length. Chroma's index is approximate and is not used. A query reads its
scopes completely.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from saga_backends.scoring import Singles, as_rows, squared_norms
from saga_backends.vector import chroma_index
from saga_backends.vector.chroma_items import Block, pack, parse, split
from saga_backends.vector.chroma_items import items as items_of
from saga_backends.vector.engine_folder import EngineFolder, Layout, import_engine
from saga_backends.vector.nearest import Nearest
from saga_backends.vector.packed_item import PackedItem, latest
from saga_backends.vector.threaded import check_same, unknown_scope
from saga_core.capabilities import Capability
from saga_core.errors import Closed, SagaError
from saga_core.stores import Health, Hit, Limits, ScopeSpec, StoreInfo, VectorItem
from saga_core.stores.filters import Predicate
from saga_core.stores.validate import check_dimension

LAYOUT = Layout(
    name="chroma",
    version=1,
    damage=(
        "malformed",
        "corrupt",
        "not a database",
        "hnsw",
        "pickle",
        "hash",
        "backfill",
        "no such table",
        "does not exist",
    ),
)

_SCOPE, _EMBEDDER, _DIMENSION, _ITEM = "saga_scope", "saga_embedder", "saga_dimension", "item"

_BLOCK = 2_000
"""The number of items in memory at a time while a query reads a scope."""

_LOADED = 32
"""The maximum number of open collections. Each takes four open files and some megabytes, and Chroma only closes them
when the process runs out of files."""

_SAVED = 32
"""The number of writes after which Chroma saves the index of a collection. Every write reads all writes since the last
save, and a save rewrites the whole index."""

_TEXT_BYTES = 1_024 * 1_024
"""The maximum size of a value. Chroma also indexes every metadata value, which takes a second per megabyte."""


class ChromaCollections:
    """A ``VectorEngine`` with a Chroma database in the directory ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder = EngineFolder(path, LAYOUT)
        self._mark = chroma_index.WriteMark(path)
        self._specs: dict[str, ScopeSpec] = {}
        self._loaded: dict[str, Any] = {}
        self._order: tuple[str, list[str]] | None = None
        self._batch = Limits().batch
        self._chroma: Any = None
        self._client: Any = None
        self._open = False

    def info(self) -> StoreInfo:
        """The version of the engine, its capabilities and its limits."""
        return StoreInfo(
            kind="vector",
            name=LAYOUT.name,
            version=self._chroma.__version__,
            capabilities=frozenset({Capability.DURABLE}),
            limits=Limits(value_bytes=_TEXT_BYTES, batch=self._batch),
            location=str(self.path),
        )

    def open(self) -> None:
        """Import the engine, lock the directory, repair what a killed process has left, and read the scopes."""
        self._chroma = import_engine("chromadb", LAYOUT.name)
        notes = self._folder.open()
        with self._folder.translated("opening"):
            if notes.get("made") and not (self.path / chroma_index.DATABASE).exists():
                raise self._folder.corrupt(f"{chroma_index.DATABASE} is missing")
            torn = self._mark.left()
            chroma_index.throw_away(self.path, torn)
            chroma_index.sweep(self.path)
            self._client = self._connect()
            self._batch = min(self._batch, self._client.get_max_batch_size())
            self._read_scopes(torn)
        if not notes.get("made"):
            self._folder.note({"made": True})
        self._open = True

    def close(self) -> None:
        """Close the client and release the lock, also after a failed ``open``. Further calls have no effect."""
        self._open = False
        try:
            with self._folder.translated("closing"):
                self._disconnect()
        finally:
            self._folder.close()

    def check(self, thorough: bool) -> Health:
        """Query the engine, or read every item if ``thorough``."""
        try:
            client = self._alive()
            with self._folder.translated("a check"):
                client.count_collections()
            if thorough:
                for name in self._specs:
                    for block in self._blocks(name):
                        items_of(block, self._folder.corrupt)
            size = self._folder.size()
        except Closed:
            raise
        except (SagaError, OSError) as error:
            return Health(ok=False, detail=str(error))
        return Health(ok=True, detail=f"{self.path}: {'every item was read' if thorough else 'readable'}", bytes=size)

    # --- scopes --------------------------------------------------------------------------------------------------

    def create(self, name: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        client = self._alive()
        found = self._specs.get(name)
        if found is not None:
            check_same(name, found, spec)
            return
        with self._folder.translated(f"making scope {name!r}"):
            client.create_collection(
                _collection_name(name),
                embedding_function=None,
                metadata={_SCOPE: name, _EMBEDDER: spec.embedder, _DIMENSION: spec.dimension},
                configuration={"hnsw": {"space": "cosine", "sync_threshold": _SAVED, "batch_size": _SAVED}},
            )
        self._specs[name] = spec

    def describe(self, name: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``."""
        self._alive()
        return self._specs.get(name)

    def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""
        self._alive()
        return sorted(self._specs)

    def drop(self, name: str) -> None:
        """See ``VectorStore.drop``. The index files are removed the next time the store is opened."""
        client = self._alive()
        if name not in self._specs:
            return
        with self._folder.translated(f"dropping scope {name!r}"):
            client.delete_collection(_collection_name(name))
        del self._specs[name]
        self._loaded.pop(name, None)
        self._order = None

    # --- items ---------------------------------------------------------------------------------------------------

    def upsert(self, name: str, items: Sequence[PackedItem]) -> None:
        """See ``VectorStore.upsert``."""
        self._alive()
        spec = self._specs.get(name)
        if spec is None:
            raise unknown_scope(name)
        rows = latest(items, name, spec)
        if rows:
            with self._writing(name) as collection:
                collection.upsert(
                    ids=[item.id for item in rows],
                    embeddings=_units(as_rows([item.vector for item in rows])),
                    metadatas=[{_ITEM: pack(item)} for item in rows],
                )

    def get(self, name: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        self._alive()
        if name not in self._specs:
            return {}
        items: dict[str, VectorItem] = {}
        for start in range(0, len(ids), self._batch):
            block = self._read(name, ids=list(ids[start : start + self._batch]))
            items.update((item.id, item) for item in items_of(block, self._folder.corrupt))
        return {item_id: items[item_id] for item_id in ids if item_id in items}

    def scan(self, name: str, after: str | None, limit: int) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        self._alive()
        if name not in self._specs:
            return []
        if self._order is None or self._order[0] != name:
            self._order = (name, sorted(self._ids(name)))
        ids = self._order[1]
        start = 0 if after is None else bisect_right(ids, after)
        return list(self.get(name, ids[start : start + limit]).values())

    def query(self, names: Sequence[str], asked: array[float], k: int, wanted: Predicate | None) -> list[Hit]:
        """See ``VectorStore.query``. Keeps ``k`` candidates and some thousand items in memory at a time."""
        self._alive()
        nearest = Nearest(asked, k)
        places = {place: name for place, name in enumerate(names) if name in self._specs}
        for name in places.values():
            check_dimension("vector", asked, name, self._specs[name])
        for place, name in places.items():
            for block in self._blocks(name):
                chosen = list(range(len(block.ids))) if wanted is None else self._passing(block, wanted)
                nearest.show(place, [block.ids[index] for index in chosen], chosen, block.vectors[chosen])
        items = {
            place: self.get(name, [item_id for _, item_id, at, _ in nearest.best if at == place])
            for place, name in places.items()
        }
        best = [(score, items[place][item_id]) for score, item_id, place, _ in nearest.best]
        return [Hit(item.id, score, item.text, item.metadata) for score, item in best]

    def delete(self, name: str, ids: Sequence[str] | None, wanted: Predicate | None) -> int:
        """See ``VectorStore.delete``."""
        self._alive()
        if name not in self._specs:
            return 0
        gone = self._ids(name, wanted) if wanted is not None else self._ids(name, ids=ids or ())
        for start in range(0, len(gone), self._batch):
            with self._writing(name) as collection:
                collection.delete(ids=gone[start : start + self._batch])
        return len(gone)

    def count(self, name: str, wanted: Predicate | None) -> int:
        """See ``VectorStore.count``."""
        self._alive()
        if name not in self._specs:
            return 0
        if wanted is not None:
            return len(self._ids(name, wanted))
        collection = self._collection(name)
        with self._folder.translated(f"counting scope {name!r}"):
            number = collection.count()
        assert isinstance(number, int)
        return number

    # --- collections ---------------------------------------------------------------------------------------------

    def _alive(self) -> Any:
        if not self._open:
            raise Closed(f"{self.path}: is closed")
        if self._client is None:
            with self._folder.translated("opening"):
                self._client = self._connect()
        return self._client

    def _connect(self) -> Any:
        settings = self._chroma.config.Settings(
            _env_file=None,
            anonymized_telemetry=False,
            chroma_api_impl="chromadb.api.rust.RustBindingsAPI",
            chroma_otel_collection_endpoint="",
        )
        try:
            return self._chroma.PersistentClient(path=str(self.path), settings=settings)
        except BaseException:
            # Chroma caches the failed client, and would return it the next time the path is opened.
            shared = import_engine("chromadb.api.shared_system_client", LAYOUT.name)
            shared.SharedSystemClient._identifier_to_system.pop(str(self.path), None)
            raise

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        self._loaded = {}
        self._order = None
        if client is not None:
            client.close()

    def _read_scopes(self, torn: Sequence[str]) -> None:
        """Read the scopes, and rebuild the indexes that were removed."""
        for collection in self._client.list_collections():
            fields = collection.metadata or {}
            if _SCOPE in fields:
                self._specs[fields[_SCOPE]] = ScopeSpec(str(fields[_EMBEDDER]), int(fields[_DIMENSION]))
                if collection.name in torn:
                    self._index_again(fields[_SCOPE])
        if torn:
            self._mark.clear()

    def _index_again(self, name: str) -> None:
        collection = self._client.get_collection(_collection_name(name), embedding_function=None)
        ids = collection.get(include=[])["ids"]
        for start in range(0, len(ids), _BLOCK):
            found = collection.get(ids=ids[start : start + _BLOCK], include=["metadatas"])
            block = self._split(name, found)
            collection.upsert(ids=block.ids, embeddings=_units(block.vectors), metadatas=found["metadatas"])

    def _collection(self, name: str) -> Any:
        found = self._loaded.get(name)
        if found is None:
            with self._folder.translated(f"opening scope {name!r}"):
                if len(self._loaded) >= _LOADED:
                    self._disconnect()
                client = self._alive()
                # The first access updates the index, and may save it.
                with self._mark.writing(_collection_name(name)):
                    found = client.get_collection(_collection_name(name), embedding_function=None)
                    found.count()
            self._loaded[name] = found
        return found

    @contextmanager
    def _writing(self, name: str) -> Iterator[Any]:
        collection = self._collection(name)
        self._order = None
        with self._folder.translated(f"writing to scope {name!r}"), self._mark.writing(_collection_name(name)):
            yield collection

    def _ids(self, name: str, wanted: Predicate | None = None, *, ids: Sequence[str] | None = None) -> list[str]:
        """Return the ids of all items, of those that pass the filter, or of those in ``ids`` that exist."""
        if wanted is not None:
            return [block.ids[index] for block in self._blocks(name) for index in self._passing(block, wanted)]
        if ids is not None and not ids:
            return []
        collection = self._collection(name)
        with self._folder.translated(f"reading scope {name!r}"):
            found: list[str] = collection.get(ids=ids, include=[])["ids"]
        return found

    def _passing(self, block: Block, wanted: Predicate) -> list[int]:
        return [index for index, (_, fields) in enumerate(parse(block, self._folder.corrupt)) if wanted(fields)]

    def _blocks(self, name: str) -> Iterator[Block]:
        """The scope's items, some thousand at a time."""
        start = 0
        while True:
            block = self._read(name, limit=_BLOCK, offset=start)
            if block.ids:
                yield block
            if len(block.ids) < _BLOCK:
                return
            start += _BLOCK

    def _read(self, name: str, **which: Any) -> Block:
        collection = self._collection(name)
        with self._folder.translated(f"reading scope {name!r}"):
            found = collection.get(include=["metadatas"], **which)
        return self._split(name, found)

    def _split(self, name: str, found: Any) -> Block:
        return split(found, _ITEM, self._specs[name].dimension, self._folder.corrupt)


def _units(rows: Singles) -> Singles:
    """Return the rows scaled to unit length. Zero rows stay zero."""
    lengths = np.sqrt(squared_norms(rows))
    lengths[lengths == 0] = 1.0
    units: Singles = (rows / lengths[:, None]).astype(np.float32)
    return units


def _collection_name(scope: str) -> str:
    """Return a valid collection name, which is a readable part of the scope followed by a hash."""
    slug = re.sub(r"[^a-z0-9]+", "-", scope.lower()).strip("-")[:40] or "scope"
    return f"{slug}-{hashlib.sha256(scope.encode()).hexdigest()[:32]}"
