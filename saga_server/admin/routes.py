"""The routes of the admin API. A start does without its table: whoever asks first has it imported, in a thread."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any, Final

from aiohttp import web

from saga_server.http import Handler

PATHS: Final = ("/", "/healthz", "/readyz", "/metrics", "/api/{rest:.*}")
"""Every path of the table is one of these or below it."""


def admin_routes() -> list[web.RouteDef]:
    """Every path but those of the chat, whatever the method: the table knows which are taken."""
    dispatch: Handler | None = None

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal dispatch
        if dispatch is None:
            module: Any = await asyncio.to_thread(import_module, "saga_server.admin.dispatch")
            dispatch = module.dispatcher()
        return await dispatch(request)

    return [web.route("*", path, answer) for path in PATHS]
