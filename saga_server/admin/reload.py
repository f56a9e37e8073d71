"""Reading the settings again, over HTTP."""

from __future__ import annotations

from aiohttp import web

from saga_core.errors import ConfigError
from saga_server.admin.handlers import as_json, to_its_end
from saga_server.admin.query import known_only
from saga_server.http import RELOADING, RequestError


def reload_routes() -> list[web.RouteDef]:
    """``/api/reload``."""
    return [web.post("/api/reload", reload_settings)]


async def reload_settings(request: web.Request) -> web.Response:
    """``POST /api/reload``: read the settings again, as SIGHUP does."""
    known_only(request)
    try:
        found = await to_its_end(request, request.app[RELOADING].reload())
    except ConfigError as error:
        raise RequestError(f"nothing was changed; {error}") from error
    return as_json({"applied": list(found.applied), "restart": list(found.restart)})
