"""Detects index files of Chroma that are torn after a kill, and has them rebuilt.

Every few writes, Chroma rewrites the index of a collection in place, as five files one after the other. If the process
is killed meanwhile, the files are inconsistent, and the next process cannot open the collection or hangs while opening
it. The database beside the index is intact. So the names of collections that are being written are kept in a file
during the write. If a name is found there at the next start, that index is deleted before Chroma opens it.
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
    """The file in ``folder`` with the names of the collections that are being written.

    It survives a kill of the process, but not necessarily a power cut.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / _MARK
        self._names: dict[str, None] = {}

    def left(self) -> list[str]:
        """Return the names that an earlier process has left. They are kept until ``clear``."""
        if not self._file.exists():
            return []
        self._names = dict.fromkeys(self._file.read_text(encoding="ascii", errors="replace").split())
        return list(self._names)

    def clear(self) -> None:
        """Remove all names, once no write is in progress and all indexes are intact."""
        self._names = {}
        self._save()

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """Keep ``name`` in the file during a write. It stays there if the write fails, as the index may be torn."""
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
    """Remove the index of each of these collections, so that Chroma creates a new one. No client may be open.

    Raises ``sqlite3.Error`` if the database is damaged.
    """
    with _database(folder) as database:
        if database is None:
            return
        for name in names:
            for (segment,) in database.execute(_INDEX, (name,)).fetchall():
                _remove(folder / segment)
                # Otherwise Chroma would continue from the state of the removed index.
                database.execute("DELETE FROM max_seq_id WHERE segment_id = ?", (segment,))


def sweep(folder: Path) -> None:
    """Remove the indexes of deleted collections, which Chroma leaves behind. No client may be open.

    Raises ``sqlite3.Error`` if the database is damaged.
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
    """Open Chroma's database. Gives None if it does not exist or is not complete yet."""
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
