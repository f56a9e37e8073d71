"""Connections: silent ones are closed, and malformed requests are counted and answered in JSON.

Every request gets an id, which the log and the reply give.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import socket
from collections.abc import MutableMapping
from typing import Any, Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong
from prometheus_client import Counter

from saga_core.log_context import set_log_context, subject
from saga_server.http.errors import Failure, Handler

HEAD_SECONDS = 30.0
"""Seconds within which the first request line and headers must arrive on a new connection."""

LINGER_SECONDS = 2.0
"""Seconds for which the rest of a refused request is read and discarded, so that the client can read the refusal."""

_LONGEST_LINE = 8_190
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")

SILENT: Final = web.AppKey("silent", set[object])
"""Connections younger than ``HEAD_SECONDS`` that have not sent a request yet."""


@web.middleware
async def heard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Note that a connection is in use, and give the request an id. A middleware.

    The id is the client's own (``X-Request-ID``) if that is safe to log. For later requests on the connection the
    keep-alive timeout applies instead of ``HEAD_SECONDS``.
    """
    request.app[SILENT].discard(request.protocol)
    given = request.headers.get("X-Request-ID", "")
    set_log_context(request=given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(6))
    return await handler(request)


async def tell_request_id(request: web.Request, response: web.StreamResponse) -> None:
    """Add the request's id to the reply. A signal handler of ``on_response_prepare``."""
    found = subject().request
    if found:
        response.headers["X-Request-ID"] = found


class ConnectionLog(logging.LoggerAdapter[logging.Logger]):
    """Filters aiohttp's log of connections. A malformed request is counted and logged in one line without content."""

    def __init__(self, malformed: Counter) -> None:
        super().__init__(logging.getLogger("saga.http"), {})
        self._malformed = malformed

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Return both unchanged."""
        return msg, kwargs

    def debug(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Log a request without a valid HTTP method as malformed; pass everything else on."""
        if not self._told(args, kwargs.get("exc_info")):
            super().debug(msg, *args, **kwargs)

    def exception(self, msg: object, *args: object, exc_info: Any = True, **kwargs: Any) -> None:
        """Log a malformed request in one line; pass an unexpected error on."""
        if not self._told(args, exc_info):
            super().exception(msg, *args, exc_info=exc_info, **kwargs)

    def _told(self, args: tuple[object, ...], error: Any) -> bool:
        if not isinstance(error, HttpProcessingError | web.RequestPayloadError):
            return False
        self._malformed.inc()
        who, status = args[0] if args else "somebody", getattr(error, "code", 400)
        self.warning("%s sent a request that cannot be read (%s); answered %s", who, type(error).__name__, status)
        return True


LOG: Final = web.AppKey("log", ConnectionLog)


class Connection(web.RequestHandler):
    """A connection that answers malformed requests in JSON, like every other failure."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Say what is wrong with the request, without quoting its bytes."""
        super().handle_error(request, status, exc, message)  # logs it
        if isinstance(exc, LineTooLong):
            told = (
                f"a line of the request's head is longer than {_LONGEST_LINE} bytes: is it a cookie, a key, or a long "
                "text in the address? Texts may be sent in the body of a POST"
            )
        elif status < 500:
            told = f"this is no request that can be read: {(message or '').partition(chr(10))[0].rstrip(':. ')}"
        else:
            told = "an unexpected error; the server's log tells more"
        kind = "invalid_request_error" if status < 500 else "server_error"
        response = Failure(status, told, kind, headers={"X-Content-Type-Options": "nosniff"}).response()
        response.force_close()
        return response


async def listen(runner: web.AppRunner, sock: socket.socket, backlog: int) -> asyncio.Server:
    """Serve the runner's application on a listening socket. The caller closes the server."""
    server = runner.server
    assert server is not None, "the runner is not set up"
    loop, silent = asyncio.get_running_loop(), runner.app[SILENT]
    settings: dict[str, Any] = {
        "logger": runner.app[LOG],
        "access_log": None,
        "max_line_size": _LONGEST_LINE,
        "max_field_size": _LONGEST_LINE,
        "auto_decompress": False,  # see bodies.py
        "lingering_time": LINGER_SECONDS,
    }

    def connected() -> Connection:
        connection = Connection(server, loop=loop, **settings)
        silent.add(connection)
        loop.call_later(HEAD_SECONDS, _give_up, connection, silent)
        return connection

    return await loop.create_server(connected, sock=sock, backlog=backlog)


def _give_up(connection: web.RequestHandler, silent: set[object]) -> None:
    if connection in silent:
        silent.discard(connection)
        connection.force_close()
