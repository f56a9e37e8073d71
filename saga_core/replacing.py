"""Files on the disk: replaced atomically, also on Windows while other programs have them open, and synced."""

from __future__ import annotations

import os
import time
from pathlib import Path

_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Seconds between attempts. Editors, indexers and virus scanners hold a file open for about this long."""


def replace_file(new: Path, place: Path) -> None:
    """Rename ``new`` to ``place`` and replace any existing file. Raises ``OSError``.

    Windows refuses while another program has ``place`` open. The rename is then retried for less than a second in all.
    On other systems a refusal is final.
    """
    for pause in _PAUSES if os.name == "nt" else ():
        try:
            new.replace(place)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    new.replace(place)


def write_synced(path: Path, raw: bytes) -> None:
    """Write a file, whose contents are on the disk when this returns. Raises ``OSError``."""
    with path.open("wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Sync a file, or the entries of a directory, to the disk. Raises ``OSError``.

    Windows cannot open directories, and syncs them by itself.
    """
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
