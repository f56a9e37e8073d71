"""The doors for text completion: ``/v1/completions``, KoboldCpp's and llama.cpp's own, and what they ask besides."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import web
from attrs import evolve, frozen

from saga_core.errors import BadInput, NotSupported, UpstreamError
from saga_core.ports import TextServer, TextWire
from saga_server.http.app_keys import CURRENT, EXCHANGES, SAGA
from saga_server.http.bodies import BODY
from saga_server.http.chat import BASES, LARGE, answer, call_of
from saga_server.http.errors import RequestError
from saga_server.http.exchange import Call
from saga_server.http.openai_schema import read_json
from saga_server.http.security import BEARER
from saga_server.http.shapes import CompletionShape, KoboldShape, LlamaShape, Shape
from saga_server.http.text_ask import UNTOLD, TextRequest, read_text

_log = logging.getLogger("saga.server")

_NO_SUCH_THING = (404, 405, 501)


@frozen
class Door:
    """A path at which text is completed."""

    path: str
    wire: TextWire
    shape: Callable[[str], Shape]
    stream: bool | None = None
    """Whether the path streams; None: the request's field ``stream`` says it."""


DOORS = (
    Door("/v1/completions", "openai", CompletionShape),
    Door("/completions", "openai", CompletionShape),
    Door("/api/v1/generate", "kobold", KoboldShape, stream=False),
    Door("/api/extra/generate/stream", "kobold", KoboldShape, stream=True),
    Door("/completion", "llamacpp", LlamaShape),
)
ASKED = (
    "/props",
    "/health",
    "/api/v1/model",
    "/api/v1/info/version",
    "/api/extra/version",
    "/api/extra/true_max_context_length",
    "/api/v1/config/max_context_length",
    "/v1/internal/model/info",
)
"""``GET``: what the narrator's server says of itself."""
COUNTED = ("/api/extra/tokencount", "/tokenize", "/detokenize", "/v1/internal/encode")
"""``POST``: the tokens of a text, as the narrator's server cuts it."""
ABORT = "/api/extra/abort"


def text_routes() -> list[web.RouteDef]:
    """Every path of these doors, below every base URL."""
    routes = []
    for base in BASES:
        routes += [web.post(base + door.path, _completing(door)) for door in DOORS]
        routes += [web.get(base + path, _relaying(path)) for path in ASKED]
        routes += [web.post(base + path, _relaying(path)) for path in COUNTED]
        routes.append(web.post(base + ABORT, abort))
    return routes


def _completing(door: Door) -> Callable[[web.Request], Any]:
    async def complete(request: web.Request) -> web.StreamResponse:
        body = request[BODY]
        config = request.app[CURRENT].config
        reading = partial(
            read_text,
            body,
            door.wire,
            stream=door.stream,
            max_messages=config.server.max_messages,
            max_text_mb=config.server.max_text_mb,
        )
        ask = reading() if len(body) < LARGE else await asyncio.to_thread(reading)
        call = _call(request, door, ask)
        if not ask.ask.prompt.told:
            request.app[SAGA].counters.add("text_prompts.untold")
            _log.info("%s", UNTOLD)
        return await answer(request, call, door.path.encode() + b"\n" + body)

    return complete


def _call(request: web.Request, door: Door, ask: TextRequest) -> Call:
    call = call_of(request, ask, user=ask.user, choices=ask.choices, wants_usage=ask.wants_usage, nameless=True)
    return evolve(
        call,
        player=call.player or ask.ask.prompt.player,
        aside=ask.aside or call.aside,
        speaker=ask.speaker,
        window=ask.window,
        shape=door.shape,
        text=ask.ask,
        notices=(*call.notices, *(() if ask.ask.prompt.told else (UNTOLD,))),
    )


# -- what else is asked ----------------------------------------------------------------------------------------


def _relaying(path: str) -> Callable[[web.Request], Any]:
    async def relay(request: web.Request) -> web.StreamResponse:
        raw = request[BODY]
        body = read_json(raw) if raw else {}
        found = await _relayed(request, path, body)
        return _json(_own(request, path, body) if found is None else found)

    return relay


async def _relayed(request: web.Request, path: str, body: Any) -> Any:
    """What the narrator's server answers; None where it completes no text, or knows no such thing."""
    narrators = request.app[CURRENT].narrators
    try:
        provider = narrators.route("", nameless=True).provider
    except BadInput:  # several models, and none that is asked without a name
        return None
    if not provider.completes_text:
        return None
    narrator = await narrators.narrator(provider)
    if not isinstance(narrator, TextServer):
        return None
    try:
        return await narrator.relay(request.method, path, body)
    except UpstreamError as error:
        if error.status not in _NO_SUCH_THING:
            raise
        _log.debug("%s has no %s: %s", provider.name, path, error)
        return None


def _own(request: web.Request, path: str, body: Any) -> Any:
    """SAGA's own answer, where the narrator is no such server. Raises ``NotSupported`` for what only that knows."""
    current, saga = request.app[CURRENT], request.app[SAGA]
    window = current.config.token_budget.total_context_max
    model = current.narrators.model or "saga"
    own: dict[str, Any] = {
        "/health": {"status": "ok"},
        "/api/v1/model": {"result": model},
        "/api/v1/info/version": {"result": "1.2.5"},
        "/api/extra/version": {"result": "KoboldCpp", "version": "1.93", "protected": False},
        "/api/extra/true_max_context_length": {"value": window},
        "/api/v1/config/max_context_length": {"value": window},
        "/v1/internal/model/info": {"model_name": model},
    }
    if path in own:
        return own[path]
    if path == "/api/extra/tokencount":
        text = body.get("prompt") if isinstance(body, dict) else None
        if not isinstance(text, str):
            raise RequestError("prompt: missing; send the text whose tokens are counted", param="prompt")
        return {"value": saga.stores.counter.count(text), "ids": []}
    raise NotSupported(f"{path}: the narrator does not tell this; let the frontend estimate its tokens")


async def abort(request: web.Request) -> web.StreamResponse:
    """``POST /api/extra/abort``: ends the replies of this key, and tells the server that speaks them.

    While another key's reply is under way that server is not told: it would end that one too.
    """
    raw = request[BODY]
    if request.app[EXCHANGES].stop_texts(request[BEARER].owner):
        await _relayed(request, ABORT, read_json(raw) if raw else {})
    return _json({"success": True})


def _json(value: Any) -> web.Response:
    return web.Response(text=json.dumps(value, ensure_ascii=False), content_type="application/json")
