"""The list of what was forgotten, so that an older backup does not bring it back unasked.

The list is stored beside the data. It has fingerprints of sessions and times, never their content, nor their ids.
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
class Forgotten:
    """A session that was forgotten, or in which a name was forgotten."""

    session: str
    """Its fingerprint."""
    at: float
    """Seconds since the epoch."""
    whole: bool
    """Whether the session is gone, and not only a name in it."""


def fingerprint(session: str) -> str:
    """What is kept of a session's id."""
    return hashlib.blake2b(session.encode(), digest_size=16, person=b"saga.forgotten").hexdigest()


def read_forgotten(data: Path) -> list[Forgotten]:
    """What was forgotten in the data directory ``data``, oldest first. Raises ``StoreCorrupt``."""
    file = data / FILE
    try:
        return [codec.from_plain(each, Forgotten) for each in json.loads(file.read_bytes())["forgotten"]]
    except FileNotFoundError:
        return []
    except codec.UNREADABLE as error:
        raise StoreCorrupt(
            f"{file}: cannot be read ({error!r}); move it away, and forget again what an older backup brings back"
        ) from error


def note_forgotten(data: Path, sessions: Iterable[str], at: float, *, whole: bool) -> None:
    """Note sessions by their ids. Raises ``OSError``."""
    fresh = [Forgotten(fingerprint(session), at, whole) for session in sessions]
    text = json.dumps({"forgotten": [asdict(each) for each in (*read_forgotten(data), *fresh)]}, indent=2)
    part = data / f"{FILE}.new"
    with part.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    replace_file(part, data / FILE)


@frozen
class Older:
    """What a copy of a data directory would bring back."""

    sessions: tuple[str, ...]
    """Sessions that are forgotten."""
    names: tuple[str, ...]
    """Sessions in which a name is."""


def brought_back(data: Path, sessions: Iterable[str], made: float | None) -> Older:
    """Of ``sessions`` in a copy that was ``made`` then, those of which something was forgotten later.

    A copy that does not say when it was made may be older than anything. Raises ``StoreCorrupt``.
    """
    noted: dict[str, bool] = {}
    for each in read_forgotten(data):
        if made is None or each.at >= made:
            noted[each.session] = noted.get(each.session, False) or each.whole
    found = {session: noted[fingerprint(session)] for session in sessions if fingerprint(session) in noted}
    return Older(
        tuple(session for session, whole in found.items() if whole),
        tuple(session for session, whole in found.items() if not whole),
    )
