"""Chroma's index files after a kill: detects torn ones, and has them rebuilt.

Chroma writes the index of a collection in place, five files one after the other, every few writes. A process that is
killed meanwhile leaves them torn. The next one cannot open the collection, or hangs while opening it. The database
beside them is intact. So the names of collections being written are kept in a file while that lasts, and the index of a
collection found there is deleted before Chroma sees it.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import UUID

from saga_core.replacing import replace_file

DATABASE = "chroma.sqlite3"
_MARK = "saga.writing"

_INDEX = (
    "SELECT segments.id FROM segments JOIN collections ON collections.id = segments.collection "
    "WHERE collections.name = ? AND segments.scope = 'VECTOR'"
)


class WriteMark:
    """The file in ``folder`` that names the collections being written. It outlives the process, not the power."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / _MARK
        self._names: dict[str, None] = {}

    def left(self) -> list[str]:
        """The names that an earlier process left. They stay until ``clear``."""
        if not self._file.exists():
            return []
        self._names = dict.fromkeys(self._file.read_text(encoding="ascii", errors="replace").split())
        return list(self._names)

    def clear(self) -> None:
        """Nothing is being written, and all that was is whole."""
        self._names = {}
        self._save()

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """``name`` is in the file meanwhile, and stays there when the write fails: the index may be torn then too."""
        known = name in self._names
        self._names[name] = None
        self._save()
        yield
        if not known:
            del self._names[name]
            self._save()

    def _save(self) -> None:
        new = self._file.with_name(_MARK + ".new")
        new.write_text("\n".join(self._names), encoding="ascii")
        replace_file(new, self._file)


def throw_away(folder: Path, names: Sequence[str]) -> None:
    """Remove the index of each of these collections, so that Chroma begins a new one. No client may be open.

    Raises ``sqlite3.Error`` for a damaged database.
    """
    with _database(folder) as database:
        if database is None:
            return
        for name in names:
            for (segment,) in database.execute(_INDEX, (name,)).fetchall():
                _remove(folder / segment)
                # Chroma would go on where the index had been.
                database.execute("DELETE FROM max_seq_id WHERE segment_id = ?", (segment,))


def sweep(folder: Path) -> None:
    """Remove the indexes of collections that were deleted, which Chroma leaves lying. No client may be open.

    Raises ``sqlite3.Error`` for a damaged database.
    """
    with _database(folder) as database:
        if database is None:
            return
        known = {segment for (segment,) in database.execute("SELECT id FROM segments")}
    for entry in list(folder.iterdir()):
        if entry.name not in known and _is_index(entry):
            _remove(entry)


@contextmanager
def _database(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Chroma's database; None before it was made, whole."""
    file = folder / DATABASE
    if not file.exists():
        yield None
        return
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        yield connection if tables >= {"collections", "segments", "max_seq_id"} else None


def _is_index(entry: Path) -> bool:
    try:
        UUID(entry.name)
    except ValueError:
        return False
    return entry.is_dir()


def _remove(index: Path) -> None:
    if index.exists():
        shutil.rmtree(index)
