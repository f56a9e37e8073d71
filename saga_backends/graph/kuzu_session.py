"""One opening of a Kuzu or Ladybug database: the engine's objects, from start to stop.

An opening is short, because the engines cannot cope with long ones. Each updating transaction keeps a copy of what it
touched (some 100 KB) in the buffer pool until a checkpoint, and would fill it. And after edges were deleted, Kuzu
0.11.3 crashes in the second checkpoint of one opening, or in a read after the first. So the automatic checkpoints are
off, and stopping makes one.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saga_backends.graph import kuzu_engine
from saga_backends.graph.kuzu_engine import Engine

log = logging.getLogger("saga.stores")

_MB = 1_024 * 1_024
_FIRST_PLANS = 64
"""Rows after whose creation plans are made anew, and again after twice as many: a plan that was made for small tables
reads large ones from the wrong end (10 ms for a node's edges, against 0.2)."""


class KuzuSession:
    """Started by ``start``. Calls belong to one thread; each raises ``StoreError`` only."""

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
        """Rows since the start, of nodes and edges and whatever else, also those that were rolled back."""
        self._plan_again = _FIRST_PLANS

    @property
    def open(self) -> bool:
        """Whether statements can be run."""
        return self._connection is not None

    def start(self) -> None:
        """Open the database, which brings what is in its log into it."""
        replayed = self.log_bytes() > 0
        self._start()
        if replayed:
            # The engine made a checkpoint of it: see above.
            self.stop()
            self._start()

    def _start(self) -> None:
        self.created, self._plan_again = 0, _FIRST_PLANS
        with kuzu_engine.opening(self.file):
            try:
                self._database = self._open()
            except RuntimeError as error:
                if self.engine != kuzu_engine.LADYBUG or not _torn_log(error):
                    raise
                # A process that was killed, or lost its power, in the middle of a record; Kuzu does the same unasked.
                # Watermarks are in the log too: what is lost is made anew from the journal.
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
        """All rows of a statement with its parameters: texts, or ``rows`` of texts with the same names.

        Of no other types: an engine may keep a plan for those it had.
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
            # Planned for the tables as they are: a plan for small ones would join large ones the wrong way round.
            return self._connection.execute(text, {"rows": [dict(row) for row in parameters["rows"]]})
        # Planning costs three times as much as a point read.
        prepared = self._prepared.get(text)
        if prepared is None:
            prepared = self._module.PreparedStatement(self._connection, text, dict(parameters))
            self._prepared[text] = prepared
        return self._connection.execute(prepared, dict(parameters))

    def roll_back(self) -> None:
        """End a failed transaction with its connection, and go on over another one."""
        self._prepared.clear()
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with kuzu_engine.working(self.file, self._pool_mb):
            connection.close()
            self._connection = self._module.Connection(self._database, num_threads=1)

    def stop(self) -> None:
        """Bring the log into the database and close it. Aborts the process when a write failed and the disk is full
        still: see ``has_room``."""
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

    def abandon(self) -> None:
        """Let the engine's objects live as long as the process, which their end would abort."""
        self._prepared.clear()
        for held in (self._connection, self._database):
            if held is not None:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
        self._connection = self._database = None

    def has_room(self) -> bool:
        """Whether what the engine writes when it stops can be written, at the place of the file where it would be."""
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
