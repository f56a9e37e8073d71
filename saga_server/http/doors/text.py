"""Text completion in the APIs of OpenAI (``/v1/completions``), KoboldCpp and llama.cpp, and KoboldCpp's abort."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from aiohttp import web
from attrs import evolve, frozen

from saga_core.ports import TextWire
from saga_server.http.app_keys import SAGA
from saga_server.http.call import Call
from saga_server.http.doors.asking import answer, call_of, read, read_value
from saga_server.http.doors.relaying import json_answer, relayed
from saga_server.http.doors.shapes import CompletionShape, KoboldShape, LlamaShape
from saga_server.http.doors.table import ABORT, PLACE
from saga_server.http.entry.security import BEARER
from saga_server.http.exchanges import EXCHANGES
from saga_server.http.shapes import Shape
from saga_server.http.text_ask import UNTOLD, TextRequest, read_text

_log = logging.getLogger("saga.server")


@frozen
class Wire:
    """The text completion API at a path."""

    name: TextWire
    shape: Callable[[str], Shape]
    stream: bool | None = None
    """Whether replies at the path are streamed; None if the request's field ``stream`` decides."""


_OPENAI = Wire("openai", CompletionShape)
WIRES = {
    "/v1/completions": _OPENAI,
    "/completions": _OPENAI,
    "/api/v1/generate": Wire("kobold", KoboldShape, stream=False),
    "/api/extra/generate/stream": Wire("kobold", KoboldShape, stream=True),
    "/completion": Wire("llamacpp", LlamaShape),
}


async def complete(request: web.Request) -> web.StreamResponse:
    """``POST /v1/completions`` and the equivalent paths in ``WIRES``."""
    wire = WIRES[request[PLACE].path]
    ask = await read(request, partial(_reading, wire))
    return await answer(request, text_call(request, wire.shape, ask))


def _reading(wire: Wire, body: bytes, max_messages: int, max_text_mb: int) -> TextRequest:
    return read_text(body, wire.name, stream=wire.stream, max_messages=max_messages, max_text_mb=max_text_mb)


def text_call(request: web.Request, shape: Callable[[str], Shape], ask: TextRequest) -> Call:
    """Build the call for a request for text completion."""
    call = call_of(request, ask, user=ask.user, choices=ask.choices, wants_usage=ask.wants_usage, nameless=True)
    told = ask.ask.prompt.told
    if not told:
        request.app[SAGA].counters.add("text_prompts.untold")
        _log.info("%s", UNTOLD)
    return evolve(
        call,
        player=call.player or ask.ask.prompt.player,
        aside=ask.aside or call.aside,
        speaker=ask.speaker,
        window=ask.window,
        shape=shape,
        text=ask.ask,
        notices=call.notices if told else (*call.notices, UNTOLD),
    )


async def progress(_: web.Request) -> web.StreamResponse:
    """``POST /api/extra/generate/check``: how far the reply is that another request waits for. Always empty.

    KoboldAI Lite asks this every second while it does not stream. The server that speaks the reply is not asked: its
    text may hold the state block.
    """
    return await json_answer({"results": [{"text": ""}]})


async def abort(request: web.Request) -> web.StreamResponse:
    """``POST /api/extra/abort``: stop this key's replies, and pass the request on to the narrator's server.

    It is not passed on while another reply is running, because the server would stop that one too.
    """
    body = await read_value(request, {})
    if request.app[EXCHANGES].stop_texts(request[BEARER].owner):
        await relayed(request, ABORT, body)
    return await json_answer({"success": True})
