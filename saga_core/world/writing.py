"""Writes a world's folder: all of it, or nothing; and a note of where it came from."""

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
"""Bytes of a note: more than SAGA writes."""


def imported_from(roots: Iterable[Path]) -> dict[str, str]:
    """The digests of what worlds were made from, to the names of those worlds; of two, the one that is found first."""
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
                    continue  # somebody changed it: then nobody knows where the world came from
                source = plain.get("source") if isinstance(plain, dict) else None
                if isinstance(source, str):
                    found.setdefault(source, nfc(folder.name))
    return found


@define
class FreeNames:
    """Names that no folder of a root has, each given once."""

    _taken: set[str]
    _counts: dict[str, int] = field(factory=dict)

    @classmethod
    def of(cls, root: Path) -> FreeNames:
        """As the folder ``root`` is now."""
        return cls({path.name.casefold() for path in root.iterdir()} if root.is_dir() else set())

    def use(self, name: str) -> None:
        """Somebody has this name."""
        self._taken.add(name.casefold())

    def take(self, name: str) -> str:
        """The name, with a number behind it where it is taken, in capitals or not."""
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
    """Write the ``texts`` of a world into the folder ``root`` under its name, with ``files`` beside it, and its note.

    ``files`` have plain names. Raises ``StoreError``; then nothing is there.
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
