"""A Kuzu or Ladybug database in a directory: its schema, its statements and transactions, and how it survives faults.

All of it runs on one thread, a ``Worker``'s. The engines have one write transaction at a time, and roll all of it back
when a statement of it fails.
"""

from __future__ import annotations

import ctypes
import logging
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen

from saga_backends.graph import kuzu_engine
from saga_backends.graph.kuzu_engine import Engine
from saga_backends.path_lock import PathLock
from saga_core.errors import Closed, NewerSchema, StoreCorrupt, StoreError, StoreUnavailable

log = logging.getLogger("saga.stores")

_MB = 1_024 * 1_024
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
"""More than a database without any table ever has."""


def _names(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\$(\w+)", text))


@frozen
class Statement:
    """Cypher with parameters, all of them texts: an engine may keep a plan only for the types it was made with."""

    text: str
    parameters: frozenset[str] = field(init=False)

    @parameters.default
    def _found(self) -> frozenset[str]:
        return _names(self.text)


_TABLE_NAMES = Statement("CALL show_tables() RETURN name")
_GET_META = Statement("MATCH (m:Meta {name: $name}) RETURN m.value")


class KuzuDatabase:
    """``directory`` holds ``graph.db``, its write-ahead log, the lock and, while a query runs, a copy of the database.

    After a write failed the engine is opened anew before the next one: closed while the disk is full it would abort
    the process, and Ladybug would wait for itself forever in the next write.
    """

    def __init__(self, engine: Engine, directory: Path, *, pool_mb: int, max_mb: int) -> None:
        self.engine = engine
        self.file = directory / "graph.db"
        self.version = ""
        self._pool_mb = pool_mb
        self._max_mb = max_mb
        self._log = directory / "graph.db.wal"
        self._module: Any = None
        self._database: Any = None
        self._connection: Any = None
        self._prepared: dict[str, Any] = {}
        self._suspect = False
        self._lock: PathLock | None = None

    @property
    def location(self) -> Path:
        """Where the Python package of the engine lies: what a process of its own needs to import it."""
        return Path(self._module.__file__).parent.parent

    # --- opening and closing --------------------------------------------------------------------------------------

    def open(self) -> None:
        """Import the engine, lock the directory, open the database and make its tables if it has none.

        Raises ``StoreUnavailable``, ``StoreLocked``, ``StoreCorrupt`` or ``NewerSchema``.
        """
        directory = self.file.parent
        if directory.exists() and not directory.is_dir():
            raise StoreUnavailable(f"{directory}: is a file; the graph keeps several: give the path of a directory")
        with kuzu_engine.file_errors(self.file):
            directory.mkdir(parents=True, exist_ok=True)
        self._module = kuzu_engine.load(self.engine)
        self._lock = PathLock(directory)
        self.version = str(self._module.__version__)
        kuzu_engine.check_header(self.file, self._log, self.engine, int(self._module.storage_version))
        self.remove_copy()
        self._start()
        self._prepare_schema()

    def close(self) -> None:
        """Bring the log into the database, close it and unlock the directory. A second call does nothing."""
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            if self._suspect and not self._has_room():
                self._abandon()
            else:
                self._stop()
            self.remove_copy()
        finally:
            lock.release()

    def _start(self) -> None:
        with kuzu_engine.opening(self.file):
            try:
                self._database = self._open_engine()
            except RuntimeError as error:
                if self.engine != kuzu_engine.LADYBUG or not _torn_log(error):
                    raise
                # A process that was killed, or lost its power, in the middle of a record; Kuzu does the same unasked.
                # Watermarks are in the log too: what is lost is made anew from the journal.
                log.warning("%s: its log ends in a damaged record (%s); what stands before is kept", self.file, error)
                self._database = self._open_engine(throw_on_wal_replay_failure=False)
            self._connection = self._module.Connection(self._database, num_threads=1)

    def _open_engine(self, **more: Any) -> Any:
        return self._module.Database(
            str(self.file),
            buffer_pool_size=self._pool_mb * _MB,
            max_num_threads=1,
            max_db_size=self._max_mb * _MB,
            **more,
        )

    def _stop(self) -> None:
        self._prepared.clear()
        connection, self._connection = self._connection, None
        database, self._database = self._database, None
        with kuzu_engine.working(self.file, self._pool_mb):
            try:
                if connection is not None:
                    connection.close()
            finally:
                if database is not None:
                    database.close()

    def _abandon(self) -> None:
        """Let the engine's objects live as long as the process, which their end would abort."""
        log.warning("%s: the disk is full: left as a kill would leave it; nothing acknowledged is lost", self.file)
        self._prepared.clear()
        for held in (self._connection, self._database):
            if held is not None:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
        self._connection = self._database = None

    def _prepare_schema(self) -> None:
        try:
            found = {name for (name,) in self.rows(_TABLE_NAMES)}
            if not found:
                if self.file.stat().st_size > _EMPTY_BYTES:
                    raise StoreCorrupt(f"{self.file}: its tables are gone; {kuzu_engine.remedy(self.file)}")
                with self.writing():
                    for text in _SCHEMA:
                        self.rows(Statement(text))
                return
            self._check_schema(found)
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

    def rows(self, statement: Statement, **parameters: str) -> list[list[Any]]:
        """All rows of ``statement``. Outside of ``writing`` for reading only.

        A parameter that is not bound would be null without a word, so that a difference is refused here.
        """
        if parameters.keys() != statement.parameters or any(type(value) is not str for value in parameters.values()):
            raise StoreError(f"{statement.text}: takes texts for {sorted(statement.parameters)}, got {parameters!r}")
        if self._connection is None:
            self._reopen()
        with kuzu_engine.working(self.file, self._pool_mb):
            result = self._execute(statement, parameters)
            try:
                return list(result.get_all())
            finally:
                result.close()

    def _execute(self, statement: Statement, parameters: Mapping[str, str]) -> Any:
        if not parameters:
            return self._connection.execute(statement.text)
        # Planning costs three times as much as a point read.
        prepared = self._prepared.get(statement.text)
        if prepared is None:
            prepared = self._module.PreparedStatement(self._connection, statement.text, dict(parameters))
            self._prepared[statement.text] = prepared
        return self._connection.execute(prepared, dict(parameters))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction. When anything in it fails, all of it is rolled back, and the engine opened anew later."""
        if self._suspect:
            self._reopen()
        try:
            self.rows(_BEGIN)
            yield
            self.rows(_COMMIT)
        except BaseException:
            self._suspect = True
            self._reconnect()
            raise

    def _reconnect(self) -> None:
        """End a failed transaction with its connection; reads go on over another one."""
        self._prepared.clear()
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with kuzu_engine.working(self.file, self._pool_mb):
            connection.close()
            self._connection = self._module.Connection(self._database, num_threads=1)

    def _reopen(self) -> None:
        if self._lock is None:
            raise Closed(f"{self.file}: is closed")
        if not self._has_room():
            raise StoreUnavailable(f"{self.file}: the disk is full; make room: nothing can be written until then")
        self._stop()
        self._start()
        self._suspect = False

    def _has_room(self) -> bool:
        """Whether the engine can write what its closing writes, at the place of the file where it would."""
        probe = self.file.with_name("probe")
        try:
            with probe.open("wb") as opened:
                opened.seek(sum(path.stat().st_size for path in (self.file, self._log) if path.exists()))
                opened.write(bytes(_MB))
            return True
        except OSError:
            return False
        finally:
            probe.unlink(missing_ok=True)

    # --- looking at the files -------------------------------------------------------------------------------------

    def bytes_on_disk(self) -> int:
        """The size of the database together with its log. Raises ``OSError``."""
        return self.file.stat().st_size + (self._log.stat().st_size if self._log.exists() else 0)

    def copy(self) -> Path:
        """A copy of the database between two transactions, beside it, in place of an older one."""
        if self._lock is None:
            raise Closed(f"{self.file}: is closed")
        self.remove_copy()
        target = self._copied()
        with kuzu_engine.file_errors(target):
            shutil.copyfile(self.file, target)
            if self._log.exists():
                shutil.copyfile(self._log, target.with_name(target.name + ".wal"))
        return target

    def remove_copy(self) -> None:
        """Remove the copy, if there is one."""
        target = self._copied()
        with kuzu_engine.file_errors(target):
            for left in target.parent.glob(target.name + "*"):
                left.unlink()

    def _copied(self) -> Path:
        return self.file.with_name("query.db")


_BEGIN = Statement("BEGIN TRANSACTION")
_COMMIT = Statement("COMMIT")


def _torn_log(error: RuntimeError) -> bool:
    text = str(error)
    return "WAL file is corrupted" in text or ("Reading past the end" in text and ".wal" in text)
