"""A file put in another's place in one moment, also where others look at that one."""

from __future__ import annotations

import os
import time
from pathlib import Path

_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Seconds between attempts: editors, indexers and virus scanners hold a file open for about so long."""


def replace_file(new: Path, place: Path) -> None:
    """Rename ``new`` to ``place``, over what is there. Raises ``OSError``.

    Windows refuses while another program has ``place`` open. Then it is tried again, for less than a second in all.
    Elsewhere a refusal is final.
    """
    for pause in _PAUSES if os.name == "nt" else ():
        try:
            new.replace(place)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    new.replace(place)
