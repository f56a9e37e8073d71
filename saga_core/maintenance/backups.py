"""The index of backups: the paths of all copies of a data directory's journal, so that forgetting can list them.

The index has the names of files, never their content.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from attrs import asdict, frozen

from saga_core import codec
from saga_core.errors import StoreCorrupt
from saga_core.replacing import replace_file

FILE = "backups.json"


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
    file = data / FILE
    try:
        return [codec.from_plain(each, BackupCopy) for each in json.loads(file.read_bytes())["backups"]]
    except FileNotFoundError:
        return []
    except codec.UNREADABLE as error:
        raise StoreCorrupt(
            f"{file}: cannot be read ({error!r}); move it away, and note where your backups are"
        ) from error


def add_to_index(data: Path, kept: BackupCopy) -> None:
    """Add a backup to the index. An entry with the same path is replaced."""
    others = [each for each in read_index(data) if each.path != kept.path]
    _write(data, [*others, kept])


def _write(data: Path, backups: list[BackupCopy]) -> None:
    data.mkdir(mode=0o700, parents=True, exist_ok=True)  # the journal may be stored elsewhere
    fresh = data / f"{FILE}.new"
    text = json.dumps({"backups": [asdict(each) for each in backups]}, ensure_ascii=False, indent=2)
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    replace_file(fresh, data / FILE)
