"""Copies the SQLite state file while it is in use, seals the copy with a digest, and reads it back.

A copy is made by SQLite's online backup over a separate connection. It is a consistent snapshot, and needs no lock that
a running server holds. A copy is an ordinary state file with one additional entry, the seal. The seal contains the time
of the copy, the number of entries and a digest of them.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from attrs import define, evolve, field, frozen

from saga_backends import sqlite_file
from saga_backends.key_bytes import decode, encode, range_end
from saga_backends.state_kv.sqlite import DELETE, GET, PUT, SCHEMA
from saga_core import codec
from saga_core.errors import BadInput, HalfMoved, StoreCorrupt, StoreUnavailable
from saga_core.replacing import replace_file, sync
from saga_core.stores import Key

SEAL = ("meta", "backup")
_FORMAT = ("meta", "format")
_MOVING = ("meta", "moving")
_MOVED = ("meta", "moved")
_ALL = "SELECT key, value FROM entries ORDER BY key"


@frozen
class Seal:
    """The seal of a copy."""

    made: float
    """The time of the copy, in seconds since the epoch."""
    saga: str
    """The version of SAGA that made the copy."""
    entries: int
    digest: str
    """The SHA-256 of all other entries, in key order."""


@frozen
class Copy:
    """A copy that was read and verified."""

    path: Path
    bytes: int
    journal: int
    """The format of its journal."""
    sessions: tuple[str, ...]
    """The ids of its sessions, oldest first."""
    turns: int
    seal: Seal | None
    """None for a state file that was not made as a copy, such as one that was put aside."""
    trash: tuple[str, ...] = ()
    """The ids of the deleted sessions that can be restored."""
    moved: str = ""
    """Where its journal was moved; empty if it was not."""


def copy_state(source: Path, target: Path, *, made: float, saga: str) -> Copy:
    """Copy the state file at ``source``, which may be in use, to ``target``, and verify the copy. Blocks.

    ``target`` is created atomically. Raises ``BadInput`` if it exists or its folder does not, ``StoreUnavailable`` if a
    file cannot be read or written, ``StoreCorrupt`` if the source is damaged, ``HalfMoved`` if its journal is not
    complete yet, and ``NewerSchema``.
    """
    if target.exists():
        raise BadInput(f"{target}: exists already; give a new name, or a folder")
    if not source.is_file():
        raise StoreUnavailable(f"{source}: there is no state file to copy")
    if not target.parent.is_dir():
        raise BadInput(f"{target.parent}: there is no such folder; make it, or correct the path")
    part = target.with_name(target.name + ".part")
    try:
        part.unlink(missing_ok=True)
        part.touch(0o600)
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        with sqlite_file.translated(source), closing(_reading(source)) as original:
            known = sqlite_file.version_of(original, source, SCHEMA)
            with sqlite_file.translated(target), closing(sqlite3.connect(part, isolation_level=None)) as copied:
                original.backup(copied)
                if known and _value(copied, _MOVING) is not None:  # damage is told of the source in either case
                    raise HalfMoved(
                        f"{source}: a journal is being moved into it, and part of it is missing; no backup was made. "
                        "Wait until `saga move` has ended, or give the same command again to finish what was cut off"
                    )
                copied.execute("PRAGMA journal_mode=DELETE")
                _seal(copied, made, saga)
        sync(part)
        found = read_copy(part)
        replace_file(part, target)
        sync(target.parent)
    except StoreCorrupt as error:
        if str(error).startswith(f"{source}: "):
            raise
        raise StoreCorrupt(  # the damage was found in the copy, but comes from the source
            f"{source}: is damaged, and no backup was made of it; put an earlier one in its place with `saga restore "
            f"FILE --force`, or save what can be read with `saga restore {source} --damaged --force`"
        ) from error
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        part.unlink(missing_ok=True)
    return evolve(found, path=target)


def _unwritable(target: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"{target}: cannot be written ({error.strerror}); give a place where this user may write")


def read_copy(path: Path) -> Copy:
    """Read and verify a copy, or another state file that is not in use, completely. Blocks.

    Raises ``StoreCorrupt`` if it is damaged or was changed after it was sealed, ``NewerSchema``, and ``BadInput`` if it
    does not exist or contains no journal.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file; give a file that `saga backup` made")
    another = f"take another backup, or save what can be read with `saga restore {path} --damaged`"
    with sqlite_file.translated(path, another), closing(_reading(path)) as file:
        if not sqlite_file.version_of(file, path, SCHEMA):
            raise BadInput(f"{path}: contains no journal")
        wrong = sqlite_file.check(file, thorough=True)
        if wrong is not None:
            raise StoreCorrupt(f"{path}: is damaged ({wrong}); {another}")
        try:
            return _read(file, path)
        except codec.UNREADABLE as error:
            raise StoreCorrupt(f"{path}: holds what SAGA did not write ({str(error)[:200]!r}); {another}") from error


def _read(file: sqlite3.Connection, path: Path) -> Copy:
    raw = _value(file, SEAL)
    seal = None if raw is None else codec.from_plain(json.loads(raw), Seal)
    entries, digest = _digest(file)
    if seal is not None and (entries, digest) != (seal.entries, seal.digest):
        raise StoreCorrupt(f"{path}: is not what it was when it was made; take another backup")
    journal = _value(file, _FORMAT)
    if journal is None:
        raise BadInput(f"{path}: contains no journal")
    sessions = tuple(decode(key)[1] for (key,) in _under(file, "session"))
    turns = sum(1 for _ in _under(file, "turn")) - len(sessions)
    trash = tuple(dict.fromkeys(decode(key)[1] for (key,) in _under(file, "trash")))
    moved = (_value(file, _MOVED) or b"").decode(errors="replace")
    return Copy(path, path.stat().st_size, int(json.loads(journal)["format"]), sessions, turns, seal, trash, moved)


def _reading(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None)


def _seal(file: sqlite3.Connection, made: float, saga: str) -> None:
    entries, digest = _digest(file)
    seal = {"made": made, "saga": saga, "entries": entries, "digest": digest}
    file.execute(PUT, (encode(SEAL), json.dumps(seal).encode()))


def _digest(file: sqlite3.Connection) -> tuple[int, str]:
    hasher, count, own = hashlib.sha256(), 0, encode(SEAL)
    for key, value in file.execute(_ALL):
        if key != own:
            if encode(decode(key)) != key:
                raise ValueError(f"{key[:40]!r} is no key")
            count += 1
            for part in (key, value):
                hasher.update(len(part).to_bytes(8))
                hasher.update(part)
    return count, hasher.hexdigest()


def _value(file: sqlite3.Connection, key: tuple[str, ...]) -> bytes | None:
    row = file.execute(GET, (encode(key),)).fetchone()
    return None if row is None else row[0]


def _under(file: sqlite3.Connection, name: str) -> sqlite3.Cursor:
    start = encode((name,))
    return file.execute("SELECT key FROM entries WHERE key >= ? AND key < ? ORDER BY key", (start, range_end(start)))


# --- Salvages the readable entries of a damaged state file by copying them into a new file ------------------------
#
# SQLite stops at the first page that it cannot read. Salvage continues after that page.

_LAST = 2**62
"""Larger than every row number in a file."""
_VIEW = ("view",)
_BEHIND = "SELECT rowid, key, value FROM entries WHERE rowid > ? ORDER BY rowid"


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
        closing(_reading(source)) as damaged,
        closing(sqlite_file.connect(target, SCHEMA)) as fresh,
        sqlite_file.translated(target),
    ):
        _refuse_programs(damaged, source)
        fresh.execute("BEGIN")
        fresh.executemany(PUT, [(encode(key), value) for key, value in missing.items()])
        for key, value in _Reading(damaged, told):
            if _makes_sense(key, value):
                fresh.execute(PUT, (key, value))
                told.entries += 1
            else:
                told.garbled += 1
        fresh.execute(DELETE, (encode(SEAL),))
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
