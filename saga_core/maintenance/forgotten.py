"""The list of forgotten sessions, so that an older backup does not bring them back unnoticed.

The list is stored beside the data. It has times and fingerprints of sessions, never their content or their ids.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from attrs import asdict, frozen

from saga_core import codec
from saga_core.errors import StoreCorrupt
from saga_core.replacing import replace_file

FILE = "forgotten.json"


@frozen
class ForgottenSession:
    """A session that was forgotten, or in which a name was forgotten."""

    session: str
    """The fingerprint of the session's id."""
    at: float
    """Seconds since the epoch."""
    whole: bool
    """Whether the whole session was forgotten, and not only a name in it."""


def fingerprint(session: str) -> str:
    """The fingerprint that is stored in place of a session's id."""
    return hashlib.blake2b(session.encode(), digest_size=16, person=b"saga.forgotten").hexdigest()


def read_forgotten(data: Path) -> list[ForgottenSession]:
    """The forgotten sessions of the data directory ``data``, oldest first. Raises ``StoreCorrupt``."""
    file = data / FILE
    try:
        return [codec.from_plain(each, ForgottenSession) for each in json.loads(file.read_bytes())["forgotten"]]
    except FileNotFoundError:
        return []
    except codec.UNREADABLE as error:
        raise StoreCorrupt(
            f"{file}: cannot be read ({error!r}); move it away, and forget again what an older backup brings back"
        ) from error


def note_forgotten(data: Path, sessions: Iterable[str], at: float, *, whole: bool) -> None:
    """Add sessions to the list by their ids. Raises ``OSError``, and ``StoreCorrupt`` if the list cannot be read."""
    fresh = [ForgottenSession(fingerprint(session), at, whole) for session in sessions]
    text = json.dumps({"forgotten": [asdict(each) for each in (*read_forgotten(data), *fresh)]}, indent=2)
    part = data / f"{FILE}.new"
    with part.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    replace_file(part, data / FILE)


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
    found = {session: noted[fingerprint(session)] for session in sessions if fingerprint(session) in noted}
    return OlderCopy(
        tuple(session for session, whole in found.items() if whole),
        tuple(session for session, whole in found.items() if not whole),
    )
