"""Replace a file atomically, with retries on Windows while other programs have it open."""

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
