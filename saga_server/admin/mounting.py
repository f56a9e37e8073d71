"""The admin API in its application: its routes, and what its handlers have under way.

A start does without its table: whoever asks first has it imported, in a thread. What a handler does goes on to its end
when its client goes away.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from importlib import import_module
from typing import Any, Final, TypeVar

from aiohttp import web

from saga_server.http import Handler

PATHS: Final = ("/", "/healthz", "/readyz", "/metrics", "/api/{rest:.*}")
"""Every path of the table is one of these or below it."""
STARTED: Final = web.AppKey("started", float)
"""When the application was made, by the monotonic clock."""
_WORK: Final = web.AppKey("work", set[asyncio.Task[Any]])

T = TypeVar("T")


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


def prepare(app: web.Application) -> None:
    """What the handlers of the admin API keep in the application."""
    app[_WORK] = set()
    app[STARTED] = time.monotonic()


async def to_its_end(request: web.Request, work: Coroutine[Any, Any, T]) -> T:
    """Run what changes something: it is not left half done when the client goes away."""
    task = asyncio.create_task(work)
    request.app[_WORK].add(task)
    task.add_done_callback(request.app[_WORK].discard)
    return await asyncio.shield(task)


async def unfinished(app: web.Application, seconds: float) -> int:
    """Wait so long for what changes something and goes on without its client; then cancel it. How much that was."""
    tasks = app[_WORK].copy()
    if not tasks:
        return 0
    _, left = await asyncio.wait(tasks, timeout=seconds)
    for task in left:
        task.cancel()
    return len(left)
