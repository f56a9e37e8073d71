"""Opens SQLite files: checks their owner and schema version, sets durability, and translates SQLite errors.

A connection belongs to the thread that opened it. Call all functions of this module from a ``Worker``.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from saga_backends.path_lock import PathLock
from saga_backends.path_owner import claim
from saga_core.errors import BadInput, Closed, NewerSchema, StoreCorrupt, StoreError, StoreLocked, StoreUnavailable
from saga_core.stores import Health

if TYPE_CHECKING:
    import sqlite_utils

log = logging.getLogger("saga.stores")

MOST_ROWS = 2**62
"""A limit that SQLite accepts and that no store reaches."""

_BUSY_SECONDS = 5.0
"""How long a call waits for a lock held by another program, such as a backup or a database browser."""

_SHARED_BUSY_SECONDS = 30.0
"""How long a call waits if other SAGA processes write to the file too. A process that hangs is killed before that."""

_LOCK_SECONDS = 12.0
"""How long opening waits for a lock that passes, such as one that a share still has of a process that is gone."""

_WAL_LIMIT = 16 * 1_024 * 1_024
"""The size to which the write-ahead log is truncated after a checkpoint."""


_READER_KIB = 512
"""The page cache of a read-only connection. The operating system caches the file as well."""


@frozen
class Schema:
    """The schema of one kind of file: its SQLite ``application_id`` and its migrations, oldest first.

    Version ``n`` (``user_version``) is the result of the first ``n`` migrations. All missing migrations run in one
    transaction, so a migration may only call ``execute``.
    """

    application_id: int
    migrations: tuple[Callable[[sqlite_utils.Database], object], ...]

    @property
    def version(self) -> int:
        """The newest schema version that this code supports."""
        return len(self.migrations)


def connect(path: Path, schema: Schema, *, synchronous: str = "full", shared: bool = False) -> sqlite3.Connection:
    """Connect to the file at ``path`` in autocommit and WAL mode. The file is created or migrated as needed.

    With ``synchronous="full"``, a commit is on disk when it returns. With ``"normal"``, commits survive a crash of the
    process, but a power failure may lose the latest ones. ``shared`` means that other SAGA processes use the file too.

    Raises ``NewerSchema`` if the file is too new (it is left unchanged), ``StoreCorrupt`` if it is not a database or
    belongs to another program, and ``StoreUnavailable`` if it cannot be written.
    """
    if synchronous not in ("full", "normal"):
        raise BadInput(f"options.synchronous: {synchronous!r} is unknown; give 'full' or 'normal'")
    _check_writable(path)
    with translated(path):
        connection = sqlite3.connect(
            path, timeout=_SHARED_BUSY_SECONDS if shared else _BUSY_SECONDS, isolation_level=None
        )
        try:
            found = version_of(connection, path, schema)
            _write_ahead(connection, path)
            connection.execute(f"PRAGMA journal_size_limit={_WAL_LIMIT}")
            connection.execute(f"PRAGMA synchronous={synchronous}")
            if synchronous == "full":
                # Without this, macOS leaves writes in the drive's cache. It has no effect on other systems.
                connection.execute("PRAGMA fullfsync=ON")
            _migrate(connection, schema, found)
        except BaseException:
            connection.close()
            raise
    return connection


def _write_ahead(connection: sqlite3.Connection, path: Path) -> None:
    """Switch to a write-ahead log. A lock that passes is waited for; a file system without it is said to be one."""
    until, told = time.monotonic() + _LOCK_SECONDS, False
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            code = _code(error)
            if code == sqlite3.SQLITE_IOERR:
                raise StoreUnavailable(
                    f"{path}: SQLite's write-ahead log (WAL) cannot be kept there ({error}), as on many shares; set "
                    "storage.path to a folder on a local disk"
                ) from error
            if code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or time.monotonic() > until:
                raise
            if not told:
                log.warning("%s; waiting up to %g s for it", _translate(path, error), _LOCK_SECONDS)
                told = True
            time.sleep(0.25)
            continue
        if mode != "wal":
            log.warning("%s", without_wal(path, mode))
        return


def without_wal(path: Path, mode: str) -> str:
    """What it means that a file has another journal than a write-ahead log."""
    return (
        f"{path}: SQLite keeps no write-ahead log (WAL) there but the journal {mode!r}, as on a network share; nothing "
        "is lost, but reading and writing wait for each other: set storage.path to a folder on a local disk"
    )


def journal_mode(connection: sqlite3.Connection) -> str:
    """The journal mode of a file; ``wal`` for a write-ahead log."""
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    return str(mode)


def _check_writable(path: Path) -> None:
    """Raise ``StoreUnavailable`` for a read-only file. SQLite would open it, and only the first commit would fail."""
    try:
        with path.open("r+b"):
            return
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _unwritable(path: Path, reason: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"{path}: cannot be opened for writing ({reason}); let this user write the file and its directory, or give "
        "another path"
    )


def version_of(connection: sqlite3.Connection, path: Path, schema: Schema) -> int:
    """Return the schema version of the file, or 0 for a new file. Nothing is written.

    Raises ``StoreCorrupt`` if the database belongs to another program, and ``NewerSchema`` if its version is too new.
    """
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if owner != schema.application_id and (owner or tables):
        raise StoreCorrupt(f"{path}: is a database of another kind or program; give another path, or move it away")
    assert isinstance(found, int)
    refuse_programs(connection, path)
    if found > schema.version:
        raise NewerSchema(
            f"{path}: has schema version {found}, and this SAGA knows versions up to {schema.version}; "
            "nothing was changed: upgrade SAGA, or give another path"
        )
    return found


def refuse_programs(connection: sqlite3.Connection, path: Path) -> None:
    """Raise ``StoreCorrupt`` if the file has triggers, views or virtual tables.

    SAGA creates none of these, and they could run foreign code when the file is used.
    """
    row = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR upper(sql) LIKE '%VIRTUAL%'"
    ).fetchone()
    if row is not None:
        raise StoreCorrupt(
            f"{path}: holds the {row[0]} {str(row[1])[:80]!r}, which SAGA did not make and which acts when it is used; "
            "put a backup in its place, or move it away"
        )


def _migrate(connection: sqlite3.Connection, schema: Schema, found: int) -> None:
    if found == schema.version:
        return
    # The import takes 0.3 s and is only needed for files that are new or outdated.
    import sqlite_utils

    database = sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False)
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for step in schema.migrations[found:]:
            step(database)
        connection.execute(f"PRAGMA application_id={schema.application_id}")
        connection.execute(f"PRAGMA user_version={schema.version}")


def check(connection: sqlite3.Connection, *, thorough: bool) -> str | None:
    """Return the first problem found in the file, or None. Unless ``thorough``, only the schema is read."""
    if not thorough:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return None
    (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    return None if answer == "ok" else str(answer)


@contextmanager
def translated(path: Path, if_damaged: str = "") -> Iterator[None]:
    """Turn every SQLite exception into a ``StoreError`` that names ``path`` and a remedy. ``if_damaged`` is that for a
    damaged file which is no store of this server."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(path, error, if_damaged) from error


def _code(error: sqlite3.Error) -> int:
    """The primary error code, which is the low byte; by the message if the error has none."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return int(code) & 0xFF
    text = str(error)
    return sqlite3.SQLITE_BUSY if "locked" in text else sqlite3.SQLITE_IOERR if "I/O" in text else sqlite3.SQLITE_ERROR


def _translate(path: Path, error: sqlite3.Error, if_damaged: str = "") -> StoreError:
    code = _code(error)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        anew = f"put a backup in its place, or move it away together with {path.name}-wal to start empty"
        return StoreCorrupt(f"{path}: is damaged, or no SQLite database ({error}); {if_damaged or anew}")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(
            f"{path}: another program holds the database ({error}); close it there. On a network "
            "share the lock may be one of a program that is gone: set storage.path to a folder on a local disk"
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_AUTH):
        return _unwritable(path, str(error))
    if code == sqlite3.SQLITE_FULL:
        return StoreError(
            f"{path}: the disk is full ({error}); make room outside of SAGA: nothing of this write was kept, "
            "and deleting sessions needs room as well"
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(f"{path}: the disk failed or is full ({error}); nothing of this write was kept")
    return StoreError(f"{path}: {error}")


# --- Connections to a file as stores hold them. All methods of one connection run on one thread -------------------


class Reader:
    """A read-only connection to a file that another connection holds open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_shared = False
        """Whether other SAGA processes have the file open too."""
        self._connection: sqlite3.Connection | None = None

    def open(self) -> None:
        """Connect to the file."""
        seconds = _SHARED_BUSY_SECONDS if self.is_shared else _BUSY_SECONDS
        with translated(self.path):
            self._connection = sqlite3.connect(self.path, timeout=seconds, isolation_level=None)
            self._connection.execute("PRAGMA query_only=ON")
            self._connection.execute(f"PRAGMA cache_size={-_READER_KIB}")

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @contextmanager
    def connected(self) -> Iterator[sqlite3.Connection]:
        """Give the connection, and turn what fails with it into a ``StoreError``."""
        if self._connection is None:
            raise Closed(f"{self.path}: is closed")
        with translated(self.path):
            yield self._connection


class OwnFile(Reader):
    """A file that this process has claimed and opened for writing, with what all stores in SQLite files do alike."""

    def __init__(self, path: Path, engine: str, schema: Schema, synchronous: str, remedy: str) -> None:
        super().__init__(path)
        self._engine, self._schema, self._synchronous, self._remedy = engine, schema, synchronous, remedy
        self._lock: PathLock | None = None

    def open(self) -> None:
        """Lock the file, connect and migrate."""
        self._lock = claim(self.path, self._engine, folder=False)
        self.is_shared = self._lock.is_shared
        self._connection = connect(self.path, self._schema, synchronous=self._synchronous, shared=self.is_shared)

    def close(self) -> None:
        """Checkpoint the log, close the connection and release the lock, also after a failed ``open``.

        Further calls have no effect. If the file is shared, the checkpoint is passive and does not wait for other
        processes. The last one to close the file does the rest.
        """
        connection, self._connection = self._connection, None
        lock, self._lock = self._lock, None
        try:
            if connection is not None:
                with translated(self.path), closing(connection):
                    connection.execute(f"PRAGMA wal_checkpoint({'PASSIVE' if self.is_shared else 'TRUNCATE'})")
        finally:
            if lock is not None:
                lock.release()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run the body in a write transaction."""
        with self.connected() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def compact(self) -> None:
        """Rewrite the file and truncate its write-ahead log, so that no deleted data remains on disk.

        Raises ``StoreLocked`` if a long read keeps the log from being truncated.
        """
        with self.connected() as connection:
            connection.execute("VACUUM")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreLocked(
                "the write-ahead log of the database still holds what was deleted, because somebody reads it; ask "
                "again when that is over (a backup that is being made, a database browser)"
            )

    def check(self, thorough: bool) -> Health:
        """Read the schema, or the whole file if ``thorough``."""
        try:
            with self.connected() as connection:
                wrong = check(connection, thorough=thorough)
                mode = journal_mode(connection)
            log = self.path.with_name(self.path.name + "-wal")
            size = self.path.stat().st_size + (log.stat().st_size if log.exists() else 0)
        except (StoreError, OSError) as error:
            return Health(ok=False, detail=str(error))
        if wrong is not None:
            return Health(ok=False, detail=f"{self.path}: {wrong}; {self._remedy}", bytes=size)
        if mode != "wal":
            return Health(ok=True, detail=without_wal(self.path, mode), bytes=size)
        return Health(ok=True, detail=f"{self.path}: {'quick check passed' if thorough else 'readable'}", bytes=size)
