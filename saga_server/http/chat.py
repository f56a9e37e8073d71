"""The OpenAI API: chat completions and the list of models."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from aiohttp import web

from saga_server.http.app_keys import CURRENT, EXCHANGES
from saga_server.http.bodies import BODY
from saga_server.http.exchange import Call, Exchange
from saga_server.http.openai_schema import model_list, read_chat
from saga_server.http.request_names import read_names
from saga_server.http.security import BEARER

_LARGE = 1 << 20
"""Bytes of a body from which on it is read in a thread."""
_STREAMING = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def chat_routes() -> list[web.RouteDef]:
    """Every path by which clients find the API: with and without ``/v1``, a session and a world in the base URL."""
    bases = ["", "/s/{session}", "/w/{world}", "/s/{session}/w/{world}", "/w/{world}/s/{session}"]
    routes = []
    for base in bases:
        for version in ("/v1", ""):
            routes.append(web.post(f"{base}{version}/chat/completions", chat_completions))
            routes.append(web.get(f"{base}{version}/models", list_models))
    return routes


async def chat_completions(request: web.Request) -> web.StreamResponse:
    """``POST /v1/chat/completions``."""
    current = request.app[CURRENT]
    config = current.config
    body = request[BODY]
    reading = partial(read_chat, body, config.server.max_messages, config.server.max_text_mb)
    ask = reading() if len(body) < _LARGE else await asyncio.to_thread(reading)
    bearer = request[BEARER]
    named = read_names(
        ask.messages,
        path=request.match_info,
        headers=request.headers,
        bearer=bearer,
        user=ask.user,
        identify=config.session.identify,
        markers=config.session.markers,
    )
    routes = current.narrators.routes(ask.model)
    call = Call(
        messages=named.messages,
        session=named.session,
        world=named.world,
        player=named.player or "",
        marked=named.marked,
        notices=named.notices,
        aside=wants_a_form(ask.params),
        owner=bearer.owner,
        choices=ask.choices,
        stream=ask.stream,
        wants_usage=ask.wants_usage,
        params=ask.params,
        routes=routes,
        model=ask.model or routes[0].model,
        api_key=bearer.key or None,
    )
    exchange = request.app[EXCHANGES].join((call.owner, call.session, call.world, call.player, body), call)
    try:
        return await (_stream if ask.stream else _whole)(request, exchange)
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
