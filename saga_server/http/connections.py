"""The outermost layer: connections, request ids, and errors as replies.

Malformed requests are counted and answered in JSON, and so is every other failure, also
while the stores are still being opened.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from time import thread_time
from typing import Any, Final, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong
from aiohttp.typedefs import Handler
from prometheus_client import Counter

from saga_core.counters import set_log_context, subject
from saga_core.errors import BadInput
from saga_core.foreign import exits
from saga_server.http.app_keys import CURRENT
from saga_server.http.callers.redaction import mask_of
from saga_server.http.door import DOORS, PLACE
from saga_server.http.errors import Failure, RequestError, describe
from saga_server.http.open_connections import CONNECTIONS, Connections
from saga_server.http.reply_format import header_text
from saga_server.process import BACKLOG

LINGER_SECONDS = 2.0
"""Seconds for which the rest of a refused request is read and discarded, so that the client can read the refusal."""

AT_ONCE = 16
"""Connections that are accepted in one round of the loop, before those that are too many can be closed."""
_UNSENT = 1 << 17
"""Bytes that the system keeps of an answer beyond those on their way; else it keeps megabytes that no client takes."""
_LONGEST_FIELD = 8_190
"""The most bytes of a header."""
_LONGEST_ADDRESS = 1 << 16
"""The most bytes of an address. A text of 4,000 characters in it may have 48,000, percent-encoded."""
_BEGUN: Final = web.RequestKey("begun", web.StreamResponse)
"""The reply whose headers were sent, in a request."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


@web.middleware
async def identify(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Note that a connection is in use, and give the request an id. A middleware.

    The id is the client's own (``X-Request-ID``) if that is safe to log.
    """
    request.app[CONNECTIONS].begins(request.protocol)
    own = request.headers.get("X-Request-ID", "")
    set_log_context(request=own if _REQUEST_ID.fullmatch(own) else secrets.token_hex(6))
    return await handler(request)


async def add_request_id(request: web.Request, response: web.StreamResponse) -> None:
    """Add the request's id to the reply. A signal handler of ``on_response_prepare``."""
    found = subject().request
    if found:
        response.headers["X-Request-ID"] = found


async def only_header_text(request: web.Request, response: web.StreamResponse) -> None:
    """Clean every header of a reply with ``header_text``. The last signal handler of ``on_response_prepare``."""
    request[_BEGUN] = response
    for name, value in list(response.headers.items()):
        if not (value.isascii() and value.isprintable()):
            response.headers[name] = header_text(value)


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
    """A connection that is counted, and answers malformed requests in JSON, like every other failure."""

    __slots__ = ("_among", "_pausing")

    def __init__(self, among: Connections, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._among = among
        self._pausing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, or close it if there are too many."""
        super().connection_made(transport)
        cast(asyncio.Transport, transport).set_write_buffer_limits(0)  # ``pause_writing`` for the first byte that waits
        self._among.opened(self, cast(asyncio.Transport, transport))

    def connection_lost(self, exc: BaseException | None) -> None:
        """Count it no more."""
        super().connection_lost(exc)
        if self._pausing is not None:
            self._pausing.cancel()
        self._among.closed(self)

    def pause_writing(self) -> None:
        """Note that bytes wait for the client."""
        super().pause_writing()
        self._among.lags(self)

    def resume_writing(self) -> None:
        """Note that none wait any more."""
        super().resume_writing()
        self._among.keeps_up(self)

    def data_received(self, data: bytes) -> None:
        """Read ``data``. A request that it begins must arrive in time."""
        began = thread_time()
        super().data_received(data)
        self._among.received(self, thread_time() - began, len(data))

    def pause(self, seconds: float) -> None:
        """Read nothing for ``seconds``; with 0, go on reading."""
        if self._pausing is not None:
            self._pausing.cancel()
            if not seconds:
                self._let_go()
        self._lingering_time = 0.0 if seconds else LINGER_SECONDS  # nothing more is read to be thrown away
        if seconds:
            self._pause_transport_reading()
            self._pausing = asyncio.get_running_loop().call_later(seconds, self._let_go)

    def read_at_once(self, size: int) -> None:
        """Read at most ``size`` bytes at once."""
        transport: Any = self.transport
        if hasattr(transport, "max_size"):  # of asyncio's own transports
            transport.max_size = size

    def _let_go(self) -> None:
        self._pausing = None
        if not self._reading_paused and not self._buffer_paused:
            self._resume_transport_reading()

    def _resume_transport_reading(self) -> None:
        if self._pausing is None:  # else ``_let_go`` does it
            super()._resume_transport_reading()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send the rest of the response, and wait for the next request.

        A reply that its handler began and then gave up, for an error, can only be cut off: what follows would be read
        as its rest.
        """
        if request.get(_BEGUN, resp) is not resp and request.transport is not None:
            request.transport.abort()
            return resp, True
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self._among.ends(self)

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
            message = (
                f"a line of the request's head is longer than {exc.args[1]} bytes: is it a cookie, a key, or a long "
                "text in the address? Texts may be sent in the body of a POST"
            )
        elif status < 500:
            message = f"this is no request that can be read: {(message or '').partition(chr(10))[0].rstrip(':. ')}"
        else:
            message = "an unexpected error; the server's log tells more"
        kind = "invalid_request_error" if status < 500 else "server_error"
        response = Failure(status, message, kind, headers={"X-Content-Type-Options": "nosniff"}).response()
        response.force_close()
        return response


async def listen(runner: web.AppRunner, sock: socket.socket, at_once: int = AT_ONCE) -> asyncio.Server:
    """Serve the runner's application on a listening socket, and accept up to ``at_once`` connections in one round of
    the loop. The caller closes the server."""
    server = runner.server
    assert server is not None, "the runner is not set up"
    loop, among = asyncio.get_running_loop(), runner.app[CONNECTIONS]
    among.guard(loop)
    settings: dict[str, Any] = {
        "logger": runner.app[LOG],
        "access_log": None,
        "max_line_size": _LONGEST_ADDRESS,
        "max_field_size": _LONGEST_FIELD,
        "auto_decompress": False,  # see bodies.py
        "lingering_time": LINGER_SECONDS,
    }

    def connected() -> Connection:
        return Connection(among, server, loop=loop, **settings)

    if sys.platform == "linux" and sock.family in (socket.AF_INET, socket.AF_INET6):  # connections inherit it
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)
    listening = await loop.create_server(connected, sock=sock, backlog=at_once)
    sock.listen(BACKLOG)
    return listening


# -- errors ----------------------------------------------------------------------------------------------------

_HUNG_UP = 499
"""The status of a reply whose client went away before it was sent."""


def _of_http(error: web.HTTPException, request: web.Request) -> Failure:
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        limit = request.client_max_size >> 20
        return Failure(
            413, f"the request is larger than {limit} MB (server.max_body_mb)", "invalid_request_error", "body"
        )
    if isinstance(error, web.HTTPNotFound):
        return Failure(
            404, f"there is no {request.method} {request.path} here; {request.app[DOORS].describe()}", "not_found_error"
        )
    if isinstance(error, web.HTTPMethodNotAllowed):
        allowed = ", ".join(sorted(error.allowed_methods))
        return Failure(
            405, f"{request.path} takes {allowed}, not {request.method}", "invalid_request_error",
            headers={"Allow": allowed},
        )  # fmt: skip
    return Failure(error.status, error.reason, "invalid_request_error")


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn an exception of a handler into an error reply. A middleware.

    If the request failed before its body was read, the connection is closed after the reply.
    """
    response = await _answered(request, handler)
    if response.status >= 400 and request.can_read_body and not request.content.at_eof():
        response.force_close()
    return response


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        with exits:
            return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        failure = _of_http(error, request)
    except web.RequestPayloadError as error:
        text = f"the body cannot be read: {' '.join(str(error).split())}"
        failure = Failure(400, text, "invalid_request_error", "body", headers={"Connection": "close"})
    except ConnectionError as error:
        if request.transport is None or request.transport.is_closing():
            return web.Response(status=_HUNG_UP)  # the client went away before it was answered
        failure = describe(error, mask_of(request))
    except Exception as error:  # noqa: BLE001 - the outermost handler: every error becomes a reply
        failure = describe(error, _mask_for(error, request))
    place = request.get(PLACE)
    response = failure.response(place.door.error if place is not None else None)
    if failure.headers.get("Connection") == "close":
        response.force_close()
    return response


def _mask_for(error: Exception, request: web.Request) -> Callable[[str], str]:
    """What hides secrets in an error. The addresses that a caller gave, those to use instead, and the caller's own
    namespaces, which look like paths, stay readable."""
    own = isinstance(error, RequestError) and error.param in ("Host", "Origin")
    own = own or (isinstance(error, BadInput) and str(error).startswith("namespace:"))
    return request.app[CURRENT].mask if own else mask_of(request)


# -- the start -------------------------------------------------------------------------------------------------

_WAIT = {"Retry-After": "1", "Connection": "close"}
_SECONDS = 0.2
PATIENCE = 3.0
"""How long requests wait for the start before they are answered, in seconds."""


async def _answer(request: web.BaseRequest) -> web.StreamResponse:
    if request.path == "/healthz":
        return _json({"status": "ok"}, 200)
    if request.path == "/readyz":
        return _json({"status": "starting", "reason": "not ready: the stores are being opened"}, 503)
    message = "the server is starting; ask again in a moment"
    return Failure(503, message, "unavailable_error", headers=_WAIT).response()


def _json(value: object, status: int) -> web.Response:
    body = json.dumps(value).encode()
    return web.Response(body=body, status=status, headers=_WAIT, content_type="application/json")


@asynccontextmanager
async def answering_while_starting(sockets: Sequence[socket.socket]) -> AsyncIterator[None]:
    """Answer on listening sockets while the stores are being opened, so that a slow start does not look like a hang.

    The sockets stay open. Before it begins, requests wait for the start, because frontends do not ask again.
    """
    server = web.Server(_answer, access_log=None)
    listening: list[asyncio.Server] = []

    async def begin() -> None:
        await asyncio.sleep(PATIENCE)
        loop = asyncio.get_running_loop()
        for sock in sockets:
            listening.append(await loop.create_server(server, sock=sock.dup()))

    begun = asyncio.create_task(begin(), name="saga-starting")
    try:
        yield
    finally:
        begun.cancel()
        await asyncio.wait({begun})
        if not begun.cancelled() and (failure := begun.exception()) is not None:
            raise failure
        for each in listening:
            each.close()
        await server.shutdown(_SECONDS)
