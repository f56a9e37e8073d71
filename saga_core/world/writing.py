"""Writes a world's folder as a whole or not at all, with a note of where the world came from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import define, field

from saga_core.errors import StoreError
from saga_core.language import nfc

NOTE = "IMPORTED.json"
_ASSETS = "assets"
_LARGEST = 16 << 20
"""Largest note that is read, in bytes. It is more than SAGA writes."""


def imported_from(roots: Iterable[Path]) -> dict[str, str]:
    """Map the digest of an imported world's source to the world's name. Of two worlds, the first one found counts."""
    found: dict[str, str] = {}
    for root in roots:
        if not root.is_dir():
            continue
        for folder in sorted(root.iterdir()):
            note = folder / NOTE
            if not folder.name.startswith(".") and note.is_file():
                try:
                    if note.stat().st_size > _LARGEST:
                        continue
                    plain = json.loads(note.read_text(encoding="utf-8"))
                except (OSError, ValueError, RecursionError):
                    continue  # the note was changed, so the source of the world is unknown
                source = plain.get("source") if isinstance(plain, dict) else None
                if isinstance(source, str):
                    found.setdefault(source, nfc(folder.name))
    return found


@define
class FreeNames:
    """Gives out names that no folder of a root has, each name once."""

    _taken: set[str]
    _counts: dict[str, int] = field(factory=dict)

    @classmethod
    def of(cls, root: Path) -> FreeNames:
        """Start with the current content of the folder ``root``."""
        return cls({path.name.casefold() for path in root.iterdir()} if root.is_dir() else set())

    def use(self, name: str) -> None:
        """Mark a name as taken."""
        self._taken.add(name.casefold())

    def take(self, name: str) -> str:
        """Take the name, with a number appended if it is taken. Upper and lower case are the same."""
        key = name.casefold()
        found, count = name, self._counts.get(key, 2)
        while found.casefold() in self._taken:
            found, count = f"{name} {count}", count + 1
        self._counts[key] = count
        self.use(found)
        return found


def write_world(
    root: Path, name: str, texts: Mapping[str, str], files: Mapping[str, bytes], note: Mapping[str, object]
) -> Path:
    """Write a world into the folder ``root / name``: its ``texts``, its ``files`` in a subfolder, and its note.

    ``files`` have plain names. Raises ``StoreError``, in which case nothing is left in the folder.
    """
    target, part = root / name, root / f".{name}.part"
    try:
        root.mkdir(parents=True, exist_ok=True)
        if part.exists():
            shutil.rmtree(part)
        part.mkdir()
        for file, text in texts.items():
            (part / file).write_bytes(text.encode())
        if files:
            (part / _ASSETS).mkdir()
        for file, data in files.items():
            (part / _ASSETS / file).write_bytes(data)
        (part / NOTE).write_text(json.dumps(note, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        if target.exists():
            raise FileExistsError(17, "there is such a folder already", str(target))
        part.replace(target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StoreError(f"{target}: the world cannot be written ({error.strerror}); nothing was left there") from error
    return target
