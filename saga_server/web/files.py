"""The files of the web pages. They are read once, share one hash, and are compressed at the first request."""

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
"""Files of at least this many bytes are compressed."""


@frozen
class Sent:
    """A file as it is sent."""

    kind: str
    """Its media type."""
    plain: bytes
    packed: bytes | None
    """The file compressed with gzip, or None if it is too small for that."""


@define(eq=False)
class Files:
    """The files below ``ui``. A requested name is looked up among them and never opened as a path."""

    _raw: dict[str, bytes] = field()
    version: str = field(init=False)
    """A hash of all files together. It is part of the address of each file, so that browsers can cache it forever."""
    _sent: dict[str, Sent] = field(factory=dict, init=False)

    @classmethod
    def read(cls, root: Path = ROOT) -> Files:
        """Read all files of the folder ``root``."""
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
        """The start page, which loads the other files from addresses with the hash."""
        if _INDEX not in self._sent:
            raw = self._raw[_INDEX].replace(b"{version}", self.version.encode())
            self._sent[_INDEX] = _packed(_INDEX, raw)
        return self._sent[_INDEX]

    def sent(self, name: str) -> Sent:
        """Return a file. Raises ``KeyError``."""
        if name not in self._sent:
            self._sent[name] = _packed(name, self._raw[name])
        return self._sent[name]


def _packed(name: str, raw: bytes) -> Sent:
    kind = _KINDS["." + name.rpartition(".")[2]]
    packed = gzip.compress(raw, 9, mtime=0) if len(raw) >= _PACKED_FROM else None
    return Sent(kind, raw, packed)
