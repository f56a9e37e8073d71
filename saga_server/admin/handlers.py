"""What the handlers of the admin API have in common."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from aiohttp import web

from saga_core import Saga
from saga_server.http import SAGA

STARTED: Final = web.AppKey("started", float)
_WORK: Final = web.AppKey("work", set[asyncio.Task[Any]])

T = TypeVar("T")


def prepare(app: web.Application) -> None:
    """What they keep in the application."""
    app[_WORK] = set()
    app[STARTED] = time.time()


def as_json(value: Any, status: int = 200) -> web.Response:
    """An answer."""
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type="application/json", charset="utf-8")


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


def saga_of(request: web.Request) -> Saga:
    """The engine."""
    return request.app[SAGA]


def id_of(request: web.Request) -> str:
    """The session that the path names, by id or label."""
    return request.match_info["id"]
