"""Whether the server is up, whether it can take requests, and its metrics."""

from __future__ import annotations

import asyncio
import json
from typing import Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from saga_core.errors import StoreError
from saga_server.admin import engine_status
from saga_server.handlers import SAGA
from saga_server.metrics import Metrics

METRICS: Final = web.AppKey("metrics", Metrics)
_SECONDS = 5.0


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
    """``GET /readyz``: 200 when the journal can be read and written; other stores only degrade what is told."""
    stores = request.app[SAGA].stores.all()
    answers = dict(zip(stores, await asyncio.gather(*map(_check, stores.values())), strict=True))
    ready = answers["state"] == "ok"
    return _json({"status": "ready" if ready else "not ready", "stores": answers}, 200 if ready else 503)


async def _check(store: object) -> str:
    try:
        async with asyncio.timeout(_SECONDS):
            health = await store.check()  # type: ignore[attr-defined]
    except TimeoutError:
        return f"no answer within {_SECONDS:g} s"
    except StoreError as error:
        return str(error)
    return "ok" if health.ok else health.detail or "not ok"


async def metrics(request: web.Request) -> web.Response:
    """``GET /metrics``, in Prometheus' text format."""
    status = await engine_status(request.app[SAGA])
    numbers: dict[str, object] = {name: status[name] for name in ("stores", "sessions", "work", "counters")}
    body = request.app[METRICS].render({**numbers, "degraded": len(status["degraded"])})
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})
