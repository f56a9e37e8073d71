"""The endpoints of Gemini's API."""

from __future__ import annotations

from functools import partial

from aiohttp import web
from attrs import evolve

from saga_core.errors import NotSupported
from saga_server.http.doors.asking import answer, call_of, read
from saga_server.http.doors.gemini.ask import read_gemini
from saga_server.http.doors.gemini.shape import GeminiShape
from saga_server.http.doors.table import PLACE
from saga_server.http.errors import RequestError

_OWN = "gemini"
"""The backend that speaks Gemini's own API, so that requests to it need no conversion."""


async def generate(request: web.Request) -> web.StreamResponse:
    """``POST /v1beta/models/MODEL:generateContent`` and ``:streamGenerateContent``."""
    named = request[PLACE].named
    stream = named["verb"] == "streamGenerateContent"
    ask = await read(request, partial(read_gemini, model=named["model"], stream=stream))
    shape = partial(GeminiShape, listed=stream and request.query.get("alt") != "sse")
    call = call_of(request, ask, choices=ask.choices)
    if ask.own and call.route.provider.backend != _OWN:
        raise RequestError(
            f"{ask.own} is not taken here; send text, images, functions, their calls and results (more is passed on to"
            " a provider that speaks Gemini's own API)",
            param=ask.own,
        )
    return await answer(request, evolve(call, shape=shape))


async def refuse(request: web.Request) -> web.StreamResponse:
    """Refuse Google's other verbs. Raises ``NotSupported``."""
    verb = request[PLACE].named["verb"]
    raise NotSupported(f"{verb} is not taken here; generateContent, streamGenerateContent and countTokens are")
