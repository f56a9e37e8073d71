"""The lists beside the data: its backups, and the sessions that were forgotten in it.

Forgetting names the backups that still hold what is gone, and an older backup brings back nothing unnoticed. The lists
have paths, times and fingerprints of sessions, never their content or their ids.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from attrs import AttrsInstance, asdict, frozen

from saga_core import codec
from saga_core.errors import StoreCorrupt
from saga_core.replacing import replace_file, write_synced

T = TypeVar("T", bound=AttrsInstance)

BACKUPS, FORGOTTEN = "backups", "forgotten"
"""The names of the lists. Each is in a file of its name, under its name."""


def _read(data: Path, name: str, kind: type[T], remedy: str) -> list[T]:
    file = data / f"{name}.json"
    try:
        return [codec.from_plain(each, kind) for each in json.loads(file.read_bytes())[name]]
    except FileNotFoundError:
        return []
    except codec.UNREADABLE as error:
        raise StoreCorrupt(f"{file}: cannot be read ({error!r}); move it away, and {remedy}") from error


def _write(data: Path, name: str, entries: Sequence[AttrsInstance]) -> None:
    data.mkdir(mode=0o700, parents=True, exist_ok=True)  # the journal may be stored elsewhere
    part = data / f"{name}.json.new"
    text = json.dumps({name: [asdict(each) for each in entries]}, ensure_ascii=False, indent=2)
    write_synced(part, f"{text}\n".encode())
    replace_file(part, data / f"{name}.json")


# -- backups -----------------------------------------------------------------------------------------------------


@frozen
class BackupCopy:
    """A backup that was made."""

    path: str
    made: float
    """Seconds since the epoch."""
    bytes: int
    sessions: int
    turns: int


def read_index(data: Path) -> list[BackupCopy]:
    """The backups of the data directory ``data``, oldest first. Raises ``StoreCorrupt``."""
    return _read(data, BACKUPS, BackupCopy, "note where your backups are")


def add_to_index(data: Path, kept: BackupCopy) -> None:
    """Add a backup to the index. An entry with the same path is replaced."""
    others = [each for each in read_index(data) if each.path != kept.path]
    _write(data, BACKUPS, [*others, kept])


# -- forgotten sessions ------------------------------------------------------------------------------------------


@frozen
class ForgottenSession:
    """A session that was forgotten, or in which a name was forgotten."""

    session: str
    """The fingerprint of the session's id."""
    at: float
    """Seconds since the epoch."""
    whole: bool
    """Whether the whole session was forgotten, and not only a name in it."""


def _fingerprint(session: str) -> str:
    return hashlib.blake2b(session.encode(), digest_size=16, person=b"saga.forgotten").hexdigest()


def read_forgotten(data: Path) -> list[ForgottenSession]:
    """The forgotten sessions of the data directory ``data``, oldest first. Raises ``StoreCorrupt``."""
    return _read(data, FORGOTTEN, ForgottenSession, "forget again what an older backup brings back")


def note_forgotten(data: Path, sessions: Iterable[str], at: float, *, whole: bool) -> None:
    """Add sessions to the list by their ids. Raises ``OSError``, and ``StoreCorrupt`` if the list cannot be read."""
    fresh = [ForgottenSession(_fingerprint(session), at, whole) for session in sessions]
    _write(data, FORGOTTEN, [*read_forgotten(data), *fresh])


@frozen
class OlderCopy:
    """The forgotten data that a copy of a data directory would bring back."""

    sessions: tuple[str, ...]
    """Sessions that were forgotten."""
    names: tuple[str, ...]
    """Sessions in which a name was forgotten."""


def brought_back(data: Path, sessions: Iterable[str], made: float | None) -> OlderCopy:
    """Find out which ``sessions`` of a copy that was ``made`` at that time were forgotten later, wholly or in part.

    If ``made`` is None, the copy counts as older than everything on the list. Raises ``StoreCorrupt``.
    """
    noted: dict[str, bool] = {}
    for each in read_forgotten(data):
        if made is None or each.at >= made:
            noted[each.session] = noted.get(each.session, False) or each.whole
    found = {session: noted[_fingerprint(session)] for session in sessions if _fingerprint(session) in noted}
    return OlderCopy(
        tuple(session for session, whole in found.items() if whole),
        tuple(session for session, whole in found.items() if not whole),
    )
