"""Gemini's API: replies, and the count of tokens."""

from __future__ import annotations

from functools import partial
from typing import Any

from aiohttp import web
from attrs import evolve

from saga_core.errors import NotSupported
from saga_server.http.app_keys import SAGA
from saga_server.http.doors.asking import answer, call_of, read
from saga_server.http.doors.gemini_ask import read_gemini
from saga_server.http.doors.gemini_shape import GeminiShape
from saga_server.http.doors.table import PLACE


async def act(request: web.Request) -> web.StreamResponse:
    """``POST /v1beta/models/MODEL:VERB``."""
    named = request[PLACE].named
    verb, model = named["verb"], named["model"].removeprefix("models/")
    if verb in ("generateContent", "streamGenerateContent"):
        return await _generate(request, model, stream=verb.startswith("stream"))
    if verb == "countTokens":
        return await _count(request, model)
    raise NotSupported(f"{verb} is not taken here; generateContent, streamGenerateContent and countTokens are")


async def _generate(request: web.Request, model: str, *, stream: bool) -> web.StreamResponse:
    ask = await read(request, partial(read_gemini, model=model, stream=stream))
    call = call_of(request, ask, choices=ask.choices)
    shape = partial(GeminiShape, listed=stream and request.query.get("alt") != "sse")
    return await answer(request, evolve(call, shape=shape))


async def _count(request: web.Request, model: str) -> web.Response:
    """The tokens of the contents as SAGA counts them, without what it adds."""
    ask = await read(request, partial(_asked_about, model))
    count = request.app[SAGA].stores.counter.count
    texts = [part.get("text") or "" for message in ask.messages for part in _parts(message.get("content"))]
    return web.json_response({"totalTokens": sum(count(text) for text in texts)})


def _asked_about(model: str, body: bytes, max_messages: int, max_text_mb: int) -> Any:
    return read_gemini(body, max_messages, max_text_mb, model=model)


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"text": content}]
