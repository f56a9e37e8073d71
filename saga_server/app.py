"""The web application: routes, the guard at the door, and errors in one shape."""

from __future__ import annotations

from aiohttp import web

from saga_core.config import Config
from saga_core.engine.saga import Saga
from saga_server.admin import admin_routes, prepare
from saga_server.chat import CONFIG, EXCHANGES, NARRATORS, chat_routes
from saga_server.connections import SILENT, heard, tell_request_id
from saga_server.errors import errors_as_json
from saga_server.events import EVENTS, Events, close_events, event_routes
from saga_server.exchange import Exchanges
from saga_server.handlers import SAGA
from saga_server.health import METRICS, health_routes
from saga_server.metrics import Metrics
from saga_server.narrators import Narrators
from saga_server.security import guard, share_with_origin


def make_app(saga: Saga, narrators: Narrators, config: Config, metrics: Metrics | None = None) -> web.Application:
    """The application over an opened engine. Closing engine and narrators is the caller's.

    Run it with ``handler_cancellation=True``, so that a client that goes away ends its upstream call.
    """
    metrics = metrics or Metrics()
    app = web.Application(
        middlewares=[heard, errors_as_json, *guard(config.server)], client_max_size=config.server.max_body_mb << 20
    )
    app[SAGA] = saga
    app[SILENT] = set()
    app[EVENTS] = Events(saga.counters)
    app.on_shutdown.append(close_events)
    app[CONFIG] = config
    app[NARRATORS] = narrators
    app[METRICS] = metrics
    app[EXCHANGES] = Exchanges(
        saga, narrators, metrics, keep_alive=config.server.keep_alive, patience=config.server.request_timeout
    )
    prepare(app)
    app.on_response_prepare.append(share_with_origin)
    app.on_response_prepare.append(tell_request_id)
    app.add_routes([*chat_routes(), *admin_routes(), *health_routes(), *event_routes()])
    return app
