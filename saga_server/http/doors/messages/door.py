"""The endpoint of Anthropic's Messages API."""

from __future__ import annotations

from aiohttp import web
from attrs import evolve

from saga_server.http.doors.asking import answer, call_of, read
from saga_server.http.doors.messages.ask import read_messages
from saga_server.http.doors.messages.shape import MessagesShape


async def messages(request: web.Request) -> web.StreamResponse:
    """``POST /v1/messages``."""
    ask = await read(request, read_messages)
    return await answer(request, evolve(call_of(request, ask), shape=MessagesShape))
