"""Connections: who opens one and says nothing, or says it drop by drop, does not keep it."""

from __future__ import annotations

import asyncio
import socket
from typing import Final

from aiohttp import web

from saga_server.errors import Handler

HEAD_SECONDS = 30.0
"""What the first request's line and headers may take to arrive."""

SILENT: Final = web.AppKey("silent", set[object])
"""The connections over which no request came yet, younger than ``HEAD_SECONDS``."""


@web.middleware
async def heard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Notes that a connection is used. Later requests on it are bounded by the time that it is kept open for."""
    request.app[SILENT].discard(request.protocol)
    return await handler(request)


async def listen(runner: web.AppRunner, sock: socket.socket, backlog: int) -> asyncio.Server:
    """Serve the runner's application on a socket that listens. Closing it is the caller's."""
    server = runner.server
    assert server is not None, "the runner is not set up"
    loop, silent = asyncio.get_running_loop(), runner.app[SILENT]

    def connected() -> web.RequestHandler:
        connection: web.RequestHandler = server()
        silent.add(connection)
        loop.call_later(HEAD_SECONDS, _give_up, connection, silent)
        return connection

    return await loop.create_server(connected, sock=sock, backlog=backlog)


def _give_up(connection: web.RequestHandler, silent: set[object]) -> None:
    if connection in silent:
        silent.discard(connection)
        connection.force_close()
