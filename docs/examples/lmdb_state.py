"""A StateKV over LMDB, an embedded key-value engine: the worked example of docs/write-a-backend.md."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from saga_backends.key_bytes import decode, encode, range_end
from saga_core import (
    Backend,
    BadInput,
    Capability,
    Closed,
    Conflict,
    OpenOptions,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreUnavailable,
)
from saga_core.stores import Batch, Health, Key, StateKV, StoreInfo
from saga_core.stores.validate import check_batch, check_keys, check_scan

T = TypeVar("T")

LONGEST = 511
"""LMDB's longest key. SAGA needs 1,024 bytes, so a longer one is kept under its beginning and a digest of the rest."""
_HEAD = LONGEST - 32
_FIRST_SIZE = 1 << 26
_LARGEST = 1 << 40


def short(raw: bytes) -> bytes:
    """What an encoded key is kept under."""
    return raw if len(raw) <= LONGEST else raw[:_HEAD] + hashlib.sha256(raw).digest()


class Files:
    """The environment. Everything here blocks, and runs on the store's one thread."""

    def __init__(self, path: Path) -> None:
        import lmdb  # an engine is imported when it is opened

        self.lmdb = lmdb
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self.lock = (path / "saga.lock").open("w")
        except OSError as error:
            raise StoreUnavailable(f"{path}: {error.strerror}") from error
        try:
            # LMDB lets several processes in; a store that does not declare SHARED must not.
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.lock.close()
            raise StoreLocked(f"{path}: is open somewhere else; stop what has it open, or give another path") from None
        try:
            # The file grows up to the size of the map: it begins small, and grows when it is full.
            size = max(_FIRST_SIZE, 2 * self.size())
            self.env = lmdb.open(str(path), map_size=size, max_dbs=0, sync=True, metasync=True)
        except lmdb.Error as error:
            self.lock.close()
            raise self.translated(error) from error

    def size(self) -> int:
        """Bytes on disk."""
        file = self.path / "data.mdb"
        return file.stat().st_size if file.exists() else 0

    def translated(self, error: Exception) -> StoreError:
        """The engine's error as one of SAGA's."""
        if isinstance(error, self.lmdb.CorruptedError | self.lmdb.InvalidError | self.lmdb.PageNotFoundError):
            return StoreCorrupt(f"{self.path}: {error}; put a backup in its place")
        return StoreUnavailable(f"{self.path}: {error}")

    def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """One read transaction is one moment."""
        found = {}
        with self.env.begin() as transaction:
            for key in keys:
                held = self.held(transaction, encode(key))
                if held is not None:
                    found[key] = held
        return found

    def held(self, transaction: Any, raw: bytes) -> bytes | None:
        """The value of an encoded key. A record is the length of that key, the key and the value."""
        record = transaction.get(short(raw))
        if record is None:
            return None
        size = int.from_bytes(record[:2], "big")
        return bytes(record[2 + size :])

    def scan(self, prefix: Key, after: Key | None, limit: int) -> list[tuple[Key, bytes]]:
        """Begins at the first key in question, and reads no more than it gives."""
        start = encode(prefix)
        end = range_end(start)
        behind = encode(after) if after is not None else b""
        found: list[tuple[Key, bytes]] = []
        with self.env.begin() as transaction:
            for raw, value in self.records(transaction, max(start, behind)[:_HEAD]):
                if raw >= end or len(found) == limit:
                    break
                if raw >= start and raw > behind:
                    found.append((decode(raw), value))
        return found

    def records(self, transaction: Any, first: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Encoded keys in order, from the beginning ``first`` on.

        Keys that share so long a beginning stand together; a digest orders those among them, so they are sorted here.
        """
        with transaction.cursor() as cursor:
            if not cursor.set_range(first) if first else not cursor.first():
                return
            for _, records in groupby(cursor.iternext(keys=False, values=True), key=_beginning):
                yield from sorted(_parts(record) for record in records)

    def commit(self, batch: Batch, expected: Mapping[Key, bytes | None]) -> None:
        """One write transaction; again in a larger map when this one is full."""
        while True:
            try:
                with self.env.begin(write=True) as transaction:
                    for key, wanted in expected.items():
                        if self.held(transaction, encode(key)) != wanted:
                            raise Conflict(key)
                    for key in batch.deletes:
                        transaction.delete(short(encode(key)))
                    for key, value in batch.puts.items():
                        raw = encode(key)
                        transaction.put(short(raw), len(raw).to_bytes(2, "big") + raw + value)
                return
            except self.lmdb.MapFullError as error:
                grown = 2 * self.env.info()["map_size"]
                if grown > _LARGEST:
                    raise StoreUnavailable(f"{self.path}: is larger than {_LARGEST} bytes") from error
                self.env.set_mapsize(grown)

    def check(self, thorough: bool) -> Health:
        """Reads a record, or all of them."""
        try:
            with self.env.begin() as transaction:
                count = sum(1 for _ in self.records(transaction, b"")) if thorough else transaction.stat()["entries"]
        except (self.lmdb.Error, ValueError) as error:
            return Health(ok=False, detail=f"{self.path}: {error}; put a backup in its place")
        return Health(ok=True, detail=f"{self.path}: {count} entries", bytes=self.size())

    def close(self) -> None:
        self.env.close()
        self.lock.close()


def _parts(record: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(record[:2], "big")
    return bytes(record[2 : 2 + size]), bytes(record[2 + size :])


def _beginning(record: bytes) -> bytes:
    return _parts(record)[0][:_HEAD]


class LmdbState:
    """One thread does everything in order, so each call is one moment, and a cancelled one is never half done."""

    def __init__(self, files: Files, thread: ThreadPoolExecutor) -> None:
        self._files = files
        self._thread = thread
        self._closed = False
        version = ".".join(map(str, files.lmdb.version()))
        self.info = StoreInfo("state", "lmdb", version, frozenset({Capability.DURABLE}), location=str(files.path))

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        self._alive()
        check_keys(keys, self.info.limits)
        return await self._run(self._files.get, list(keys))

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        self._alive()
        check_scan(prefix, after, limit, self.info.limits)
        return await self._run(self._files.scan, prefix, after, limit)

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        # A copy: the caller may change what it gave while the thread is busy with another call.
        await self._run(self._files.commit, Batch(dict(batch.puts), batch.deletes), dict(expected or {}))

    async def check(self, *, thorough: bool = False) -> Health:
        self._alive()
        return await self._run(self._files.check, thorough)

    async def aclose(self) -> None:
        if not self._closed:
            self._closed = True
            self._thread.submit(self._files.close)
        await asyncio.to_thread(self._thread.shutdown)

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._files.path}: the state store is closed")

    async def _run(self, work: Callable[..., T], *args: Any) -> T:
        def translated() -> T:
            try:
                return work(*args)
            except self._files.lmdb.Error as error:
                raise self._files.translated(error) from error

        return await asyncio.get_running_loop().run_in_executor(self._thread, translated)


async def _open(options: OpenOptions) -> StateKV:
    options.take()
    path = options.path
    if path is None:
        raise BadInput("storage.state.path: the lmdb backend keeps files; give a directory")
    try:
        import lmdb  # noqa: F401 - says what to install before a thread is made
    except ImportError as error:
        raise StoreUnavailable("state.lmdb: the package lmdb is not installed; pip install lmdb") from error
    thread = ThreadPoolExecutor(1, "saga-lmdb")
    opening = asyncio.get_running_loop().run_in_executor(thread, Files, path)
    try:
        files = await asyncio.shield(opening)
    except BaseException:
        # A cancelled opening may succeed all the same: it is let go of before anybody can try again.
        opening.add_done_callback(_let_go)
        await asyncio.to_thread(thread.shutdown)
        raise
    return LmdbState(files, thread)


def _let_go(opening: asyncio.Future[Files]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


BACKEND = Backend("state", "lmdb", _open, "one LMDB environment")


async def main() -> None:
    """Write, close, open again and read."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        options = OpenOptions(path=Path(folder) / "state.lmdb")
        store: StateKV = await BACKEND.open(options)
        await store.commit(Batch({("turn", "s1", "t1"): "하나".encode(), ("turns",): b"other"}))
        await store.aclose()
        store = await BACKEND.open(options)
        print(await store.scan(("turn",)))
        print((await store.check(thorough=True)).ok)
        await store.aclose()


if __name__ == "__main__":
    asyncio.run(main())
