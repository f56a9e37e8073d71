"""Serves the web pages at ``/ui/``. They contain no text of a story, but load it from the admin API.

Browsers revalidate the start page at each visit. All other files have a hash in their address and are cached.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from pathlib import Path
from typing import Final

from aiohttp import web
from attrs import define, field, frozen

from saga_server.http import RequestError

PREFIX: Final = "/ui/"

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
"""The pages may only run and load files of this server, and send requests to it. Trusted Types are required and none is
allowed, so that no text can become markup or a script."""

_HEADERS: Final = {"Cross-Origin-Resource-Policy": "same-origin", "Vary": "Accept-Encoding"}
_PAGE_HEADERS: Final = {
    **_HEADERS,
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",
}
"""What a page may do is said with the page alone, and not again with each of its files."""
_KEPT: Final = "public, max-age=31536000, immutable"


def web_routes() -> list[web.RouteDef]:
    """Return the routes of the pages."""
    pages = _Pages()
    return [
        web.get("/ui", to_the_pages),
        web.get(PREFIX, pages.index),
        web.get(PREFIX + "{version:[0-9a-f]{16}}/{name:.+}", pages.file),
    ]


async def to_the_pages(request: web.Request) -> web.StreamResponse:
    """Redirect ``/ui`` to ``/ui/``, as relative addresses need the slash at the end."""
    raise web.HTTPFound("ui/")


class _Pages:
    """Handlers of the pages. The files are read at the first request, as many servers never need them."""

    def __init__(self) -> None:
        self._files: Files | None = None
        self._reading = asyncio.Lock()

    async def _read(self) -> Files:
        async with self._reading:
            if self._files is None:
                self._files = await asyncio.to_thread(Files.read)
        return self._files

    async def index(self, request: web.Request) -> web.StreamResponse:
        """Answer with the start page."""
        files = await self._read()
        tag = f'"{files.version}"'
        if request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers={**_PAGE_HEADERS, "ETag": tag})
        return _response(request, files.index, {**_PAGE_HEADERS, "ETag": tag})

    async def file(self, request: web.Request) -> web.StreamResponse:
        """Answer with a script, a style sheet or an image."""
        files = await self._read()
        name = request.match_info["name"]
        if request.match_info["version"] != files.version or name not in files:
            message = f"there is no {request.path}; the pages may have changed: load {PREFIX} anew"
            raise RequestError(message, status=404, kind="not_found_error")
        sent = await asyncio.to_thread(files.sent, name)
        return _response(request, sent, {**_HEADERS, "Cache-Control": _KEPT})


def _response(request: web.Request, sent: Sent, headers: dict[str, str]) -> web.Response:
    body = sent.plain
    if sent.packed is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
        headers["Content-Encoding"], body = "gzip", sent.packed
    return web.Response(body=body, headers=headers, content_type=sent.kind, charset="utf-8")


# -- the files: read once, with one hash, and compressed at the first request --------------------------------------

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
