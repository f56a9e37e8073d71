"""Debian's Chromium for the tests of the pages, if it is there."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

MISSING = (
    "NO CHROMIUM: the pages at /ui/ were not looked at in a browser. Install it (apt-get install chromium; "
    "pip install playwright) and run tests/web again."
)


def chromium() -> str | None:
    """The program; None where there is none, or nothing that drives it."""
    return (shutil.which("chromium") or shutil.which("chromium-browser")) if find_spec("playwright") else None
