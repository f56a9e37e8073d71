"""Mount the admin API in the application, and track the work of its handlers.

The table of endpoints is imported in a thread at the first request, so that it does not slow down the start. Work that
a handler has begun runs to its end even if the client goes away.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from importlib import import_module
from typing import Any, Final, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler

PATHS: Final = ("/", "/healthz", "/readyz", "/metrics", "/api/{rest:.*}")
"""The routes that cover every path of the table."""
STARTED: Final = web.AppKey("started", float)
"""When the application was created, on the monotonic clock."""
_WORK: Final = web.AppKey("work", set[asyncio.Task[Any]])

T = TypeVar("T")


def admin_routes() -> list[web.RouteDef]:
    """Return routes for all paths of the admin API and all methods. The table decides which combinations exist."""
    dispatch: Handler | None = None

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal dispatch
        if dispatch is None:
            module: Any = await asyncio.to_thread(import_module, "saga_server.admin.dispatch")
            dispatch = module.dispatcher()
        return await dispatch(request)

    return [web.route("*", path, answer) for path in PATHS]


def prepare(app: web.Application) -> None:
    """Prepare the data that the handlers keep in the application."""
    app[_WORK] = set()
    app[STARTED] = time.monotonic()


async def to_its_end(request: web.Request, work: Coroutine[Any, Any, T]) -> T:
    """Run work that changes something to its end, even if the client goes away."""
    task = asyncio.create_task(work)
    request.app[_WORK].add(task)
    task.add_done_callback(request.app[_WORK].discard)
    return await asyncio.shield(task)


async def unfinished(app: web.Application, seconds: float) -> int:
    """Wait up to ``seconds`` for unfinished work, then cancel the rest. Return how many tasks were cancelled."""
    tasks = app[_WORK].copy()
    if not tasks:
        return 0
    _, left = await asyncio.wait(tasks, timeout=seconds)
    for task in left:
        task.cancel()
    return len(left)
