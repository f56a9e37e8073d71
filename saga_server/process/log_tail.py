"""The latest log records, kept in memory for the admin API."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from saga_server.process.current import Current
from saga_server.terminal import on_one_line

KEPT = 500
"""Most records that are kept; older ones are dropped."""
_LONGEST = 2_000


class LogTail(logging.Handler):
    """Keeps the latest records as rows, without keys. Private records, which hold text of a story, are left out."""

    def __init__(self, current: Current) -> None:
        super().__init__()
        self._current = current
        self._rows: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Store ``record`` unless it is private."""
        if getattr(record, "private", False):
            return
        try:
            text = self._current.mask.for_log(on_one_line(record.getMessage()))[:_LONGEST]
        except Exception:  # noqa: BLE001 - like every handler: a bad record must not stop the program
            self.handleError(record)
            return
        self._count += 1
        self._rows.append(
            {
                "number": self._count,
                "at": round(record.created, 3),
                "level": record.levelname.lower(),
                "logger": record.name,
                "text": text,
            }
        )

    def rows(self, after: int, limit: int) -> Sequence[Mapping[str, Any]]:
        """Return the latest ``limit`` rows with a number above ``after``, oldest first."""
        return [row for row in self._rows if row["number"] > after][-limit:]
