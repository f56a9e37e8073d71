"""Serves the web pages at ``/ui/``. They contain no text of a story, but load it from the admin API.

Browsers revalidate the start page at each visit. All other files have a hash in their address and are cached.
"""

from __future__ import annotations

import asyncio
from typing import Final

from aiohttp import web

from saga_server.http import RequestError
from saga_server.web.files import Files, Sent

PREFIX: Final = "/ui/"

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
"""The pages may only run and load files of this server, and send requests to it. Trusted Types are required and none is
allowed, so that no text can become markup or a script."""

_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Vary": "Accept-Encoding",
}
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
            return web.Response(status=304, headers={**_HEADERS, "ETag": tag, "Cache-Control": "no-cache"})
        return _response(request, files.index, {"ETag": tag, "Cache-Control": "no-cache"})

    async def file(self, request: web.Request) -> web.StreamResponse:
        """Answer with a script, a style sheet or an image."""
        files = await self._read()
        name = request.match_info["name"]
        if request.match_info["version"] != files.version or name not in files:
            message = f"there is no {request.path}; the pages may have changed: load {PREFIX} anew"
            raise RequestError(message, status=404, kind="not_found_error")
        sent = await asyncio.to_thread(files.sent, name)
        return _response(request, sent, {"Cache-Control": _KEPT})


def _response(request: web.Request, sent: Sent, more: dict[str, str]) -> web.Response:
    headers = {**_HEADERS, **more}
    body = sent.plain
    if sent.packed is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
        headers["Content-Encoding"], body = "gzip", sent.packed
    return web.Response(body=body, headers=headers, content_type=sent.kind, charset="utf-8")
