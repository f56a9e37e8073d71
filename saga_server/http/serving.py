"""What doors are made of: handlers that play a client's request, count its tokens, or ask the narrator's server.

The routes of the application lead to the doors here.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler
from attrs import evolve

from saga_core.errors import BadInput, NotFound, UpstreamError
from saga_core.messages import flatten
from saga_core.ports import TextServer, TokenCounter
from saga_server.http.app_keys import CURRENT, HELPER, SAGA
from saga_server.http.bodies import BODY
from saga_server.http.callers.identity import BEARER
from saga_server.http.client_request import ClientRequest, Incoming
from saga_server.http.cpu_shares import SHARE, in_helper, leave
from saga_server.http.door import DOORS, PLACE, Doors, ModelFormat, Place
from saga_server.http.errors import RequestError
from saga_server.http.exchange import EXCHANGES, Call, Exchange
from saga_server.http.held_bytes import HOLDING
from saga_server.http.json_body import MAX_NODES, check_text, read_json, to_json
from saga_server.http.request_names import read_names
from saga_server.tenancy import tenancy_of

_log = logging.getLogger("saga.server")

_LARGE = 1 << 18
"""Size of a body in bytes from which on it is read in a thread; a megabyte takes ten milliseconds or more."""
_FAR = 1 << 20
"""Size from which on it is read in the helper process, because parsing JSON holds the GIL."""
_STREAMING = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_FRAME = 4
"""Extra tokens per message."""
_LONG = 64 * 1_024
"""Size of a body in bytes from which on its tokens are counted in a thread; a megabyte takes a tenth of a second."""
_PIECE = 1 << 20
"""Bytes of a reply that are sent at once. Other tasks run between two pieces."""
_NO_SUCH_THING = (404, 405, 501)

T = TypeVar("T")
R = TypeVar("R", bound=ClientRequest)


def door_routes(doors: Doors) -> list[web.RouteDef]:
    """Return a catch-all route, and routes for the doors below ``/api``, where the admin API has the other paths."""
    below = [path + end for path in doors.paths if path.startswith("/api/") for end in ("", "/")]
    return [web.route("*", path, _through_door) for path in (*below, "/{rest:.*}")]


async def _through_door(request: web.Request) -> web.StreamResponse:
    """Call the handler at the request's place. Raises 404 without a door, and 405 for a wrong method."""
    place: Place | None = request.get(PLACE)
    if place is None:
        raise web.HTTPNotFound
    handler = place.handler(request.method)
    if handler is None:
        raise web.HTTPMethodNotAllowed(request.method, sorted(place.methods))
    answer: Any = await handler(request)
    if not isinstance(answer, web.StreamResponse):
        raise TypeError(f"the door's {_name(handler)} gave a {type(answer).__name__}; give a response of aiohttp")
    return answer


# -- reading ---------------------------------------------------------------------------------------------------


async def received(request: web.Request, read: Callable[[Incoming], R]) -> R:
    """Return what ``read`` makes of a request. Raises ``RequestError``.

    ``read`` is a function of a module, because a large body is read in another process.
    """
    server, place = request.app[CURRENT].config.server, request[PLACE]
    incoming = Incoming(
        path=place.path,
        named=place.named,
        query=dict(request.query),
        max_messages=server.max_messages,
        max_text_mb=server.max_text_mb,
    )
    return await _beside(request, _read, read, incoming)


def _read(body: bytes, read: Callable[[Incoming], R], incoming: Incoming) -> R:
    found = read(evolve(incoming, body=body))
    if not isinstance(found, ClientRequest):
        raise TypeError(
            f"the door's {_name(read)} gave a {type(found).__name__}; give a saga_server.http.ClientRequest"
        )
    if not callable(found.reply):
        raise TypeError(
            f"the door's {_name(read)} gave {found.reply!r:.80} as the reply of its request; give what makes a "
            "ReplyFormat of the model's name, such as the class of one"
        )
    check_text(found.messages, incoming.max_text_mb)
    return found


def _name(read: Callable[..., Any]) -> str:
    return f"{getattr(read, '__module__', '')}.{getattr(read, '__qualname__', read)}"


async def json_of(request: web.Request, none: Any = None, most: int = MAX_NODES) -> Any:
    """Return the JSON value in the body, of at most ``most`` values; ``none`` for an empty body.

    Raises ``RequestError``.
    """
    return await _beside(request, read_json, most) if request[BODY] else none


async def _beside(request: web.Request, work: Callable[..., T], *more: Any) -> T:
    """Run ``work`` on the body: a larger one in a thread, or in the helper process."""
    body = request[BODY]
    if len(body) < _LARGE:
        return work(body, *more)
    if len(body) < _FAR:
        return await asyncio.to_thread(work, body, *more)
    return await in_helper(request.app[HELPER], work, body, *more)


# -- playing ---------------------------------------------------------------------------------------------------


def plays(read: Callable[[Incoming], ClientRequest]) -> Handler:
    """Return the handler that plays what ``read`` makes of a request, and sends the reply.

    ``read`` is a function of a module, because a large body is read in another process. It raises ``RequestError``.
    Raises ``TypeError`` for one that is asynchronous.
    """
    if inspect.iscoroutinefunction(read):
        raise TypeError(f"{_name(read)} is asynchronous; write it with def")

    async def handler(request: web.Request) -> web.StreamResponse:
        return await answer(request, call_of(request, await received(request, read)))

    return handler


def call_of(request: web.Request, asked: ClientRequest) -> Call:
    """Return the call for a request, with the names that it gives and the routes of its model."""
    current, bearer, place = request.app[CURRENT], request[BEARER], request[PLACE]
    names = read_names(
        asked.messages,
        path={"session": place.session, "world": place.world},
        headers=request.headers,
        bearer=bearer,
        user=asked.user,
        identify=current.config.session.identify,
        markers=current.config.session.markers,
    )
    routes = current.narrators.routes(asked.model, nameless=asked.nameless)
    return Call(request=asked, names=names, bearer=bearer, routes=routes)


async def answer(request: web.Request, call: Call) -> web.StreamResponse:
    """Play ``call``, or follow the running exchange of an equal request, and send the reply."""
    body = request[BODY]
    if len(body) >= _FAR:
        body = await asyncio.to_thread(lambda: hashlib.sha256(request[BODY]).digest())
    names, what = call.names, f"{request[PLACE].path}?{request.query_string}"
    key = (call.bearer.owner, names.in_words, what, body)
    exchange = request.app[EXCHANGES].join(key, call)
    try:
        if SHARE in request:
            try:
                await exchange.was_read()
            finally:
                request[SHARE].spent = exchange.spent
            leave(request)
            if not exchange.ended:  # with another server's session it would be passed on
                request[BODY] = b""
        return await (_stream if call.request.stream else _whole)(request, exchange)
    finally:
        exchange.leave()


async def _stream(request: web.Request, exchange: Exchange) -> web.StreamResponse:
    headers, content_type = await exchange.head()
    response = web.StreamResponse(headers={**_STREAMING, **headers})
    response.content_type = content_type
    response.charset = "utf-8"
    await response.prepare(request)
    return await _sent(response, exchange.body())


async def _whole(request: web.Request, exchange: Exchange) -> web.StreamResponse:
    headers, content_type = await exchange.head()
    body = b"".join([data async for data in exchange.body()])
    holding = request[HOLDING]
    holding.now(holding.size + len(body))
    if len(body) <= _PIECE:
        return web.Response(body=body, headers=headers, content_type=content_type, charset="utf-8")
    response = web.StreamResponse(headers=headers)
    response.content_type, response.charset, response.content_length = content_type, "utf-8", len(body)
    await response.prepare(request)
    return await _sent(response, exchange.body())


async def _sent(response: web.StreamResponse, body: AsyncIterator[bytes]) -> web.StreamResponse:
    try:
        async for data in body:
            await response.write(data[:_PIECE])
            for start in range(_PIECE, len(data), _PIECE):
                await asyncio.sleep(0)  # a client that reads fast makes no write wait
                await response.write(data[start : start + _PIECE])
        await response.write_eof()
    except ConnectionError:
        pass  # the client went away
    return response


# -- counting tokens -------------------------------------------------------------------------------------------


def counts(read: Callable[[Incoming], ClientRequest], field: str) -> Handler:
    """Return the handler that answers with the number of tokens of a request, in the field ``field``.

    SAGA's counter counts what the client sent, without SAGA's additions.
    """

    async def handler(request: web.Request) -> web.StreamResponse:
        asked = await received(request, read)
        counter = request.app[SAGA].stores.counter
        large = len(request[BODY]) >= _LONG
        count = await asyncio.to_thread(_tokens, counter, asked) if large else _tokens(counter, asked)
        return web.json_response({field: count})

    return handler


def _tokens(counter: TokenCounter, asked: ClientRequest) -> int:
    texts = [_text(message) for message in asked.messages]
    tools = [to_json(tool) for tool in asked.params.get("tools", ())]
    return sum(_FRAME + counter.count(text) for text in (*texts, *tools))


def _text(message: dict[str, Any]) -> str:
    calls = message.get("tool_calls")
    return flatten(message.get("content") or "") + (to_json(calls) if calls else "")


# -- lists of models -------------------------------------------------------------------------------------------


async def list_models(request: web.Request) -> web.StreamResponse:
    """The models of all providers."""
    return await json_answer(_model_format(request).all(await request.app[CURRENT].narrators.models()))


async def one_model(request: web.Request) -> web.StreamResponse:
    """The model that the path names. Raises ``NotFound`` if it is not listed."""
    name = request[PLACE].named["model"]
    if name not in await request.app[CURRENT].narrators.models():
        raise NotFound(f"model: {name} is not listed; GET {request.path.removesuffix(f'/{name}')} has those that are")
    return await json_answer(_model_format(request).one(name))


def _model_format(request: web.Request) -> ModelFormat:
    """Return the format of the place's door, or at a path of several APIs that of the API that the client speaks."""
    own = request[PLACE].door.models
    assert own is not None, "a door that lists models has a format for them"
    if own.headers:
        return own
    formats = [each.models for each in request.app[DOORS].loaded.values() if each.models is not None]
    return next((each for each in formats if any(name in request.headers for name in each.headers)), own)


# -- asking the narrator's server ------------------------------------------------------------------------------


async def relayed(request: web.Request, path: str, body: Any) -> Any:
    """Return the reply of the narrator's server to an auxiliary request of a frontend for a local model server.

    None if the narrator's provider has no text completion or does not know the path.
    """
    narrators = request.app[CURRENT].narrators
    try:
        provider = narrators.route("", nameless=True).provider
    except BadInput:  # several models, and none is the default
        return None
    if not provider.completes_text:
        return None
    narrator = await narrators.narrator(provider)
    if not isinstance(narrator, TextServer):
        return None
    leave(request)  # the request was read, and the server may take long
    try:
        return await narrator.relay(request.method, path, body)
    except UpstreamError as error:
        if error.status not in _NO_SUCH_THING:
            raise
        _log.debug("%s has no %s: %s", provider.name, path, error)
        return None


async def json_answer(value: Any) -> web.Response:
    """Return ``value`` as a JSON reply. It is encoded in a thread, because a relayed reply may be large."""
    return web.Response(text=await asyncio.to_thread(to_json, value), content_type="application/json")


async def admit_unbilled(request: web.Request) -> None:
    """Count a turn of the key for a request that is not billed.

    Raises ``RequestError`` (403) if the key has a limit for tokens or money, which could not be enforced.
    """
    record = request[BEARER].record
    if record is not None and (record.quotas.tokens_a_day or record.quotas.dollars_a_day):
        raise RequestError(
            "this key has a limit of tokens or money, and what is passed on is not billed; it may chat",
            status=403,
            kind="permission_error",
        )
    await tenancy_of(request.app[SAGA]).admit(request[BEARER].key_id)
