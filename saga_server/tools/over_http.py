"""One message over MCP's streamable HTTP, stateless: what answers it lives as long as the request."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from functools import partial
from typing import Any, Final, get_args

from aiohttp import web
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from saga_server.http import BEARER, BODY, BY_TOOL, PLACE, RequestError, json_of, leave, mask_of, to_json
from saga_server.process import NotAnswered, call_api
from saga_server.tools.catalog import Call, Risk, offered
from saga_server.tools.over_mcp import MOST_BYTES, SECONDS, mcp_server

_DEFAULT: Final[tuple[Risk, ...]] = ("read", "note")
_MOST_BYTES: Final = 512 << 10
"""The most bytes of a message. The longest correction has less than 200 KB, even if it escapes every letter."""
_MOST_VALUES: Final = 10_000
"""The most values of a message. The package reads them on the event loop, in one step: these in about 20 ms."""
_MOST_HOPS: Final = 150
"""The most characters of the addresses that a caller claims, so that the audit log shows its own one too."""
_CHECKED_BY_SAGA: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""SAGA has looked at the Host and the Origin before."""


async def answered(request: web.Request) -> web.StreamResponse:
    """Return the answer to the message in the body.

    Raises ``RequestError`` for an unknown parameter or risk, and for a message that is too large.
    """
    for name in request.query:
        if name != "allow":
            raise RequestError(f"{name}: unknown parameter; give allow, and a session as /s/SESSION/mcp", param=name)
    place = request.get(PLACE)
    said = request.query.getall("allow", list[str](_DEFAULT))
    for each in said:
        if each not in get_args(Risk):
            raise RequestError(f"allow: {each[:40]!r} is no risk; give read, note or change", param="allow")
    allowed: frozenset[Risk] = frozenset(each for each in get_args(Risk) if each in said)
    session = (place.session if place is not None else "") or None
    server = mcp_server(offered(allowed, session), partial(_ask, request), session)
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, security_settings=_CHECKED_BY_SAGA
    )
    exchange = _Exchange(request, await _message(request))
    async with manager.run():
        await manager.handle_request(exchange.scope, exchange.receive, exchange.send)
    return exchange.response()


async def _message(request: web.Request) -> bytes:
    """Return the message as SAGA reads it, so that the package reads nothing else. Raises ``RequestError``."""
    if len(request[BODY]) > _MOST_BYTES:
        raise RequestError(f"the message is larger than {_MOST_BYTES >> 10} KB", param="body", status=413)
    message = await json_of(request, most=_MOST_VALUES)
    if isinstance(message, dict) and "id" in message:
        given = message["id"]
        if isinstance(given, float) and given.is_integer():
            message["id"] = int(given)  # 2.0 is the number 2
        elif type(given) not in (int, str):  # the package would take it for a notification, and answer nothing
            raise RequestError(f"id: {to_json(given):.40} is no id; give a text or a whole number", param="id")
    return to_json(message).encode()


class _Exchange:
    """A request of aiohttp as an ASGI server would pass it on, and the response that comes back."""

    def __init__(self, request: web.Request, message: bytes) -> None:
        self._body: bytes | None = message
        self._status = 500
        self._headers: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []
        self.scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.scheme,
            "path": "/mcp",
            "raw_path": b"/mcp",
            "root_path": "",
            "query_string": b"",
            "headers": [
                (name.lower().encode("latin-1"), value.encode("utf-8", "surrogateescape"))
                for name, value in request.headers.items()
                if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
            ],
            "client": None,
            "server": None,
            "state": {},
        }

    async def receive(self) -> dict[str, Any]:
        if self._body is None:
            await asyncio.Event().wait()  # nothing more comes; the request ends with its answer
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._status, self._headers = message["status"], list(message["headers"])
        elif message["type"] == "http.response.body":
            self._parts.append(message.get("body", b""))

    def response(self) -> web.Response:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in self._headers}
        headers.pop("content-length", None)
        return web.Response(status=self._status, body=b"".join(self._parts), headers=headers)


async def _ask(request: web.Request, call: Call) -> Any:
    """Send a call to this server's own API as the caller. Raises ``SagaError`` with the API's reason."""
    if request.transport is None:
        raise NotAnswered("the client has gone away")
    leave(request)  # else a large call would wait in the queue behind its own message
    address = request.transport.get_extra_info("sockname")
    unix = address if isinstance(address, str) else ""
    host, port = ("localhost", 80) if unix else address[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    try:
        return await call_api(
            url, call.path, call.method, _as(request), MOST_BYTES, SECONDS, unix=unix, params=call.query, data=call.body
        )
    except NotAnswered as error:
        raise type(error)(mask_of(request)(str(error))) from error


def _as(request: web.Request) -> dict[str, str]:
    """The headers of a call: the caller's key, wherever it stood, and the addresses from which the caller came."""
    headers = {"Content-Type": "application/json", BY_TOOL: "mcp"}
    if "Host" in request.headers:
        headers["Host"] = request.headers["Host"]
    if key := request[BEARER].key:
        headers["Authorization"] = f"Bearer {key}"
    claimed = ", ".join(request.headers.getall("X-Forwarded-For", ()))[:_MOST_HOPS]
    hops = [each for each in (claimed if claimed.isprintable() else "", request.remote) if each]
    return {**headers, "X-Forwarded-For": ", ".join(hops)} if hops else headers
