"""OpenAI's chat completions, and its list of models."""

from __future__ import annotations

import time

from aiohttp import web

from saga_server.http.app_keys import CURRENT
from saga_server.http.doors.asking import answer, call_of, read
from saga_server.http.openai_schema import model_list, read_chat


async def chat_completions(request: web.Request) -> web.StreamResponse:
    """``POST /v1/chat/completions``."""
    ask = await read(request, read_chat)
    call = call_of(request, ask, user=ask.user, choices=ask.choices, wants_usage=ask.wants_usage)
    return await answer(request, call)


async def list_models(request: web.Request) -> web.Response:
    """``GET /v1/models``: what the providers list."""
    ids = await request.app[CURRENT].narrators.models()
    return web.Response(body=model_list(ids, int(time.time())), content_type="application/json", charset="utf-8")
