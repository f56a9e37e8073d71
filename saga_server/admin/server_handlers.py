"""Handlers for the whole server: health, status, settings, log, events and background work."""

from __future__ import annotations

import asyncio
import time
from importlib.metadata import version
from typing import Annotated

from aiohttp import web
from attrs import evolve
from prometheus_client import CONTENT_TYPE_LATEST

from saga_backends.provider_error import masked
from saga_core.background import DrainReport, Waiting
from saga_core.errors import ConfigError, NotFound, SagaError, StoreError
from saga_server.admin import answers
from saga_server.admin.endpoint import TABLE, in_query
from saga_server.admin.events import EVENTS, Listening
from saga_server.admin.mounting import STARTED, to_its_end
from saga_server.admin.openapi import describe_api
from saga_server.admin.parameters import SomeSession
from saga_server.admin.reply import filled
from saga_server.http import (
    BEARER,
    CURRENT,
    DOORS,
    EXCHANGES,
    LOG_TAIL,
    METRICS,
    READINESS,
    RELOADING,
    SAGA,
    WORKER,
    RequestError,
    mask_of,
)
from saga_server.process import Reloaded, running_watch
from saga_server.tenancy import tenancy_of
from saga_server.terminal import counted

_STATUS_SECONDS = 5.0
_OWN_METRICS = "X-SAGA-Own-Metrics"
"""``hosting.OWN_METRICS``, the header of a request for the metrics of one process only."""


async def welcome(request: web.Request) -> answers.Welcome:
    """Give the server's addresses. A browser is redirected to the web pages."""
    if "text/html" in request.headers.get("Accept", ""):
        raise web.HTTPFound("ui/")
    return answers.Welcome("SAGA", chat="/v1/chat/completions", admin="/api/status", health="/readyz", pages="/ui/")


async def healthz(request: web.Request) -> answers.Alive:
    """Say that the process is running."""
    return answers.Alive("ok")


async def readyz(request: web.Request) -> answers.Readiness:
    """Return ``ready`` if a turn would be accepted and recorded. Failures of other stores only degrade the context."""
    found, mask = await request.app[READINESS].look(), mask_of(request)
    return filled(answers.Readiness, found, reason=mask(found.reason) or None, stores=masked(found.stores, mask))


def readiness_status(found: answers.Readiness) -> int:
    """Return the HTTP status for probes: 200 if ready, otherwise 503."""
    return 200 if found.status == "ready" else 503


async def metrics(request: web.Request) -> web.StreamResponse:
    """Return the metrics in Prometheus' text format, of all workers if there are several."""
    status = await request.app[SAGA].status()
    body = request.app[METRICS].render(status, len(request.app[EXCHANGES]))
    leases = tenancy_of(request.app[SAGA]).leases
    if WORKER in request.app and leases is not None and _OWN_METRICS not in request.headers:
        from saga_server.hosting import metrics_of_all

        asked_with = {name: request.headers[name] for name in ("Authorization",) if name in request.headers}
        body = await metrics_of_all(body, leases, asked_with)
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})


async def show_status(request: web.Request) -> answers.Status:
    """Return the status of the server and of the engine."""
    saga, doors = request.app[SAGA], request.app[DOORS]
    engine = await saga.status()
    try:
        async with asyncio.timeout(_STATUS_SECONDS):
            active: int | None = len(await saga.sessions.list())
    except (StoreError, TimeoutError) as error:
        late = f"storage.state: the journal ({saga.stores.state.info.name}) did not answer within {_STATUS_SECONDS:g} s"
        why = str(error) if isinstance(error, StoreError) else late
        active, engine["degraded"] = None, {"journal.read": why, **engine["degraded"]}
    return answers.Status(
        version=version("saga-rp"),
        uptime_seconds=round(time.monotonic() - request.app[STARTED], 1),
        narrators=request.app[CURRENT].narrators.describe(),
        doors={**dict.fromkeys(doors.loaded, ""), **doors.failed},
        active_sessions=active,
        open_requests=len(request.app[EXCHANGES]),
        loop=_loop(),
        **masked(engine, request.app[CURRENT].mask),
    )


def _loop() -> answers.LoopBlocks:
    watch = running_watch()
    if watch is None:
        return answers.LoopBlocks(0.0, 0, "")
    return answers.LoopBlocks(round(watch.wall.longest, 1), watch.blocks, watch.place)


async def reload_settings(request: web.Request) -> Reloaded:
    """Reload the settings, as SIGHUP does. Invalid settings are reported as an error of the request (400)."""
    try:
        return await to_its_end(request, request.app[RELOADING].reload())
    except ConfigError as error:
        raise RequestError(f"nothing was changed; {error}") from error


async def drain(
    request: web.Request, timeout: Annotated[float, in_query(example="30", most=3_600.0)] = 30.0
) -> answers.Drained:
    """Run the background work that is due. Answer when it is done, or after the timeout with what still waits."""
    started = time.monotonic()
    slow: tuple[Waiting, ...] = ()
    exchanges = request.app[EXCHANGES]
    try:
        async with asyncio.timeout(timeout):
            await exchanges.settle()
    except TimeoutError:
        slow = tuple(Waiting(*names, "record", "the journal is slow to take it") for names in exchanges.recording())
    report = await request.app[SAGA].drain(max(0.0, timeout - (time.monotonic() - started)))
    found = drained(evolve(report, waiting=(*slow, *report.waiting)))
    mask = request.app[CURRENT].mask
    return evolve(found, waiting=[evolve(each, reason=mask(each.reason)) for each in found.waiting])


def drained(report: DrainReport) -> answers.Drained:
    """Convert a drain report into an answer."""
    return answers.Drained(not report.waiting, report.done, report.waiting)


async def show_description(request: web.Request) -> answers.OpenApi:
    """Return the OpenAPI document of this API."""
    return answers.OpenApi(**describe_api(request[TABLE]))


async def show_events(request: web.Request, session: SomeSession = None) -> web.StreamResponse:
    """Stream events, such as turns that were recorded, projected, extracted or curated, and degraded modes."""
    saga, bearer = request.app[SAGA], request[BEARER]
    owner = bearer.scope

    def may_listen() -> bool:
        access = tenancy_of(saga).access
        return bearer.record is None or access is None or access.keys.find(bearer.key) is not None

    def is_hidden(session: str) -> bool:
        live = saga.parts.live.peek(session)
        return live is not None and live.session.owner != owner

    async def sees(session: str) -> bool:
        try:
            return (await (await saga.engine_of(session, owner)).sessions.get(session, owner)).id == session
        except (NotFound, StoreError):
            return False

    listening = Listening(session, may_listen=may_listen)
    if owner is not None:
        listening.sees, listening.is_hidden, listening.player = sees, is_hidden, owner
    return await request.app[EVENTS].stream(request, listening)


async def show_log(
    request: web.Request,
    after: Annotated[int, in_query(example="0")] = 0,
    limit: Annotated[int, in_query(example="200", least=1, most=500)] = 200,
) -> answers.Log:
    """Return the end of the log since the start of the process."""
    rows = request.app[LOG_TAIL].rows(after, limit)
    return answers.Log(rows, rows[-1]["number"] if rows else after)


async def examine(request: web.Request) -> answers.Examined:
    """Check the running server as ``saga doctor`` does: stores thoroughly, providers, worlds, doors, degraded modes."""
    saga, narrators = request.app[SAGA], request.app[CURRENT].narrators
    found: list[answers.Examination] = []
    for kind, store in saga.stores.all().items():
        try:
            health = await store.check(thorough=True)
        except StoreError as error:
            found.append(answers.Examination(False, kind, str(error)))
        else:
            found.append(answers.Examination(health.ok, kind, f"{store.info.name}: {health.detail}"))
    for provider in narrators.providers.values():
        try:
            models = await (await narrators.narrator(provider)).models()
        except SagaError as error:
            found.append(answers.Examination(False, provider.name, str(error)))
        else:
            text = f"{counted(len(models), 'model')} at {provider.where}"
            found.append(answers.Examination(True, provider.name, text))
    broken = await asyncio.to_thread(saga.worlds.broken)
    for name in saga.worlds.names():
        fault = broken.get(name)
        found.append(answers.Examination(fault is None, f"world {name}", str(fault) if fault else "can be read"))
    found += [answers.Examination(False, f"door {name}", why) for name, why in request.app[DOORS].failed.items()]
    found += [answers.Examination(False, name, why) for name, why in saga.counters.degraded.items()]
    mask = request.app[CURRENT].mask
    return answers.Examined(all(each.good for each in found), [evolve(each, text=mask(each.text)) for each in found])
