"""Paths that are rarely asked for. Their modules are imported when one is, in a thread: no start waits for them."""

from __future__ import annotations

import asyncio
from importlib import import_module

from aiohttp import web

from saga_server.http import Handler


def rare_routes() -> list[web.RouteDef]:
    """Every path of custody, and the description of the admin API."""
    return [
        web.get("/api/openapi.json", _at("description:show_description")),
        web.get("/api/verify", _at("maintenance:verify_views")),
        web.post("/api/repair", _at("maintenance:repair_views")),
        web.get("/api/jobs", _at("maintenance:show_jobs")),
        web.post("/api/jobs/retry", _at("maintenance:retry_jobs")),
        web.get("/api/backups", _at("maintenance:list_backups")),
        web.post("/api/backups", _at("maintenance:make_backup")),
        web.get("/api/sessions/{id}/export", _at("maintenance:export_one")),
        web.post("/api/import", _at("maintenance:import_one")),
        web.post("/api/forget", _at("maintenance:forget")),
    ]


def _at(place: str) -> Handler:
    module, _, name = place.partition(":")

    async def handle(request: web.Request) -> web.StreamResponse:
        found: Handler = getattr(await asyncio.to_thread(import_module, f"saga_server.admin.{module}"), name)
        return await found(request)

    return handle
