"""A session with a Kuzu or Ladybug database, from opening to closing it.

Sessions must be short, because the engines have problems with long ones. Each writing transaction keeps a copy of what
it touched (some 100 KB) in the buffer pool until a checkpoint, and would fill the pool. And once edges were deleted,
Kuzu 0.11.3 crashes in the second checkpoint of a session, or in a read after the first. So automatic checkpoints are
off, and closing makes one.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saga_backends.graph import kuzu_engine
from saga_backends.graph.kuzu_engine import Engine
from saga_backends.graph.kuzu_memory import cleared_memory

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
