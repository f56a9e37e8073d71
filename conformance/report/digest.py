"""The digest of the suite's own files, which identifies the suite that made a report."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Any


def suite_digest() -> str:
    """A digest over all ``.py`` and ``.md`` files of the suite. Every report contains it."""
    total = hashlib.sha256()

    def walk(folder: Any, path: str) -> None:
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            name = f"{path}/{entry.name}"
            if entry.is_dir() and entry.name != "__pycache__":
                walk(entry, name)
            elif entry.name.endswith((".py", ".md")):
                total.update(name.encode() + b"\0" + entry.read_bytes())

    walk(files("conformance"), "")
    return total.hexdigest()[:16]
