"""Typed keys of the objects that the application keeps for its handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiohttp import web

from saga_core import Saga
from saga_server.process import Current, Helper, LogTail, Metrics, Readiness, Reloading

if TYPE_CHECKING:
    from saga_server.hosting import Worker

SAGA: Final = web.AppKey("saga", Saga)
_ENGINE: Final = web.RequestKey("engine", Saga)
CURRENT: Final = web.AppKey("current", Current)
METRICS: Final = web.AppKey("metrics", Metrics)
READINESS: Final = web.AppKey("readiness", Readiness)
RELOADING: Final = web.AppKey("reloading", Reloading)
HELPER: Final = web.AppKey("helper", Helper)
"""Processes large requests in a separate process."""
WORKER: Final[web.AppKey[Worker]] = web.AppKey("worker")
"""Set if this process is one of several workers."""
LOG_TAIL: Final = web.AppKey("log_tail", LogTail)


def saga_of(request: web.Request) -> Saga:
    """Return the engine that has the session which the request names; without one, the server's engine."""
    return request.get(_ENGINE) or request.app[SAGA]


async def choose_engine(request: web.Request, session: str, owner: str | None) -> Saga:
    """Choose the engine that ``saga_of`` returns from now on, by the id or name of a session."""
    found = request[_ENGINE] = await request.app[SAGA].engine_of(session, owner)
    return found
