"""The doors for text completion: ``/v1/completions``, KoboldCpp's and llama.cpp's own, and what they ask besides."""

from __future__ import annotations

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
from saga_server.http.doors.asking import answer, call_of, read
from saga_server.http.doors.shapes import CompletionShape, KoboldShape, LlamaShape
from saga_server.http.doors.table import ABORT, PLACE
from saga_server.http.errors import RequestError
from saga_server.http.exchange import Call
from saga_server.http.openai_schema import read_json
from saga_server.http.security import BEARER
from saga_server.http.shapes import Shape
from saga_server.http.text_ask import UNTOLD, TextRequest, read_text

_log = logging.getLogger("saga.server")

_NO_SUCH_THING = (404, 405, 501)


@frozen
class Wire:
    """How text is completed at a path."""

    name: TextWire
    shape: Callable[[str], Shape]
    stream: bool | None = None
    """Whether the path streams; None: the request's field ``stream`` says it."""


_OPENAI = Wire("openai", CompletionShape)
WIRES = {
    "/v1/completions": _OPENAI,
    "/completions": _OPENAI,
    "/api/v1/generate": Wire("kobold", KoboldShape, stream=False),
    "/api/extra/generate/stream": Wire("kobold", KoboldShape, stream=True),
    "/completion": Wire("llamacpp", LlamaShape),
}


async def complete(request: web.Request) -> web.StreamResponse:
    """``POST /v1/completions`` and its like."""
    wire = WIRES[request[PLACE].path]
    ask = await read(request, partial(_reading, wire))
    call = _call(request, wire, ask)
    if not ask.ask.prompt.told:
        request.app[SAGA].counters.add("text_prompts.untold")
        _log.info("%s", UNTOLD)
    return await answer(request, call)


def _reading(wire: Wire, body: bytes, max_messages: int, max_text_mb: int) -> TextRequest:
    return read_text(body, wire.name, stream=wire.stream, max_messages=max_messages, max_text_mb=max_text_mb)


def _call(request: web.Request, wire: Wire, ask: TextRequest) -> Call:
    call = call_of(request, ask, user=ask.user, choices=ask.choices, wants_usage=ask.wants_usage, nameless=True)
    return evolve(
        call,
        player=call.player or ask.ask.prompt.player,
        aside=ask.aside or call.aside,
        speaker=ask.speaker,
        window=ask.window,
        shape=wire.shape,
        text=ask.ask,
        notices=(*call.notices, *(() if ask.ask.prompt.told else (UNTOLD,))),
    )


# -- what else is asked ----------------------------------------------------------------------------------------


async def relay(request: web.Request) -> web.StreamResponse:
    """What frontends ask a server of local models besides: it is asked, or SAGA answers what it knows."""
    raw, path = request[BODY], request[PLACE].path
    body = read_json(raw) if raw else {}
    found = await _relayed(request, path, body)
    return _json(_own(request, path, body) if found is None else found)


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
