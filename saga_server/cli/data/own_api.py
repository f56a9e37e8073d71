"""The admin API in the process of a command, for data that no server has open."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

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


@asynccontextmanager
async def own_api(saga: Saga, config: Config) -> AsyncIterator[tuple[str, str]]:
    """Answer the requests of this process, as those of an administrator, and of nobody else.

    Yields the address, and the path of the Unix socket that is asked instead of its host, if the system has such.
    """
    app = web.Application(middlewares=[errors_as_json, forward_to_owner, _as_administrator])
    app[SAGA], app[DOORS] = saga, Doors()
    app[CURRENT] = current = Current(config, Narrators.from_config(config, {}))
    app[EXCHANGES] = Exchanges(saga, current, Metrics(), lambda: NARRATOR_TOOLS)
    prepare(app)
    prepare_forwarding(app)
    app.add_routes(admin_routes())
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        with tempfile.TemporaryDirectory(prefix="saga-") as folder:  # which no other user may enter
            unix = f"{folder}/api" if os.name == "posix" else ""
            await (web.UnixSite(runner, unix) if unix else web.TCPSite(runner, "127.0.0.1", 0)).start()
            yield "http://localhost" if unix else f"http://127.0.0.1:{runner.addresses[0][1]}", unix
    finally:
        await runner.cleanup()


@web.middleware
async def _as_administrator(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let every request do everything. A server that holds the lease of a session is found by ``forward_to_owner``."""
    request[BEARER], request[KEY_REQUIRED], request[BODY] = Bearer(), False, await request.read()
    try:
        return await handler(request)
    except LeaseLost as error:
        if isinstance(error.__cause__, OwnedElsewhere):
            raise error.__cause__ from error
        raise
