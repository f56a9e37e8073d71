"""Count the tokens of a request with SAGA's counter: of the text that the client sent, without SAGA's additions."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from aiohttp import web

from saga_core.messages import flatten
from saga_core.ports import TokenCounter
from saga_server.http.app_keys import SAGA
from saga_server.http.doors.asking import Asked, read
from saga_server.http.doors.gemini.ask import read_gemini
from saga_server.http.doors.messages.ask import read_messages
from saga_server.http.doors.table import PLACE
from saga_server.http.entry.bodies import BODY
from saga_server.http.openai_schema import to_json

_FRAME = 4
"""Extra tokens per message."""
_LONG = 64 * 1_024
"""Size of a body in bytes from which on it is counted in a thread; a megabyte takes a tenth of a second."""


async def count_messages(request: web.Request) -> web.Response:
    """``POST /v1/messages/count_tokens``."""
    return web.json_response({"input_tokens": await _counted(request, await read(request, read_messages))})


async def count_contents(request: web.Request) -> web.Response:
    """``POST /v1beta/models/MODEL:countTokens``."""
    ask = await read(request, partial(_asked_about, request[PLACE].named["model"]))
    return web.json_response({"totalTokens": await _counted(request, ask)})


def _asked_about(model: str, body: bytes, max_messages: int, max_text_mb: int) -> Asked:
    return read_gemini(body, max_messages, max_text_mb, model=model)


async def _counted(request: web.Request, ask: Asked) -> int:
    counter = request.app[SAGA].stores.counter
    if len(request[BODY]) < _LONG:
        return _count(counter, ask)
    return await asyncio.to_thread(_count, counter, ask)


def _count(counter: TokenCounter, ask: Asked) -> int:
    texts = [_text(message) for message in ask.messages]
    tools = [to_json(tool) for tool in ask.params.get("tools", ())]
    return sum(_FRAME + counter.count(text) for text in (*texts, *tools))


def _text(message: dict[str, Any]) -> str:
    calls = message.get("tool_calls")
    return flatten(message.get("content") or "") + (to_json(calls) if calls else "")
