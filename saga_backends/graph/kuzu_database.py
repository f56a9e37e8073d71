"""Manages a Kuzu or Ladybug database in a directory: tables, statements, transactions and recovery from faults.

All code runs on the thread of one ``Worker``. The engines allow one write transaction at a time and roll it back
completely if one of its statements fails.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from saga_backends.graph import kuzu_engine
from saga_backends.graph.kuzu_engine import Engine, PoolFull
from saga_backends.path_lock import PathLock
from saga_backends.path_owner import claim
from saga_core.errors import Closed, NewerSchema, StoreCorrupt, StoreError, StoreUnavailable

# --- Keeps what other code left in memory out of the engines' files -----------------------------------------------
#
# Kuzu 0.11.3 and Ladybug 0.22 write pages of which they filled only a part. The rest of such a page is whatever the
# allocated memory held before: texts of any session, also of a deleted one.

_M_PERTURB = -6
"""Of glibc's malloc.h: memory is filled when it is allocated, with the complement of this byte."""
_ZEROS = 0xFF
_OFF = 0

_lock = threading.Lock()
_users = 0


@contextmanager
def cleared_memory() -> Iterator[None]:
    """While any thread is inside, memory is allocated cleared, except blocks of about a kilobyte and less.

    Does nothing without glibc, or if the environment sets what memory is filled with.
    """
    _enter(1)
    try:
        yield
    finally:
        _enter(-1)


def _enter(change: int) -> None:
    global _users
    with _lock:
        before, _users = _users, _users + change
        if bool(before) != bool(_users):
            _fill(_ZEROS if _users else _OFF)


def _fill(byte: int) -> None:
    chosen = "MALLOC_PERTURB_" in os.environ or "glibc.malloc.perturb" in os.environ.get("GLIBC_TUNABLES", "")
    if sys.platform == "linux" and not chosen:
        library = ctypes.CDLL(None)
        if hasattr(library, "gnu_get_libc_version"):
            library.mallopt(_M_PERTURB, byte)


log = logging.getLogger("saga.stores")

_MB = 1_024 * 1_024
_FIRST_PLANS = 64
"""The number of created rows after which prepared statements are planned again. It doubles each time.

A plan that was made for small tables reads large ones from the wrong end (10 ms for a node's edges instead of 0.2).
"""
_LONG_LOG = 16 * _MB
"""The size of the write-ahead log, in bytes, above which a checkpoint is made."""

_SCHEMA_VERSION = 1
_SCHEMA = (
    "CREATE NODE TABLE Entity(pk STRING PRIMARY KEY, scope STRING, id STRING, label STRING, name STRING, "
    "properties STRING)",
    "CREATE REL TABLE Tie(FROM Entity TO Entity, source STRING, type STRING, target STRING, key STRING, "
    "properties STRING)",
    "CREATE NODE TABLE Scope(name STRING PRIMARY KEY, watermark STRING)",
    "CREATE NODE TABLE Meta(name STRING PRIMARY KEY, value STRING)",
    f"CREATE (m:Meta {{name: 'schema', value: '{_SCHEMA_VERSION}'}})",
)
_TABLES = frozenset({"Entity", "Tie", "Scope", "Meta"})
_EMPTY_BYTES = 65_536
"""More bytes than a database without tables ever has."""

Parameter: TypeAlias = str | Sequence[Mapping[str, str]]
"""A text, or for ``$rows`` a sequence of mappings that have the same names and texts as values.

Other types are not allowed, because an engine may reuse a plan that was made for the earlier types.
"""


class KuzuDatabase:
    """``directory`` holds ``graph.db``, its write-ahead log, the lock and, while a query runs, a copy of the database.

    The engine is stopped and started again now and then, because the engines have problems with long sessions. Each
    writing transaction keeps a copy of what it touched (some 100 KB) in the buffer pool until a checkpoint, and would
    fill the pool. And once edges were deleted, Kuzu 0.11.3 crashes in the second checkpoint of a session, or in a read
    after the first. So automatic checkpoints are off, and stopping makes one.

    After a failed write, the engine is restarted before the next write, because Ladybug would deadlock otherwise. It is
    not restarted while the disk is full, because stopping would then abort the process. Reads remain possible.
    """

    def __init__(self, engine: Engine, directory: Path, *, pool_mb: int, max_mb: int) -> None:
        self.engine = engine
        self.file = directory / "graph.db"
        self.version = ""
        self.packages = Path()
        """The directory of the engine's Python package, which another process needs to import it."""
        self.writing = False
        """Whether a transaction is open. Any error ends it."""
        self.sparing = False
        """Whether a write is being retried because it did not fit into the pool at first."""
        self._pool_mb = pool_mb
        self._max_mb = max_mb
        self._log_file = directory / "graph.db.wal"
        self._lock: PathLock | None = None
        self._module: Any = None
        self._database: Any = None
        self._connection: Any = None
        self._prepared: dict[str, Any] = {}
        self._created = 0
        """The number of rows created since the start in all tables, including those that were rolled back."""
        self._plan_again = _FIRST_PLANS
        self._open = False
        self._suspect = False
        """Whether a write has failed since the engine was started."""
        self._transactions = 0
        # Each transaction keeps some 100 KB of the pool, and larger ones several times as much.
        self._most_transactions = max(8, pool_mb // 2)

    # --- opening and closing --------------------------------------------------------------------------------------

    def open(self) -> None:
        """Lock the directory, import the engine, open the database and create its tables if it has none.

        Raises ``StoreUnavailable``, ``StoreLocked``, ``StoreCorrupt`` or ``NewerSchema``.
        """
        self._lock = claim(self.file.parent, f"graph.{self.engine.name}", folder=True)
        self._module = module = kuzu_engine.load(self.engine)
        self.version = str(module.__version__)
        self.packages = Path(str(module.__file__)).parent.parent
        kuzu_engine.check_header(self.file, self._log_file, self.engine, int(module.storage_version))
        self.remove_copy()
        self._start()
        self._open = True
        self._prepare_schema()

    def close(self) -> None:
        """Checkpoint and close the database, and unlock the directory. Further calls have no effect."""
        lock, self._lock = self._lock, None
        opened, self._open = self._open, False
        try:
            if not opened:
                return
            if self._suspect and not self._has_room():
                log.warning("%s: the disk is full; left as a kill would leave it: what was kept is safe", self.file)
                self._abandon()
            else:
                self._stop()
            self.remove_copy()
        finally:
            if lock is not None:
                lock.release()

    def _prepare_schema(self) -> None:
        try:
            found = {name for (name,) in self.rows("CALL show_tables() RETURN name")}
            if found:
                self._check_schema(found)
                return
            if self.file.stat().st_size > _EMPTY_BYTES:
                raise StoreCorrupt(f"{self.file}: its tables are gone; {kuzu_engine.remedy(self.file)}")
            self.write(lambda: [self.rows(text) for text in _SCHEMA])
        except (StoreCorrupt, NewerSchema):
            raise
        except StoreError as error:
            raise StoreUnavailable(f"{self.file}: its tables cannot be read or made: {error}") from error

    def _check_schema(self, found: set[str]) -> None:
        get = "MATCH (m:Meta {name: $name}) RETURN m.value"
        version = [row[0] for row in self.rows(get, name="schema")] if "Meta" in found else []
        if not found >= _TABLES or len(version) != 1 or not str(version[0]).isdecimal():
            raise StoreCorrupt(f"{self.file}: is a database of another program; {kuzu_engine.remedy(self.file)}")
        if int(version[0]) > _SCHEMA_VERSION:
            raise NewerSchema(
                f"{self.file}: has schema version {version[0]}, and this SAGA knows versions up to {_SCHEMA_VERSION}; "
                "nothing was changed: upgrade SAGA, or give another path"
            )

    # --- the engine -----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Open the database, which also applies its write-ahead log."""
        replayed = self._log_bytes() > 0
        self._connect()
        if replayed:
            # Applying the log made a checkpoint, and a second one in the same session may crash Kuzu.
            self._stop()
            self._connect()

    def _connect(self) -> None:
        self._created, self._plan_again = 0, _FIRST_PLANS
        with kuzu_engine.opening(self.file), cleared_memory():
            try:
                self._database = self._made()
            except RuntimeError as error:
                if self.engine != kuzu_engine.LADYBUG or not _torn_log(error):
                    raise
                # The process was killed or lost power in the middle of a record. Kuzu skips such a record by itself.
                # The log also contains the watermarks, so what is lost is rebuilt from the journal.
                log.warning(
                    "%s: its log ends in a damaged record (%s); the records before it are kept", self.file, error
                )
                self._database = self._made(throw_on_wal_replay_failure=False)
            self._connection = self._module.Connection(self._database, num_threads=1)

    def _made(self, **more: Any) -> Any:
        return self._module.Database(
            str(self.file),
            buffer_pool_size=self._pool_mb * _MB,
            max_num_threads=1,
            max_db_size=self._max_mb * _MB,
            auto_checkpoint=False,
            **more,
        )

    def _stop(self) -> None:
        """Apply the log to the database and close it.

        This aborts the process if a write has failed and the disk is still full; see ``_has_room``.
        """
        self._prepared.clear()
        connection, self._connection = self._connection, None
        database, self._database = self._database, None
        with self._working(), cleared_memory():
            try:
                if connection is not None:
                    connection.close()
            finally:
                if database is not None:
                    database.close()

    def _abandon(self) -> None:
        """Keep the engine's objects alive until the process ends, because destroying them would abort the process."""
        self._prepared.clear()
        for held in (self._connection, self._database):
            if held is not None:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
        self._connection = self._database = None

    def _renew(self) -> None:
        if not self._has_room():
            raise StoreUnavailable(f"{self.file}: the disk is full; make room: nothing can be written until then")
        self._stop()
        self._start()
        self._suspect = False
        self._transactions = 0

    def _has_room(self) -> bool:
        """Return whether the disk has room for what the engine writes when it stops.

        To find out, a megabyte is written to a probe file at the offset to which the database file may grow.
        """
        probe = self.file.with_name("probe")
        try:
            with probe.open("wb") as opened:
                opened.seek((self.file.stat().st_size if self.file.exists() else 0) + self._log_bytes())
                opened.write(bytes(_MB))
            return True
        except OSError:
            return False
        finally:
            probe.unlink(missing_ok=True)

    def _log_bytes(self) -> int:
        return self._log_file.stat().st_size if self._log_file.exists() else 0

    def _working(self) -> AbstractContextManager[None]:
        return kuzu_engine.working(self.file, self._pool_mb)

    # --- statements -----------------------------------------------------------------------------------------------

    def rows(self, statement: str, **parameters: Parameter) -> list[list[Any]]:
        """Run ``statement`` and return all rows. Outside of ``write``, it must only read. Raises ``StoreError``."""
        if not self._open:
            raise Closed(f"{self.file}: is closed")
        if self._connection is None:
            self._renew()
        try:
            return self._run(statement, parameters)
        except PoolFull:
            if self.writing or not self._transactions:
                raise
        self._renew()
        return self._run(statement, parameters)

    def _run(self, text: str, parameters: Mapping[str, Any]) -> list[list[Any]]:
        if "CREATE" in text:
            self._created += len(parameters.get("rows", " "))
        if self._created >= self._plan_again:
            while self._created >= self._plan_again:
                self._plan_again *= 2
            self._prepared.clear()
        with self._working():
            result = self._execute(text, parameters)
            try:
                return list(result.get_all())
            finally:
                result.close()

    def _execute(self, text: str, parameters: Mapping[str, Any]) -> Any:
        if not parameters:
            return self._connection.execute(text)
        if "rows" in parameters:
            # Not prepared, so that it is planned for the current sizes. A plan for small tables joins large ones badly.
            return self._connection.execute(text, {"rows": [dict(row) for row in parameters["rows"]]})
        # Planning costs three times as much as a point read.
        prepared = self._prepared.get(text)
        if prepared is None:
            prepared = self._module.PreparedStatement(self._connection, text, dict(parameters))
            self._prepared[text] = prepared
        return self._connection.execute(prepared, dict(parameters))

    def write(self, work: Callable[[], object]) -> None:
        """Run ``work``, which calls ``rows``, in a transaction. If anything fails, the transaction is rolled back.

        If the transaction does not fit into the pool, the pool is emptied and ``work`` is run once more with
        ``sparing`` set.
        """
        if self._suspect or self._transactions >= self._most_transactions or self._log_bytes() > _LONG_LOG:
            self._renew()
        try:
            self._transact(work)
        except PoolFull:
            self._renew()
            self.sparing = True
            try:
                self._transact(work)
            finally:
                self.sparing = False
        self._transactions += 1

    def _transact(self, work: Callable[[], object]) -> None:
        self.writing = True
        try:
            self.rows("BEGIN TRANSACTION")
            work()
            self.rows("COMMIT")
        except BaseException:
            self._suspect = True
            self._roll_back()
            raise
        finally:
            self.writing = False

    def _roll_back(self) -> None:
        """End a failed transaction by closing its connection, and open a new connection."""
        self._prepared.clear()
        connection, self._connection = self._connection, None
        if connection is not None:
            with self._working():
                connection.close()
                self._connection = self._module.Connection(self._database, num_threads=1)

    # --- files ----------------------------------------------------------------------------------------------------

    def bytes_on_disk(self) -> int:
        """The size of the database including its log. Raises ``OSError``."""
        return self.file.stat().st_size + self._log_bytes()

    def copy(self) -> Path:
        """Copy the database to a file beside it, between two transactions. Replaces an older copy."""
        self.remove_copy()
        target = self._copied()
        with kuzu_engine.file_errors(target):
            shutil.copyfile(self.file, target)
            if self._log_file.exists():
                shutil.copyfile(self._log_file, target.with_name(target.name + ".wal"))
        return target

    def remove_copy(self) -> None:
        """Remove the copy, if it exists."""
        target = self._copied()
        with kuzu_engine.file_errors(target):
            for left in target.parent.glob(target.name + "*"):
                left.unlink()

    def _copied(self) -> Path:
        return self.file.with_name("query.db")


def _torn_log(error: RuntimeError) -> bool:
    text = str(error)
    return "WAL file is corrupted" in text or ("Reading past the end" in text and ".wal" in text)
