"""The steps that all doors share: read a request, build its call, and send the reply of its exchange."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from aiohttp import web

from saga_server.http.app_keys import CURRENT, HELPER
from saga_server.http.call import Call
from saga_server.http.doors.table import PLACE
from saga_server.http.entry.bodies import BODY
from saga_server.http.entry.large_requests import SHARE, in_helper, leave
from saga_server.http.entry.security import BEARER
from saga_server.http.exchange import Exchange
from saga_server.http.exchanges import EXCHANGES
from saga_server.http.openai_schema import read_json
from saga_server.http.request_names import read_names

_LARGE = 1 << 18
"""Size of a body in bytes from which on it is read in a thread; a megabyte takes ten milliseconds or more."""
_FAR = 1 << 20
"""Size from which on it is read in the helper process, because parsing JSON holds the GIL."""
_STREAMING = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


_Ask = TypeVar("_Ask")


class Asked(Protocol):
    """What every door reads from a request's body."""

    @property
    def messages(self) -> list[Any]: ...

    @property
    def model(self) -> str: ...

    @property
    def stream(self) -> bool: ...

    @property
    def params(self) -> Mapping[str, Any]: ...


async def read(request: web.Request, reading: Callable[[bytes, int, int], _Ask]) -> _Ask:
    """Return the result of ``reading(body, max_messages, max_text_mb)`` for the body of the request."""
    body, server = request[BODY], request.app[CURRENT].config.server
    given = (body, server.max_messages, server.max_text_mb)
    return reading(*given) if len(body) < _LARGE else await _beside(request, reading, *given)


async def read_value(request: web.Request, none: Any = None) -> Any:
    """Return the JSON value in the body; ``none`` for an empty body. Raises ``RequestError``."""
    body = request[BODY]
    if not body:
        return none
    return read_json(body) if len(body) < _LARGE else await _beside(request, read_json, body)


async def _beside(request: web.Request, reading: Callable[..., _Ask], body: bytes, *more: int) -> _Ask:
    """Run ``reading`` in a thread, or for a very large body in the helper process."""
    if len(body) < _FAR:
        return await asyncio.to_thread(reading, body, *more)
    return await in_helper(request.app[HELPER], reading, body, *more)


def call_of(
    request: web.Request,
    ask: Asked,
    *,
    user: str | None = None,
    choices: int = 1,
    wants_usage: bool = True,
    nameless: bool = False,
) -> Call:
    """Build the call for a request, with the names that it gives and the routes of its model.

    ``nameless`` means that a request without a model's name goes to the narrator.
    """
    current, bearer, place = request.app[CURRENT], request[BEARER], request[PLACE]
    named = read_names(
        ask.messages,
        path={"session": place.session, "world": place.world},
        headers=request.headers,
        bearer=bearer,
        user=user,
        identify=current.config.session.identify,
        markers=current.config.session.markers,
    )
    routes = current.narrators.routes(ask.model, nameless=nameless)
    return Call(
        messages=named.messages,
        session=named.session,
        world=named.world,
        player=named.player or "",
        marked=named.marked,
        notices=named.notices,
        aside=wants_a_form(ask.params),
        owner=bearer.owner,
        discreet=bearer.role != "admin",
        key_id=bearer.key_id,
        choices=choices,
        stream=ask.stream,
        wants_usage=wants_usage,
        params=ask.params,
        routes=routes,
        model=ask.model or routes[0].model,
        api_key=bearer.key or None,
    )


def wants_a_form(params: Mapping[str, Any]) -> bool:
    """Whether a request demands a structured reply: a JSON schema, a JSON object, or a tool call.

    Trackers and other extensions that ask about the story send such requests; a narrator's reply is text.
    """
    asked = params.get("response_format")
    if isinstance(asked, Mapping) and asked.get("type") in ("json_schema", "json_object"):
        return True
    choice = params.get("tool_choice")
    return isinstance(choice, Mapping) or choice == "required"


async def answer(request: web.Request, call: Call) -> web.StreamResponse:
    """Play ``call``, or follow the running exchange of an equal request, and send the reply."""
    body = request[BODY]
    if len(body) >= _FAR:
        body = await asyncio.to_thread(lambda: hashlib.sha256(request[BODY]).digest())
    what = (f"{request[PLACE].path}?{request.query_string}", body)
    exchange = request.app[EXCHANGES].join((call.owner, call.session, call.world, call.player, *what), call)
    try:
        if SHARE in request:
            try:
                await exchange.was_read()
            finally:
                request[SHARE].spent = exchange.spent
            leave(request)
        return await (_stream if call.stream else _whole)(request, exchange)
    finally:
        exchange.leave()


async def _stream(request: web.Request, exchange: Exchange) -> web.StreamResponse:
    head = await exchange.head()
    response = web.StreamResponse(headers={**_STREAMING, **head.headers})
    response.content_type = head.content_type
    response.charset = "utf-8"
    await response.prepare(request)
    try:
        async for data in exchange.body():
            await response.write(data)
        await response.write_eof()
    except ConnectionError:
        return response  # the client went away
    return response


async def _whole(request: web.Request, exchange: Exchange) -> web.StreamResponse:
    head = await exchange.head()
    body = b"".join([data async for data in exchange.body()])
    return web.Response(body=body, headers=head.headers, content_type=head.content_type, charset="utf-8")
