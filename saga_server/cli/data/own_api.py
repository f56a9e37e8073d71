"""The admin API in the process of a command, for data that no server has open."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from saga_core import Saga
from saga_core.config import Config
from saga_core.errors import LeaseLost, OwnedElsewhere
from saga_server.admin import admin_routes, prepare
from saga_server.http import (
    BEARER,
    BODY,
    CURRENT,
    DOORS,
    EXCHANGES,
    KEY_REQUIRED,
    SAGA,
    Bearer,
    Doors,
    Exchanges,
    errors_as_json,
    forward_to_owner,
    prepare_forwarding,
)
from saga_server.process import Current, Metrics
from saga_server.providers import Narrators
from saga_server.tools import NARRATOR_TOOLS

_OWN: Final = "X-SAGA-Own"


@asynccontextmanager
async def own_api(saga: Saga, config: Config) -> AsyncIterator[tuple[str, Mapping[str, str]]]:
    """Answer the requests of this process, as those of an administrator, and of nobody else.

    Yields the address, and the header by which this process is known.
    """
    own = secrets.token_hex(32)

    @web.middleware
    async def as_administrator(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not hmac.compare_digest(request.headers.get(_OWN, ""), own):
            raise web.HTTPForbidden
        request[BEARER], request[KEY_REQUIRED], request[BODY] = Bearer(), False, await request.read()
        return await handler(request)

    app = web.Application(middlewares=[errors_as_json, as_administrator, forward_to_owner, _owned_elsewhere])
    app[SAGA], app[DOORS] = saga, Doors()
    app[CURRENT] = current = Current(config, Narrators.from_config(config, {}))
    app[EXCHANGES] = Exchanges(saga, current, Metrics(), lambda: NARRATOR_TOOLS)
    prepare(app)
    prepare_forwarding(app)
    app.add_routes(admin_routes())
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", {_OWN: own}
    finally:
        await runner.cleanup()


@web.middleware
async def _owned_elsewhere(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Have ``forward_to_owner`` ask the server that turned out to hold the lease only when something was written."""
    try:
        return await handler(request)
    except LeaseLost as error:
        if isinstance(error.__cause__, OwnedElsewhere):
            raise error.__cause__ from error
        raise
