"""The web application, with its routes and middlewares."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from saga_core import Saga
from saga_server.admin import EVENTS, Events, admin_routes, close_events, prepare
from saga_server.http import (
    CONNECTIONS,
    CURRENT,
    DOORS,
    EXCHANGES,
    FAIR_SHARES,
    HELD_BYTES,
    HELPER,
    LARGE_REQUESTS,
    LIMIT,
    LOG,
    LOG_TAIL,
    METRICS,
    MOST_HELD,
    READINESS,
    REFUSALS,
    RELOADING,
    SAGA,
    WORKER,
    ConnectionLog,
    Connections,
    Doors,
    Exchanges,
    FairShares,
    HeldBytes,
    LargeRequests,
    Refusals,
    add_request_id,
    audited,
    check_access,
    door_routes,
    errors_as_json,
    forward_to_owner,
    identify,
    in_helper,
    only_header_text,
    prepare_forwarding,
    share_with_origin,
    uninvited,
)
from saga_server.process import Current, Helper, LogTail, Metrics, Readiness, Reloading
from saga_server.web import web_routes

if TYPE_CHECKING:
    from saga_server.hosting import Worker
    from saga_server.http import NarratorTools

_READS = ("saga_server.http.serving", "saga_core.transcript")
"""The modules that the helper process needs to read large requests."""


def make_app(
    saga: Saga, current: Current, metrics: Metrics, reloading: Reloading, worker: Worker | None = None
) -> web.Application:
    """Create the application for an open engine. The caller has to close the engine and the narrators.

    Run it with ``handler_cancellation=True``, so that the upstream call ends when its client disconnects.
    """
    saga.counters.listeners.append(metrics.hear)
    server = current.config.server
    app = web.Application(
        middlewares=[identify, audited, errors_as_json, check_access, forward_to_owner],
        client_max_size=server.max_body_mb << 20,
    )
    app[SAGA] = saga
    app[DOORS] = doors = Doors.load()
    app[LIMIT] = server.max_body_mb << 20
    app[FAIR_SHARES] = FairShares(saga.counters)
    app[LARGE_REQUESTS] = LargeRequests()
    app[REFUSALS] = Refusals()
    app[HELPER] = helper = Helper(server.max_cpu_seconds, _READS, counters=saga.counters)
    saga.parts.play.elsewhere = partial(in_helper, helper)
    app.on_cleanup.append(lambda app: app[HELPER].aclose())
    app[HELD_BYTES] = held = HeldBytes(max(MOST_HELD, app[LIMIT]))
    app[CONNECTIONS] = Connections(saga.counters, held)
    app[LOG] = ConnectionLog(metrics.malformed)
    app[EVENTS] = Events(saga.counters, lambda text: current.mask(text))
    app.on_shutdown.append(close_events)
    app[CURRENT] = current
    app[READINESS] = Readiness(saga, current)
    app.on_cleanup.append(lambda app: app[READINESS].aclose())
    app[LOG_TAIL] = LogTail(lambda: current.mask)
    logging.getLogger().addHandler(app[LOG_TAIL])
    app.on_cleanup.append(stop_listening_to_the_log)
    app[RELOADING] = reloading
    app[METRICS] = metrics
    if worker is not None:
        app[WORKER] = worker
    app[EXCHANGES] = Exchanges(saga, current, metrics, _narrator_tools)
    prepare(app)
    prepare_forwarding(app)
    app.on_response_prepare.append(share_with_origin)
    app.on_response_prepare.append(add_request_id)
    app.on_response_prepare.append(only_header_text)
    routes = [*admin_routes(), *web_routes(), *door_routes(doors)]
    for route in routes:
        route.kwargs["expect_handler"] = uninvited
    app.add_routes(routes)
    return app


def _narrator_tools() -> NarratorTools:
    """The tools for narrators. They are imported when the first narrator is offered them."""
    from saga_server.tools import NARRATOR_TOOLS

    return NARRATOR_TOOLS


async def stop_listening_to_the_log(app: web.Application) -> None:
    """Remove the log tail from the root logger. Handler of ``on_cleanup``."""
    logging.getLogger().removeHandler(app[LOG_TAIL])
