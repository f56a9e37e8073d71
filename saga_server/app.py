"""The web application: routes, the guard at the door, and errors in one shape."""

from __future__ import annotations

from aiohttp import web

from saga_core import Saga
from saga_server.admin import admin_routes, prepare
from saga_server.chat import EXCHANGES, chat_routes
from saga_server.connections import LOG, SILENT, ConnectionLog, heard, tell_request_id
from saga_server.current import CURRENT, Current
from saga_server.errors import errors_as_json
from saga_server.events import EVENTS, Events, close_events, event_routes
from saga_server.exchange import Exchanges
from saga_server.handlers import SAGA
from saga_server.health import METRICS, health_routes
from saga_server.metrics import Metrics
from saga_server.rarely import rare_routes
from saga_server.readiness import READINESS, Readiness
from saga_server.reload import RELOADING, Reloading, reload_routes
from saga_server.security import guarded, share_with_origin


def make_app(saga: Saga, current: Current, metrics: Metrics, reloading: Reloading) -> web.Application:
    """The application over an opened engine. Closing engine and narrators is the caller's.

    Run it with ``handler_cancellation=True``, so that a client that goes away ends its upstream call.
    """
    saga.counters.listeners.append(metrics.hear)
    server = current.config.server
    app = web.Application(middlewares=[heard, errors_as_json, guarded], client_max_size=server.max_body_mb << 20)
    app[SAGA] = saga
    app[SILENT] = set()
    app[LOG] = ConnectionLog(metrics.malformed)
    app[EVENTS] = Events(saga.counters)
    app.on_shutdown.append(close_events)
    app[CURRENT] = current
    app[READINESS] = Readiness(saga, current)
    app.on_cleanup.append(close_readiness)
    app[RELOADING] = reloading
    app[METRICS] = metrics
    app[EXCHANGES] = Exchanges(
        saga, current.narrators, metrics, keep_alive=server.keep_alive, patience=server.request_timeout
    )
    prepare(app)
    app.on_response_prepare.append(share_with_origin)
    app.on_response_prepare.append(tell_request_id)
    app.add_routes([*chat_routes(), *own_routes()])
    return app


def own_routes() -> list[web.RouteDef]:
    """Every path but those of the chat."""
    return [*admin_routes(), *health_routes(), *event_routes(), *reload_routes(), *rare_routes()]


async def close_readiness(app: web.Application) -> None:
    """A handler of ``on_cleanup``."""
    await app[READINESS].aclose()
