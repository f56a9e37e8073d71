"""The way from a request to the handler of its door. A door's code is imported when somebody first comes to it."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from aiohttp import web

from saga_server.http.doors.table import DOORS, PLACE
from saga_server.http.errors import Handler

_loaded: dict[str, Handler] = {}


def door_routes() -> list[web.RouteDef]:
    """Every path that nobody else has, and the doors below ``/api``, where the admin API has the rest."""
    below = [path + end for path in DOORS if path.startswith("/api/") for end in ("", "/")]
    return [web.route("*", path, through) for path in (*below, "/{rest:.*}")]


async def through(request: web.Request) -> web.StreamResponse:
    """Answers at the door that the guard found. Raises 404 where there is none, and 405 for another method."""
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
