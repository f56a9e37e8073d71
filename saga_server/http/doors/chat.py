"""OpenAI's chat completions."""

from __future__ import annotations

from aiohttp import web

from saga_server.http.doors.asking import answer, call_of, read
from saga_server.http.openai_schema import read_chat


async def chat_completions(request: web.Request) -> web.StreamResponse:
    """``POST /v1/chat/completions``."""
    ask = await read(request, read_chat)
    call = call_of(request, ask, user=ask.user, choices=ask.choices, wants_usage=ask.wants_usage)
    return await answer(request, call)
