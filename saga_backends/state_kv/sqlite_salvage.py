"""Salvage: copies what can be read of a damaged state file, entry by entry, into a fresh one.

SQLite gives up at the first page that it cannot interpret. Salvage continues after that page.
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
from saga_backends.state_kv.key_bytes import decode, encode
from saga_backends.state_kv.sqlite import SCHEMA
from saga_backends.state_kv.sqlite_copy import SEAL
from saga_core.errors import BadInput, StoreCorrupt
from saga_core.stores import Key

_LAST = 2**62
"""Beyond every row that a file has."""
_VIEW = ("view",)
_BEHIND = "SELECT rowid, key, value FROM entries WHERE rowid > ? ORDER BY rowid"
_PUT = "INSERT OR REPLACE INTO entries (key, value) VALUES (?, ?)"


@define
class Salvaged:
    """The result of salvaging."""

    entries: int = 0
    gaps: int = 0
    """Places that could not be read, each of one entry or of many."""
    garbled: int = 0
    """Entries that could be read, and make no sense."""


def salvage(source: Path, target: Path, missing: Mapping[Key, bytes]) -> Salvaged:
    """Write every entry of ``source`` that can be read to ``target``, which must not be there. Blocks.

    Those of ``missing`` are written where they were lost. ``source`` is not changed. Raises ``BadInput`` when it is not
    there, ``StoreCorrupt`` when nothing of it can be read.
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
        return  # reading tells: it is damaged


def _makes_sense(key: bytes, value: bytes) -> bool:
    """A page may be torn so that SQLite does not notice. Keys have a form; values are JSON or nothing, but in views."""
    try:
        segments = decode(key)
        if value and segments[:1] != _VIEW:
            json.loads(value)
        return type(value) is bytes and encode(segments) == key
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


@define
class _Reading:
    """The entries of a damaged file, in the order of rows."""

    file: sqlite3.Connection
    told: Salvaged
    _at: int = field(default=0, init=False)
    """The row that was read last, or behind which it goes on."""

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
        """Go on behind the place that cannot be read; False when nothing can be read behind it."""
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
        """Whether the entry behind ``row`` can be read; also when there is none."""
        try:
            self.file.execute(_BEHIND, (row,)).fetchone()
        except sqlite3.DatabaseError:
            return False
        return True
