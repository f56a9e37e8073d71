"""Answer requests while the stores are being opened, so that a slow start does not look like a hang."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from socket import socket
from types import TracebackType
from typing import Self

from aiohttp import web
from attrs import define, field

from saga_server.http.errors import Failure

_WAIT = {"Retry-After": "1", "Connection": "close"}
_SECONDS = 0.2


async def _answer(request: web.BaseRequest) -> web.StreamResponse:
    if request.path == "/healthz":
        return _json({"status": "ok"}, 200)
    if request.path == "/readyz":
        return _json({"status": "starting"}, 503)
    told = "the server is starting; ask again in a moment"
    return Failure(503, told, "unavailable_error", headers=_WAIT).response()


def _json(value: object, status: int) -> web.Response:
    body = json.dumps(value).encode()
    return web.Response(body=body, status=status, headers=_WAIT, content_type="application/json")


@define(eq=False)
class StartupResponder:
    """Answers on listening sockets inside ``async with StartupResponder(sockets)``. It leaves the sockets open."""

    sockets: Sequence[socket]
    _server: web.Server = field(factory=lambda: web.Server(_answer, access_log=None), init=False)
    _doors: list[asyncio.Server] = field(factory=list, init=False)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for sock in self.sockets:
            self._doors.append(await loop.create_server(self._server, sock=sock.dup()))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for door in self._doors:
            door.close()
        await self._server.shutdown(_SECONDS)
