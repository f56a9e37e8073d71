"""The doors of chats: OpenAI's chat completions and list of models, and Anthropic's messages."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from aiohttp import web
from attrs import evolve

from saga_server.http.app_keys import CURRENT, EXCHANGES
from saga_server.http.bodies import BODY
from saga_server.http.errors import describe
from saga_server.http.exchange import Call, Exchange
from saga_server.http.messages_ask import read_messages
from saga_server.http.messages_shape import MessagesShape, failure
from saga_server.http.openai_schema import model_list, read_chat
from saga_server.http.request_names import read_names
from saga_server.http.security import BEARER

LARGE = 1 << 20
"""Bytes of a body from which on it is read in a thread."""
BASES = ("", "/s/{session}", "/w/{world}", "/s/{session}/w/{world}", "/w/{world}/s/{session}")
"""What stands before every path: a session and a world in the base URL."""
_STREAMING = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class Asked(Protocol):
    """What every door reads of a request's body."""

    @property
    def messages(self) -> list[Any]: ...

    @property
    def model(self) -> str: ...

    @property
    def stream(self) -> bool: ...

    @property
    def params(self) -> Mapping[str, Any]: ...


def chat_routes() -> list[web.RouteDef]:
    """Every path by which clients find the API: with and without ``/v1``, a session and a world in the base URL."""
    routes = []
    for base in BASES:
        for version in ("/v1", ""):
            routes.append(web.post(f"{base}{version}/chat/completions", chat_completions))
            routes.append(web.post(f"{base}{version}/messages", messages))
            routes.append(web.get(f"{base}{version}/models", list_models))
    return routes


async def chat_completions(request: web.Request) -> web.StreamResponse:
    """``POST /v1/chat/completions``."""
    current = request.app[CURRENT]
    config = current.config
    body = request[BODY]
    reading = partial(read_chat, body, config.server.max_messages, config.server.max_text_mb)
    ask = reading() if len(body) < LARGE else await asyncio.to_thread(reading)
    call = call_of(request, ask, user=ask.user, choices=ask.choices, wants_usage=ask.wants_usage)
    return await answer(request, call, body)


def call_of(
    request: web.Request,
    ask: Asked,
    *,
    user: str | None = None,
    choices: int = 1,
    wants_usage: bool = True,
    nameless: bool = False,
) -> Call:
    """What a request asks for at any door, with the names that it gives and who narrates. ``nameless``: the narrator
    may be asked without a model's name."""
    current, bearer = request.app[CURRENT], request[BEARER]
    named = read_names(
        ask.messages,
        path=request.match_info,
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
        choices=choices,
        stream=ask.stream,
        wants_usage=wants_usage,
        params=ask.params,
        routes=routes,
        model=ask.model or routes[0].model,
        api_key=bearer.key or None,
    )


async def messages(request: web.Request) -> web.StreamResponse:
    """``POST /v1/messages``. What goes wrong before the answer begins is told in the API's own shape."""
    try:
        return await _messages(request)
    except web.HTTPException:
        raise
    except Exception as error:  # noqa: BLE001 - the edge of this door: described, and logged when it is unexpected
        told = describe(error)
        about = json.loads(told.body())["error"]
        return web.json_response(failure(about, told.status), status=told.status, headers=told.headers)


async def _messages(request: web.Request) -> web.StreamResponse:
    current = request.app[CURRENT]
    body = request[BODY]
    reading = partial(read_messages, body, current.config.server.max_messages, current.config.server.max_text_mb)
    ask = reading() if len(body) < LARGE else await asyncio.to_thread(reading)
    call = evolve(call_of(request, ask), shape=MessagesShape)
    return await answer(request, call, b"/v1/messages\n" + body)


async def answer(request: web.Request, call: Call, body: bytes) -> web.StreamResponse:
    """Play ``call``, or follow the exchange that plays one with the same ``body``, and answer as it is shaped."""
    exchange = request.app[EXCHANGES].join((call.owner, call.session, call.world, call.player, body), call)
    try:
        return await (_stream if call.stream else _whole)(request, exchange)
    finally:
        exchange.leave()


def wants_a_form(params: Mapping[str, Any]) -> bool:
    """Whether a request binds the answer to a form: a JSON schema, a JSON object, or the call of a tool.

    So do trackers and other extensions that ask about the story. A narrator's reply is text.
    """
    asked = params.get("response_format")
    if isinstance(asked, Mapping) and asked.get("type") in ("json_schema", "json_object"):
        return True
    choice = params.get("tool_choice")
    return isinstance(choice, Mapping) or choice == "required"


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


async def list_models(request: web.Request) -> web.Response:
    """``GET /v1/models``: what the providers list."""
    ids = await request.app[CURRENT].narrators.models()
    return web.Response(body=model_list(ids, int(time.time())), content_type="application/json", charset="utf-8")
