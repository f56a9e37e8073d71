"""Route requests to the handlers of the doors. The code of a door is imported at the first request to it."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from aiohttp import web

from saga_server.http.doors.table import DOORS, PLACE
from saga_server.http.errors import Handler

_loaded: dict[str, Handler] = {}


def door_routes() -> list[web.RouteDef]:
    """Return a catch-all route, and routes for the doors below ``/api``, where the admin API has the other paths."""
    below = [path + end for path in DOORS if path.startswith("/api/") for end in ("", "/")]
    return [web.route("*", path, through) for path in (*below, "/{rest:.*}")]


async def through(request: web.Request) -> web.StreamResponse:
    """Call the handler of the door that ``guarded`` found. Raises 404 without a door, and 405 for a wrong method."""
    place = request.get(PLACE)
    if place is None:
        raise web.HTTPNotFound
    name = place.door.handlers.get("GET" if request.method == "HEAD" else request.method)
    if name is None:
        raise web.HTTPMethodNotAllowed(request.method, sorted(place.door.handlers))
    handler = _loaded.get(name)
    if handler is None:
        handler = _loaded[name] = await asyncio.to_thread(_load, name)
    return await handler(request)


def _load(name: str) -> Handler:
    module, _, function = name.partition(":")
    found: Any = getattr(import_module(f"saga_server.http.doors.{module}"), function)
    handler: Handler = found
    return handler
