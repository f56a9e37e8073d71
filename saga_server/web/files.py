"""The files of the pages: read once, known by one hash, packed when they are first asked for."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Final

from attrs import define, field, frozen

ROOT: Final = Path(__file__).parent / "ui"
_INDEX: Final = "index.html"
_KINDS: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_PACKED_FROM: Final = 512
"""Bytes from which a file is sent packed."""


@frozen
class Sent:
    """A file as it goes out."""

    kind: str
    """Its media type."""
    plain: bytes
    packed: bytes | None
    """With gzip; None for a file so small that it gains nothing."""


@define(eq=False)
class Files:
    """The files below ``ui``. Only these are ever sent: an address is looked up among them, and opens no path."""

    _raw: dict[str, bytes] = field()
    version: str = field(init=False)
    """A hash of all files together. It stands in the address of each, so that browsers may keep them for good."""
    _sent: dict[str, Sent] = field(factory=dict, init=False)

    @classmethod
    def read(cls, root: Path = ROOT) -> Files:
        """All files of the folder."""
        found = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.suffix in _KINDS}
        return cls({name: found[name].read_bytes() for name in sorted(found)})

    def __attrs_post_init__(self) -> None:
        digest = hashlib.sha256()
        for name, raw in self._raw.items():
            digest.update(f"{name}\0{len(raw)}\0".encode() + raw)
        self.version = digest.hexdigest()[:16]

    def __contains__(self, name: object) -> bool:
        return name in self._raw

    @property
    def index(self) -> Sent:
        """The page that loads all others, with the hash in its addresses."""
        if _INDEX not in self._sent:
            raw = self._raw[_INDEX].replace(b"{version}", self.version.encode())
            self._sent[_INDEX] = _packed(_INDEX, raw)
        return self._sent[_INDEX]

    def sent(self, name: str) -> Sent:
        """A file. Raises ``KeyError``."""
        if name not in self._sent:
            self._sent[name] = _packed(name, self._raw[name])
        return self._sent[name]


def _packed(name: str, raw: bytes) -> Sent:
    kind = _KINDS["." + name.rpartition(".")[2]]
    packed = gzip.compress(raw, 9, mtime=0) if len(raw) >= _PACKED_FROM else None
    return Sent(kind, raw, packed)
