"""Whether the server is up, whether it can take requests, and its metrics."""

from __future__ import annotations

import json

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from saga_server.admin.sessions import engine_status
from saga_server.http import EXCHANGES, METRICS, READINESS, SAGA


def health_routes() -> list[web.RouteDef]:
    """``/``, ``/healthz``, ``/readyz`` and ``/metrics``."""
    return [
        web.get("/", welcome),
        web.get("/healthz", healthz),
        web.get("/readyz", readyz),
        web.get("/metrics", metrics),
    ]


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(
        body=json.dumps(value, ensure_ascii=False).encode(), status=status, content_type="application/json"
    )


async def welcome(request: web.Request) -> web.Response:
    """``GET /``: for a person who opens the address in a browser."""
    return _json({"name": "SAGA", "chat": "/v1/chat/completions", "admin": "/api/status", "health": "/readyz"})


async def healthz(request: web.Request) -> web.Response:
    """``GET /healthz``: the process runs."""
    return _json({"status": "ok"})


async def readyz(request: web.Request) -> web.Response:
    """``GET /readyz``: 200 when a turn would be taken and recorded; other stores only degrade what is told."""
    found = await request.app[READINESS].look()
    return _json(found.plain(), 200 if found.status == "ready" else 503)


async def metrics(request: web.Request) -> web.Response:
    """``GET /metrics``, in Prometheus' text format."""
    status = await engine_status(request.app[SAGA])
    body = request.app[METRICS].render(status, len(request.app[EXCHANGES]))
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})
