"""What a handler does goes on to its end when its client goes away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from aiohttp import web

STARTED: Final = web.AppKey("started", float)
"""When the application was made, in seconds since the epoch."""
_WORK: Final = web.AppKey("work", set[asyncio.Task[Any]])

T = TypeVar("T")


def prepare(app: web.Application) -> None:
    """What the handlers of the admin API keep in the application."""
    app[_WORK] = set()
    app[STARTED] = time.time()


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
