"""Vectors in Chroma, an embedded vector database.

Acknowledged data survives the end of the process, including a kill. A power cut may lose the last writes. Search is
exact, as everywhere in SAGA. Chroma's own search is approximate and not used, so a query reads its scopes completely
and takes time in proportion to their size. A resident layer in front answers from memory.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import shutil
import sqlite3
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from attrs import frozen

from saga_backends.scoring import Singles, as_rows, squared_norms
from saga_backends.vector.engine_folder import FolderEngine, FolderLayout, import_engine, slug
from saga_backends.vector.threaded import Block, PackedItem, open_threaded, read_together
from saga_core.errors import SagaError
from saga_core.registry import Backend, OpenOptions
from saga_core.replacing import replace_file
from saga_core.stores import Limits, ScopeSpec, VectorItem, VectorStore

# --- Detects index files of Chroma that are torn after a kill, and has them rebuilt -------------------------------
#
# Every few writes, Chroma rewrites the index of a collection in place, as five files one after the other. If the
# process is killed meanwhile, the files are inconsistent, and the next process cannot open the collection or hangs
# while opening it. The database beside the index is intact. So the names of collections that are being written are kept
# in a file during the write. If a name is found there at the next start, that index is deleted before Chroma opens it.

DATABASE = "chroma.sqlite3"
_MARK = "saga.writing"

_INDEX = (
    "SELECT segments.id FROM segments JOIN collections ON collections.id = segments.collection "
    "WHERE collections.name = ? AND segments.scope = 'VECTOR'"
)


class WriteMark:
    """The file in ``folder`` with the names of the collections that are being written.

    It survives a kill of the process, but not necessarily a power cut.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / _MARK
        self._names: dict[str, None] = {}

    def left(self) -> list[str]:
        """Return the names that an earlier process has left. They are kept until ``clear``."""
        if not self._file.exists():
            return []
        self._names = dict.fromkeys(self._file.read_text(encoding="ascii", errors="replace").split())
        return list(self._names)

    def clear(self) -> None:
        """Remove all names, once no write is in progress and all indexes are intact."""
        self._names = {}
        self._save()

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """Keep ``name`` in the file during a write. It stays there if the write fails, as the index may be torn."""
        known = name in self._names
        self._names[name] = None
        self._save()
        yield
        if not known:
            del self._names[name]
            self._save()

    def _save(self) -> None:
        new = self._file.with_name(_MARK + ".new")
        new.write_text("\n".join(self._names), encoding="ascii")
        replace_file(new, self._file)


def throw_away(folder: Path, names: Sequence[str]) -> None:
    """Remove the index of each of these collections, so that Chroma creates a new one. No client may be open.

    Raises ``sqlite3.Error`` if the database is damaged.
    """
    with _database(folder) as database:
        if database is None:
            return
        for name in names:
            for (segment,) in database.execute(_INDEX, (name,)).fetchall():
                _remove(folder / segment)
                # Otherwise Chroma would continue from the state of the removed index.
                database.execute("DELETE FROM max_seq_id WHERE segment_id = ?", (segment,))


def sweep(folder: Path) -> None:
    """Remove the indexes of deleted collections, which Chroma leaves behind. No client may be open.

    Raises ``sqlite3.Error`` if the database is damaged.
    """
    with _database(folder) as database:
        if database is None:
            return
        known = {segment for (segment,) in database.execute("SELECT id FROM segments")}
    for entry in list(folder.iterdir()):
        if entry.name not in known and _is_index(entry):
            _remove(entry)


@contextmanager
def _database(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Open Chroma's database. Gives None if it does not exist or is not complete yet."""
    file = folder / DATABASE
    if not file.exists():
        yield None
        return
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        yield connection if tables >= {"collections", "segments", "max_seq_id"} else None


def _is_index(entry: Path) -> bool:
    try:
        UUID(entry.name)
    except ValueError:
        return False
    return entry.is_dir()


def _remove(index: Path) -> None:
    if index.exists():
        shutil.rmtree(index)


# --- Items as a Chroma collection keeps them: each whole in one metadata value, read back as it was given ---------


@frozen(eq=False)
class IndexBlock:
    """Some items of a scope. ``rests`` are text and metadata, as JSON."""

    ids: list[str]
    vectors: Singles
    rests: list[str]


def pack(item: PackedItem) -> str:
    """Base64 of the vector, then text and metadata as JSON; the first bracket parts them."""
    vector = base64.b64encode(np.frombuffer(item.vector, dtype=np.float32).astype("<f4").tobytes()).decode()
    return f"{vector}[{json.dumps(item.text, ensure_ascii=False)},{item.metadata}]"


def split(found: Any, key: str, dimension: int, corrupt: Callable[[str], SagaError]) -> IndexBlock:
    """Items as the engine gave them, kept under ``key``. Raises what ``corrupt`` makes for those that are not as
    ``pack`` makes them."""
    width = dimension * 4
    ids: list[str] = found["ids"]
    vectors, rests = [], []
    for item_id, fields in zip(ids, found["metadatas"] or (), strict=True):
        coded, bracket, rest = str((fields or {}).get(key)).partition("[")
        try:
            vector = binascii.a2b_base64(coded, strict_mode=True)
        except binascii.Error as error:
            raise corrupt(f"item {item_id!r} is damaged: its vector is no base64: {error}") from error
        if len(vector) != width:
            raise corrupt(f"item {item_id!r} is damaged: its vector has {len(vector)} bytes and not {width}")
        vectors.append(vector)
        rests.append(bracket + rest)
    block = np.frombuffer(b"".join(vectors), dtype="<f4").astype(np.float32, copy=False)
    return IndexBlock(ids, block.reshape(-1, dimension), rests)


def parse(block: IndexBlock, corrupt: Callable[[str], SagaError]) -> list[tuple[str, dict[str, Any]]]:
    """Text and metadata of each item. Raises what ``corrupt`` makes for what is no JSON."""
    found = read_together(block.ids, block.rests, list, corrupt, "its text and metadata are")
    for item_id, rest in zip(block.ids, found, strict=True):
        if [type(each) for each in rest] != [str, dict]:
            raise corrupt(f"item {item_id!r} is damaged: its text and metadata are no JSON")
    return found


# --- Stores vectors in Chroma, with one collection per scope. All code runs on the worker's thread ----------------
#
# One metadata value holds the whole item, with its 32-bit vector, its text and its metadata. This is because Chroma has
# no null, normalises vectors, and keeps them in index files that a kill can tear (see ``WriteMark``). The embedding
# of a Chroma item is the same vector at unit length. Chroma's index is approximate and is not used. A query reads its
# scopes completely.

LAYOUT = FolderLayout(
    name="chroma",
    version=1,
    damage=(
        *("malformed", "corrupt", "not a database", "hnsw", "pickle", "hash"),
        *("backfill", "no such table", "does not exist"),
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


class ChromaCollections(FolderEngine):
    """A ``VectorEngine`` with a Chroma database in the directory ``path``."""

    layout = LAYOUT

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._mark = WriteMark(path)
        self._loaded: dict[str, Any] = {}
        self._chroma: Any = None
        self._client: Any = None

    def open(self) -> None:
        """Import the engine, lock the directory, repair what a killed process has left, and read the scopes."""
        self._chroma = import_engine("chromadb", LAYOUT.name)
        self._version = self._chroma.__version__
        notes = self._folder.open()
        with self._folder.translated("opening"):
            if notes.get("made") and not (self.path / DATABASE).exists():
                raise self._folder.corrupt(f"{DATABASE} is missing")
            torn = self._mark.left()
            throw_away(self.path, torn)
            sweep(self.path)
            self._client = self._connect()
            batch = min(Limits().batch, self._client.get_max_batch_size())
            self._limits = Limits(value_bytes=_TEXT_BYTES, batch=batch)
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

    def put(self, name: str, spec: ScopeSpec, items: Sequence[PackedItem]) -> None:
        """See ``VectorEngine.put``."""
        with self._writing(name) as collection:
            collection.upsert(
                ids=[item.id for item in items],
                embeddings=_units(as_rows([item.vector for item in items])),
                metadatas=[{_ITEM: pack(item)} for item in items],
            )

    def get(self, name: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        if self.spec(name) is None:
            return {}
        found: dict[str, VectorItem] = {}
        for some in self._batches(ids):
            block = self._read(name, ids=some)
            for item_id, vector, (text, fields) in zip(
                block.ids, block.vectors, parse(block, self._folder.corrupt), strict=True
            ):
                found[item_id] = VectorItem(item_id, array("f", vector.tobytes()), text, fields)
        return {item_id: found[item_id] for item_id in ids if item_id in found}

    def blocks(self, name: str, spec: ScopeSpec, *, filtered: bool) -> Iterator[Block]:
        """See ``VectorEngine.blocks``."""
        start = 0
        while True:
            block = self._read(name, limit=_BLOCK, offset=start)
            if block.ids:
                yield Block(block.ids, block.vectors, partial(self._fields, block))
            if len(block.ids) < _BLOCK:
                return
            start += _BLOCK

    def remove(self, name: str, ids: Sequence[str]) -> int:
        """See ``VectorEngine.remove``."""
        gone = self._ids(name, ids)
        for some in self._batches(gone):
            with self._writing(name) as collection:
                collection.delete(ids=some)
        return len(gone)

    def number(self, name: str) -> int:
        """See ``VectorEngine.number``."""
        collection = self._collection(name)
        with self._folder.translated(f"counting scope {name!r}"):
            return int(collection.count())

    # --- collections ---------------------------------------------------------------------------------------------

    def _make(self, name: str, spec: ScopeSpec) -> None:
        with self._folder.translated(f"making scope {name!r}"):
            self._alive().create_collection(
                _collection_name(name),
                embedding_function=None,
                metadata={_SCOPE: name, _EMBEDDER: spec.embedder, _DIMENSION: spec.dimension},
                configuration={"hnsw": {"space": "cosine", "sync_threshold": _SAVED, "batch_size": _SAVED}},
            )

    def _discard(self, name: str) -> None:
        """Delete the collection. Its index files are removed the next time the store is opened."""
        with self._folder.translated(f"dropping scope {name!r}"):
            self._alive().delete_collection(_collection_name(name))
        self._loaded.pop(name, None)

    def _look(self) -> None:
        with self._folder.translated("a check"):
            self._alive().count_collections()

    def _alive(self) -> Any:
        self._ensure_open()
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

    def _ids(self, name: str, ids: Sequence[str] | None = None) -> list[str]:
        """Return the ids of all items, or of those in ``ids`` that exist."""
        collection = self._collection(name)
        with self._folder.translated(f"reading scope {name!r}"):
            found: list[str] = collection.get(ids=ids, include=[])["ids"]
        return found

    def _batches(self, ids: Sequence[str]) -> Iterator[list[str]]:
        for start in range(0, len(ids), self._limits.batch):
            yield list(ids[start : start + self._limits.batch])

    def _fields(self, block: IndexBlock) -> list[dict[str, Any]]:
        return [fields for _, fields in parse(block, self._folder.corrupt)]

    def _read(self, name: str, **which: Any) -> IndexBlock:
        collection = self._collection(name)
        with self._folder.translated(f"reading scope {name!r}"):
            found = collection.get(include=["metadatas"], **which)
        return self._split(name, found)

    def _split(self, name: str, found: Any) -> IndexBlock:
        return split(found, _ITEM, self._specs[name].dimension, self._folder.corrupt)


def _units(rows: Singles) -> Singles:
    """Return the rows scaled to unit length. Zero rows stay zero."""
    lengths = np.sqrt(squared_norms(rows))
    lengths[lengths == 0] = 1.0
    units: Singles = (rows / lengths[:, None]).astype(np.float32)
    return units


def _collection_name(scope: str) -> str:
    """Return a valid collection name, which is a readable part of the scope followed by a hash."""
    return f"{slug(scope)}-{hashlib.sha256(scope.encode()).hexdigest()[:32]}"


async def _open(options: OpenOptions) -> VectorStore:
    return await open_threaded("chroma", options, ChromaCollections)


BACKEND = Backend(
    kind="vector",
    name="chroma",
    open=_open,
    summary="Chroma collections in a directory, exact search",
    extra="chroma",
)
