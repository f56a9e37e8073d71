"""Salvages the readable entries of a damaged state file by copying them into a new file.

SQLite stops at the first page that it cannot read. Salvage continues after that page.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from attrs import define, field

from saga_backends import sqlite_file
from saga_backends.key_bytes import decode, encode
from saga_backends.state_kv.sqlite import SCHEMA
from saga_backends.state_kv.sqlite_copy import SEAL
from saga_core.errors import BadInput, StoreCorrupt
from saga_core.stores import Key

_LAST = 2**62
"""Larger than every row number in a file."""
_VIEW = ("view",)
_BEHIND = "SELECT rowid, key, value FROM entries WHERE rowid > ? ORDER BY rowid"
_PUT = "INSERT OR REPLACE INTO entries (key, value) VALUES (?, ?)"


@define
class Salvaged:
    """The result of salvaging."""

    entries: int = 0
    gaps: int = 0
    """The number of unreadable places, each of which may have contained one entry or many."""
    garbled: int = 0
    """The number of entries that could be read but are invalid."""


def salvage(source: Path, target: Path, missing: Mapping[Key, bytes]) -> Salvaged:
    """Write every readable entry of ``source`` to ``target``, which must not exist. Blocks.

    Entries of ``missing`` are written if ``source`` has lost them. ``source`` is not changed. Raises ``BadInput`` if it
    does not exist, and ``StoreCorrupt`` if nothing of it can be read.
    """
    if not source.is_file():
        raise BadInput(f"{source}: there is no such file")
    told = Salvaged()
    with (
        closing(sqlite3.connect(f"file:{quote(str(source))}?mode=ro", uri=True, isolation_level=None)) as damaged,
        closing(sqlite_file.connect(target, SCHEMA)) as fresh,
        sqlite_file.translated(target),
    ):
        _refuse_programs(damaged, source)
        fresh.execute("BEGIN")
        fresh.executemany(_PUT, [(encode(key), value) for key, value in missing.items()])
        for key, value in _Reading(damaged, told):
            if _makes_sense(key, value):
                fresh.execute(_PUT, (key, value))
                told.entries += 1
            else:
                told.garbled += 1
        fresh.execute("DELETE FROM entries WHERE key = ?", (encode(SEAL),))
        fresh.execute("COMMIT")
        fresh.execute("PRAGMA journal_mode=DELETE")
    if not told.entries:
        raise StoreCorrupt(f"{source}: none of it can be read")
    return told


def _refuse_programs(damaged: sqlite3.Connection, source: Path) -> None:
    try:
        sqlite_file.refuse_programs(damaged, source)
    except sqlite3.DatabaseError:
        return  # the damage is found when the entries are read


def _makes_sense(key: bytes, value: bytes) -> bool:
    """Return whether an entry is valid, because SQLite does not notice every torn page.

    Keys must be well-formed. Values must be JSON or empty, except those of views.
    """
    try:
        segments = decode(key)
        if value and segments[:1] != _VIEW:
            json.loads(value)
        return type(value) is bytes and encode(segments) == key
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


@define
class _Reading:
    """Iterates over the readable entries of a damaged file, in row order."""

    file: sqlite3.Connection
    told: Salvaged
    _at: int = field(default=0, init=False)
    """The last row that was read, or the row after which reading continues."""

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        while True:
            try:
                for row, key, value in self.file.execute(_BEHIND, (self._at,)):
                    self._at = row
                    yield key, value
            except sqlite3.DatabaseError:
                self.told.gaps += 1
                if not self._skip():
                    return
            else:
                return

    def _skip(self) -> bool:
        """Skip the unreadable place. Returns False if nothing after it can be read."""
        wide = 1
        while not self._reads(self._at + wide):
            wide *= 2
            if wide > _LAST:
                return False
        bad, good = self._at + wide // 2, self._at + wide
        while good - bad > 1:
            middle = (bad + good) // 2
            if self._reads(middle):
                good = middle
            else:
                bad = middle
        self._at = good
        return True

    def _reads(self, row: int) -> bool:
        """Return whether the entry after ``row`` can be read. True if there is none."""
        try:
            self.file.execute(_BEHIND, (row,)).fetchone()
        except sqlite3.DatabaseError:
            return False
        return True
