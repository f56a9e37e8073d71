"""The endpoint of OpenAI's Responses API."""

from __future__ import annotations

from functools import partial

from aiohttp import web
from attrs import evolve

from saga_server.http.doors.asking import answer, call_of, read
from saga_server.http.doors.responses.ask import read_responses
from saga_server.http.doors.responses.shape import ResponsesShape


async def responses(request: web.Request) -> web.StreamResponse:
    """``POST /v1/responses``."""
    ask = await read(request, read_responses)
    call = call_of(request, ask, user=ask.user)
    return await answer(request, evolve(call, shape=partial(ResponsesShape, given=ask.given)))
