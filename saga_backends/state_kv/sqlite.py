"""StateKV in a SQLite file. A commit is on disk when it returns, and reads do not wait for commits.

One connection writes and another one reads, each on its own thread. A commit takes some milliseconds until the data is
on disk. With many sessions at once, the reads of a turn would otherwise queue behind the commits of other sessions.

The table is an ordinary one with an index on the key. With some kilobytes of values per turn, a table without rowids
wrote 1.4 times as much and took 1.8 times the CPU, because values above a quarter page are moved out of its tree.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from saga_backends import sqlite_file
from saga_backends.key_bytes import decode, encode, range_end
from saga_backends.path_owner import APPLICATION_IDS
from saga_backends.sqlite_file import MOST_ROWS, OwnFile, Reader
from saga_backends.worker import Worker
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, Conflict, StoreCorrupt
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Batch, Health, Key, StateKV, StoreInfo
from saga_core.stores.validate import check_batch, check_keys, check_scan

if TYPE_CHECKING:
    import sqlite_utils

P = ParamSpec("P")
T = TypeVar("T")


def _create_entries(database: sqlite_utils.Database) -> None:
    columns = {"key": bytes, "value": bytes}
    database.execute(database.create_table_sql("entries", columns, pk="key", not_null={"key", "value"}))


SCHEMA = sqlite_file.Schema(application_id=APPLICATION_IDS["state.sqlite"], migrations=(_create_entries,))

GET = "SELECT value FROM entries WHERE key = ?"
_SCAN_FROM = "SELECT key, value FROM entries WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
_SCAN_BEHIND = "SELECT key, value FROM entries WHERE key > ? AND key < ? ORDER BY key LIMIT ?"
PUT = "INSERT INTO entries (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
DELETE = "DELETE FROM entries WHERE key = ?"


_REMEDY = "put a backup in its place, or save what can be read with `saga restore FILE --damaged --force`"


def _get(file: Reader, keys: dict[bytes, Key]) -> dict[Key, bytes]:
    """Return the entries of ``keys`` that exist, all from one snapshot."""
    found: dict[Key, bytes] = {}
    with file.connected() as connection:
        together = len(keys) > 1 and not connection.in_transaction
        if together:
            connection.execute("BEGIN")
        try:
            for raw, key in keys.items():
                row = connection.execute(GET, (raw,)).fetchone()
                if row is not None:
                    found[key] = _value(file, row[0])
        finally:
            if together:
                connection.rollback()
    return found


def _scan(file: Reader, statement: str, start: bytes, end: bytes, limit: int) -> list[tuple[Key, bytes]]:
    """Return the entries from ``start`` (or after it, depending on ``statement``) to below ``end``."""
    with file.connected() as connection:
        rows = connection.execute(statement, (start, end, limit)).fetchall()
    try:
        return [(decode(raw), _value(file, value)) for raw, value in rows]
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreCorrupt(f"{file.path}: holds a key that SAGA did not write ({error}); {_REMEDY}") from error


def _value(file: Reader, value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    raise StoreCorrupt(f"{file.path}: holds a value that SAGA did not write ({str(value)[:40]!r}); {_REMEDY}")


class _File(OwnFile):
    """The file, open for writing. Reads on this thread come after all earlier commits."""

    def __init__(self, path: Path, synchronous: str) -> None:
        super().__init__(path, "state.sqlite", SCHEMA, synchronous, "put a backup in its place")

    def commit(
        self,
        puts: list[tuple[bytes, bytes]],
        deletes: list[tuple[bytes]],
        expected: list[tuple[Key, bytes, bytes | None]],
    ) -> None:
        """Check the expected values and write, in one transaction."""
        with self.writing() as connection:
            for key, raw, wanted in expected:
                row = connection.execute(GET, (raw,)).fetchone()
                if (row[0] if row else None) != wanted:
                    raise Conflict(key)
            connection.executemany(DELETE, deletes)
            connection.executemany(PUT, puts)


class _Threads:
    """The file and its two connections, each with its own thread. Calls on one thread run in order."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self.file, self.reading = _File(path, synchronous), Reader(path)
        self.writer, self.reader = Worker(f"state.sqlite {path}"), Worker(f"state.sqlite read {path}")
        self.behind = 0
        """The number of operations that reads must wait for. While there are any, reads run on the writer's thread."""
        self._settling: set[asyncio.Task[None]] = set()

    async def read(self, call: Callable[Concatenate[Reader, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Read without waiting for commits, except for commits whose caller was cancelled and for ``alone``."""
        if self.behind:
            return await self.writer.run(call, self.file, *args, **kwargs)
        return await self.reader.run(call, self.reading, *args, **kwargs)

    async def write(self, call: Callable[P, None], /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Write. If the caller is cancelled, the write completes all the same, and later reads see it."""
        try:
            await self.writer.run(call, *args, **kwargs)
        except asyncio.CancelledError:
            if not self.writer.closed:
                self.behind += 1
                settling = asyncio.create_task(self.writer.run(_nothing), name="saga-state-settling")
                self._settling.add(settling)
                settling.add_done_callback(self._settled)
            raise

    def _settled(self, settling: asyncio.Task[None]) -> None:
        self.behind -= 1
        self._settling.discard(settling)
        if not settling.cancelled():
            settling.exception()  # retrieved, so that asyncio does not log it; the worker may be closed by now

    async def alone(self, call: Callable[[], None]) -> None:
        """Run ``call`` on the writer's thread while no read is in progress."""
        self.behind += 1
        try:
            await self.reader.run(_nothing)  # waits for reads in progress
            await self.writer.run(call)
        finally:
            self.behind -= 1

    async def open(self) -> None:
        """Open both connections, or neither."""
        try:
            await self.writer.run(self.file.open)
            self.reading.is_shared = self.file.is_shared
            await self.reader.run(self.reading.open)
        except BaseException:
            await self.shut()  # the opening may have succeeded even if it was cancelled
            raise

    async def shut(self) -> None:
        """Finish the submitted calls, close and unlock. Further calls also wait until that is done."""
        try:
            await self.reader.shut(self.reading.close)
        finally:
            await self.writer.shut(self.file.close)


def _nothing() -> None:
    """Do nothing. Running this on a thread waits for its earlier jobs."""


class SqliteState:
    """The state store, created by ``BACKEND.open``. Each call is one hop to a thread."""

    def __init__(self, threads: _Threads) -> None:
        self._threads = threads
        self._file = file = threads.file
        self._closed = False
        self._info = StoreInfo(
            kind="state",
            name="sqlite",
            version=sqlite3.sqlite_version,
            capabilities=frozenset(
                {Capability.DURABLE, Capability.COMPACTS, *([Capability.SHARED] if file.is_shared else [])}
            ),
            location=str(file.path),
        )

    @property
    def info(self) -> StoreInfo:
        """The version of the engine, the limits and the path of the file."""
        return self._info

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        self._alive()
        check_keys(keys, self._info.limits)
        return await self._threads.read(_get, {encode(key): key for key in keys})

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        self._alive()
        check_scan(prefix, after, limit, self._info.limits)
        return await self._threads.read(_scan, *_asked(prefix, after), min(limit, MOST_ROWS))

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``. A commit completes even if the task that awaits it is cancelled."""
        self._alive()
        check_batch(batch, expected, self._info.limits)
        puts = [(encode(key), value) for key, value in batch.puts.items()]
        deletes = [(encode(key),) for key in batch.deletes]
        wanted = [(key, encode(key), value) for key, value in (expected or {}).items()]
        await self._threads.write(self._file.commit, puts, deletes, wanted)

    async def compact(self) -> None:
        """Rewrite the file, so that no deleted data remains in it."""
        self._alive()
        await self._threads.alone(self._file.compact)

    async def check(self, *, thorough: bool = False) -> Health:
        """Read from the file and measure its size with the log. If ``thorough``, run SQLite's quick check."""
        self._alive()
        return await self._threads.writer.run(self._file.check, thorough)

    async def aclose(self) -> None:
        """Finish the submitted calls, checkpoint the log, and close and unlock the file."""
        self._closed = True
        await self._threads.shut()

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._file.path}: the state store is closed")


class Beside:
    """Reads a file that a server has open, without locking it. Created by ``open_beside``."""

    def __init__(self, path: Path) -> None:
        self._reading, self._thread = Reader(path), Worker(f"state.sqlite beside {path}")

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        return await self._thread.run(_scan, self._reading, *_asked(prefix, after), min(limit, MOST_ROWS))

    async def aclose(self) -> None:
        """Close the file."""
        await self._thread.shut(self._reading.close)


async def open_beside(path: Path) -> Beside:
    """Open the file at ``path`` for reading while a server has it open. Raises ``StoreError``."""
    found = Beside(path)
    try:
        await found._thread.run(found._reading.open)
    except BaseException:
        await found._thread.aclose()
        raise
    return found


def _asked(prefix: Key, after: Key | None) -> tuple[str, bytes, bytes]:
    """Return the scan statement with its lower and upper bound."""
    start = encode(prefix)
    end = range_end(start)
    behind = encode(after) if after is not None else b""
    if behind >= start and after is not None:
        return _SCAN_BEHIND, behind, end
    return _SCAN_FROM, start, end


async def _open(options: OpenOptions) -> StateKV:
    chosen = options.take(synchronous="full")
    if options.path is None:
        raise BadInput("storage.state.path: the sqlite backend keeps its data in a file; give its path")
    threads = _Threads(options.path.absolute(), chosen["synchronous"])
    await threads.open()
    return SqliteState(threads)


BACKEND = Backend("state", "sqlite", _open, "one SQLite file; the default")
