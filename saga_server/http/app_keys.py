"""Typed keys of the objects that the application keeps for its handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiohttp import web

from saga_core import Saga
from saga_server.process import Current, Helper, LogTail, Metrics, Readiness, Reloading

if TYPE_CHECKING:
    from saga_server.hosting import Worker

SAGA: Final = web.AppKey("saga", Saga)
CURRENT: Final = web.AppKey("current", Current)
METRICS: Final = web.AppKey("metrics", Metrics)
READINESS: Final = web.AppKey("readiness", Readiness)
RELOADING: Final = web.AppKey("reloading", Reloading)
HELPER: Final = web.AppKey("helper", Helper)
"""Processes large requests in a separate process."""
WORKER: Final[web.AppKey[Worker]] = web.AppKey("worker")
"""Set if this process is one of several workers."""
LOG_TAIL: Final = web.AppKey("log_tail", LogTail)
