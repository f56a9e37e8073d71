"""Manages a Kuzu or Ladybug database in a directory: tables, statements, transactions and recovery from faults.

All code runs on the thread of one ``Worker``. The engines allow one write transaction at a time and roll it back
completely if one of its statements fails.
"""

from __future__ import annotations

import ctypes
import logging
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from attrs import field, frozen

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


# --- A session with a Kuzu or Ladybug database, from opening to closing it ----------------------------------------
#
# Sessions must be short, because the engines have problems with long ones. Each writing transaction keeps a copy of
# what it touched (some 100 KB) in the buffer pool until a checkpoint, and would fill the pool. And once edges were
# deleted, Kuzu 0.11.3 crashes in the second checkpoint of a session, or in a read after the first. So automatic
# checkpoints are off, and closing makes one.

log = logging.getLogger("saga.stores")

_MB = 1_024 * 1_024
_FIRST_PLANS = 64
"""The number of created rows after which prepared statements are planned again. It doubles each time.

A plan that was made for small tables reads large ones from the wrong end (10 ms for a node's edges instead of 0.2).
"""


class KuzuSession:
    """A session, opened by ``start``. All calls must come from one thread, and raise only ``StoreError``."""

    def __init__(self, engine: Engine, module: Any, file: Path, *, pool_mb: int, max_mb: int) -> None:
        self.engine = engine
        self.file = file
        self.log_file = file.with_name(file.name + ".wal")
        self._module = module
        self._pool_mb = pool_mb
        self._max_mb = max_mb
        self._database: Any = None
        self._connection: Any = None
        self._prepared: dict[str, Any] = {}
        self.created = 0
        """The number of rows created since the start in all tables, including those that were rolled back."""
        self._plan_again = _FIRST_PLANS

    @property
    def open(self) -> bool:
        """Whether statements can be run."""
        return self._connection is not None

    def start(self) -> None:
        """Open the database, which also applies its write-ahead log."""
        replayed = self.log_bytes() > 0
        self._start()
        if replayed:
            # Applying the log made a checkpoint, and a second one in the same session may crash Kuzu.
            self.stop()
            self._start()

    def _start(self) -> None:
        self.created, self._plan_again = 0, _FIRST_PLANS
        with kuzu_engine.opening(self.file), cleared_memory():
            try:
                self._database = self._open()
            except RuntimeError as error:
                if self.engine != kuzu_engine.LADYBUG or not _torn_log(error):
                    raise
                # The process was killed or lost power in the middle of a record. Kuzu skips such a record by itself.
                # The log also contains the watermarks, so what is lost is rebuilt from the journal.
                log.warning(
                    "%s: its log ends in a damaged record (%s); the records before it are kept", self.file, error
                )
                self._database = self._open(throw_on_wal_replay_failure=False)
            self._connection = self._module.Connection(self._database, num_threads=1)

    def _open(self, **more: Any) -> Any:
        return self._module.Database(
            str(self.file),
            buffer_pool_size=self._pool_mb * _MB,
            max_num_threads=1,
            max_db_size=self._max_mb * _MB,
            auto_checkpoint=False,
            **more,
        )

    def run(self, text: str, parameters: Mapping[str, Any]) -> list[list[Any]]:
        """Run a statement and return all rows. Its parameters are texts, or ``rows`` of texts with the same names.

        Other types are not allowed, because an engine may reuse a plan that was made for the earlier types.
        """
        if "CREATE" in text:
            self.created += len(parameters.get("rows", " "))
        if self.created >= self._plan_again:
            while self.created >= self._plan_again:
                self._plan_again *= 2
            self._prepared.clear()
        with kuzu_engine.working(self.file, self._pool_mb):
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

    def roll_back(self) -> None:
        """End a failed transaction by closing its connection, and open a new connection."""
        self._prepared.clear()
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with kuzu_engine.working(self.file, self._pool_mb):
            connection.close()
            self._connection = self._module.Connection(self._database, num_threads=1)

    def stop(self) -> None:
        """Apply the log to the database and close it.

        This aborts the process if a write has failed and the disk is still full; see ``has_room``.
        """
        self._prepared.clear()
        connection, self._connection = self._connection, None
        database, self._database = self._database, None
        with kuzu_engine.working(self.file, self._pool_mb), cleared_memory():
            try:
                if connection is not None:
                    connection.close()
            finally:
                if database is not None:
                    database.close()

    def abandon(self) -> None:
        """Keep the engine's objects alive until the process ends, because destroying them would abort the process."""
        self._prepared.clear()
        for held in (self._connection, self._database):
            if held is not None:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
        self._connection = self._database = None

    def has_room(self) -> bool:
        """Return whether the disk has room for what the engine writes when it stops.

        To find out, a megabyte is written to a probe file at the offset to which the database file may grow.
        """
        probe = self.file.with_name("probe")
        try:
            with probe.open("wb") as opened:
                opened.seek((self.file.stat().st_size if self.file.exists() else 0) + self.log_bytes())
                opened.write(bytes(_MB))
            return True
        except OSError:
            return False
        finally:
            probe.unlink(missing_ok=True)

    def log_bytes(self) -> int:
        """The size of the write-ahead log."""
        return self.log_file.stat().st_size if self.log_file.exists() else 0


def _torn_log(error: RuntimeError) -> bool:
    text = str(error)
    return "WAL file is corrupted" in text or ("Reading past the end" in text and ".wal" in text)


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

_LONG_LOG = 16 * 1_024 * 1_024
"""The size of the write-ahead log, in bytes, above which a checkpoint is made."""


@frozen
class Statement:
    """A Cypher statement. All of its parameters are texts, except for ``$rows``."""

    text: str
    parameters: frozenset[str] = field(init=False)

    @parameters.default
    def _found(self) -> frozenset[str]:
        return frozenset(re.findall(r"\$(\w+)", self.text))


Parameter: TypeAlias = str | Sequence[Mapping[str, str]]
"""A text, or for ``$rows`` a sequence of mappings that have the same names and texts as values."""


def _is_text(value: Parameter) -> bool:
    if isinstance(value, str):
        return type(value) is str
    return all(row.keys() == value[0].keys() and all(type(part) is str for part in row.values()) for row in value)


_BEGIN = Statement("BEGIN TRANSACTION")
_COMMIT = Statement("COMMIT")
_TABLE_NAMES = Statement("CALL show_tables() RETURN name")
_GET_META = Statement("MATCH (m:Meta {name: $name}) RETURN m.value")


class KuzuDatabase:
    """``directory`` holds ``graph.db``, its write-ahead log, the lock and, while a query runs, a copy of the database.

    After a failed write, the engine is reopened before the next write, because Ladybug would deadlock otherwise. It is
    not reopened while the disk is full, because closing would then abort the process. Reads remain possible.
    """

    def __init__(self, engine: Engine, directory: Path, *, pool_mb: int, max_mb: int) -> None:
        self.engine = engine
        self.file = directory / "graph.db"
        self.version = ""
        self.packages = Path()
        """The directory of the engine's Python package, which another process needs to import it."""
        self.pool_mb = pool_mb
        self.writing = False
        """Whether a transaction is open. Any error ends it."""
        self.sparing = False
        """Whether a write is being retried because it did not fit into the pool at first."""
        self._max_mb = max_mb
        self._session: KuzuSession | None = None
        self._lock: PathLock | None = None
        self._suspect = False
        self._transactions = 0
        # Each transaction keeps some 100 KB of the pool, and larger ones several times as much.
        self._most_transactions = max(8, pool_mb // 2)

    # --- opening and closing --------------------------------------------------------------------------------------

    def open(self) -> None:
        """Lock the directory, import the engine, open the database and create its tables if it has none.

        Raises ``StoreUnavailable``, ``StoreLocked``, ``StoreCorrupt`` or ``NewerSchema``.
        """
        directory = self.file.parent
        self._lock = claim(directory, f"graph.{self.engine.name}", folder=True)
        module: Any = kuzu_engine.load(self.engine)
        self.version = str(module.__version__)
        self.packages = Path(module.__file__).parent.parent
        session = KuzuSession(self.engine, module, self.file, pool_mb=self.pool_mb, max_mb=self._max_mb)
        kuzu_engine.check_header(self.file, session.log_file, self.engine, int(module.storage_version))
        self.remove_copy()
        session.start()
        self._session = session
        self._prepare_schema()

    def close(self) -> None:
        """Checkpoint and close the database, and unlock the directory. Further calls have no effect."""
        session, self._session = self._session, None
        lock, self._lock = self._lock, None
        try:
            if session is None:
                return
            if self._suspect and not session.has_room():
                log.warning("%s: the disk is full; left as a kill would leave it: what was kept is safe", self.file)
                session.abandon()
            else:
                session.stop()
            self.remove_copy()
        finally:
            if lock is not None:
                lock.release()

    def _prepare_schema(self) -> None:
        try:
            found = {name for (name,) in self.rows(_TABLE_NAMES)}
            if found:
                self._check_schema(found)
                return
            if self.file.stat().st_size > _EMPTY_BYTES:
                raise StoreCorrupt(f"{self.file}: its tables are gone; {kuzu_engine.remedy(self.file)}")
            self.write(lambda: [self.rows(Statement(text)) for text in _SCHEMA])
        except (StoreCorrupt, NewerSchema):
            raise
        except StoreError as error:
            raise StoreUnavailable(f"{self.file}: its tables cannot be read or made: {error}") from error

    def _check_schema(self, found: set[str]) -> None:
        version = [row[0] for row in self.rows(_GET_META, name="schema")] if "Meta" in found else []
        if not found >= _TABLES or len(version) != 1 or not str(version[0]).isdecimal():
            raise StoreCorrupt(f"{self.file}: is a database of another program; {kuzu_engine.remedy(self.file)}")
        if int(version[0]) > _SCHEMA_VERSION:
            raise NewerSchema(
                f"{self.file}: has schema version {version[0]}, and this SAGA knows versions up to {_SCHEMA_VERSION}; "
                "nothing was changed: upgrade SAGA, or give another path"
            )

    # --- statements -----------------------------------------------------------------------------------------------

    def rows(self, statement: Statement, **parameters: Parameter) -> list[list[Any]]:
        """Run ``statement`` and return all rows. Outside of ``write``, it must only read.

        Raises ``StoreError`` if the parameters do not match the statement, because the engine would silently treat a
        missing one as null.
        """
        if parameters.keys() != statement.parameters or not all(map(_is_text, parameters.values())):
            raise StoreError(f"{statement.text}: takes texts for {sorted(statement.parameters)}, got {parameters!r}")
        if not self._alive().open:
            self._renew()
        try:
            return self._alive().run(statement.text, parameters)
        except PoolFull:
            if self.writing or not self._transactions:
                raise
        self._renew()
        return self._alive().run(statement.text, parameters)

    def write(self, work: Callable[[], object]) -> None:
        """Run ``work``, which calls ``rows``, in a transaction. If anything fails, the transaction is rolled back.

        If the transaction does not fit into the pool, the pool is emptied and ``work`` is run once more with
        ``sparing`` set.
        """
        if self._suspect or self._transactions >= self._most_transactions or self._alive().log_bytes() > _LONG_LOG:
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
            self.rows(_BEGIN)
            work()
            self.rows(_COMMIT)
        except BaseException:
            self._suspect = True
            self._alive().roll_back()
            raise
        finally:
            self.writing = False

    def _renew(self) -> None:
        session = self._alive()
        if not session.has_room():
            raise StoreUnavailable(f"{self.file}: the disk is full; make room: nothing can be written until then")
        session.stop()
        session.start()
        self._suspect = False
        self._transactions = 0

    def _alive(self) -> KuzuSession:
        if self._session is None:
            raise Closed(f"{self.file}: is closed")
        return self._session

    # --- files ----------------------------------------------------------------------------------------------------

    def bytes_on_disk(self) -> int:
        """The size of the database including its log. Raises ``OSError``."""
        return self.file.stat().st_size + self._alive().log_bytes()

    def copy(self) -> Path:
        """Copy the database to a file beside it, between two transactions. Replaces an older copy."""
        log_file = self._alive().log_file
        self.remove_copy()
        target = self._copied()
        with kuzu_engine.file_errors(target):
            shutil.copyfile(self.file, target)
            if log_file.exists():
                shutil.copyfile(log_file, target.with_name(target.name + ".wal"))
        return target

    def remove_copy(self) -> None:
        """Remove the copy, if it exists."""
        target = self._copied()
        with kuzu_engine.file_errors(target):
            for left in target.parent.glob(target.name + "*"):
                left.unlink()

    def _copied(self) -> Path:
        return self.file.with_name("query.db")
