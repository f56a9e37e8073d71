"""The parts of a server process beside requests: logs, metrics, event loop, settings, and sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.process.collector import Tidying, few_arenas, put_off, settle
    from saga_server.process.event_loop import LoopGuard, run_watched, running_watch
    from saga_server.process.helper import Helper, TooMuch
    from saga_server.process.listening import BACKLOG, CannotListen, check_listening, is_loopback, open_sockets
    from saga_server.process.logs import PRIVATE, LogTail, Mask, log_errors_only, secrets_of, set_up_logging
    from saga_server.process.metrics import ADJUSTABLE, LoopMetrics, Metrics
    from saga_server.process.readiness import Readiness
    from saga_server.process.running_server import (
        READY,
        READY_AT,
        STOPPING,
        NotAnswered,
        address_of,
        ask,
        call_api,
        publish_address,
        tell_manager,
        withdraw_address,
    )
    from saga_server.process.settings import Current, Reloaded, Reloading, applies_at_once
    from saga_server.process.settings_file import Scalar, changed_text

# Each name is imported on first use, so that a command or a start loads only what it needs.
_PLACES = {
    "collector": "Tidying few_arenas put_off settle",
    "event_loop": "LoopGuard run_watched running_watch",
    "helper": "Helper TooMuch",
    "listening": "BACKLOG CannotListen check_listening is_loopback open_sockets",
    "logs": "LogTail Mask PRIVATE log_errors_only secrets_of set_up_logging",
    "metrics": "ADJUSTABLE LoopMetrics Metrics",
    "readiness": "Readiness",
    "running_server": "NotAnswered READY READY_AT STOPPING address_of ask call_api "
    "publish_address tell_manager withdraw_address",
    "settings": "Current Reloaded Reloading applies_at_once",
    "settings_file": "Scalar changed_text",
}
__all__ = [
    "ADJUSTABLE",
    "BACKLOG",
    "PRIVATE",
    "READY",
    "READY_AT",
    "STOPPING",
    "CannotListen",
    "Current",
    "Helper",
    "LogTail",
    "LoopGuard",
    "LoopMetrics",
    "Mask",
    "Metrics",
    "NotAnswered",
    "Readiness",
    "Reloaded",
    "Reloading",
    "Scalar",
    "Tidying",
    "TooMuch",
    "address_of",
    "applies_at_once",
    "ask",
    "call_api",
    "changed_text",
    "check_listening",
    "few_arenas",
    "is_loopback",
    "log_errors_only",
    "open_sockets",
    "publish_address",
    "put_off",
    "run_watched",
    "running_watch",
    "secrets_of",
    "set_up_logging",
    "settle",
    "tell_manager",
    "withdraw_address",
]

__getattr__ = lazy_face(
    {name: f"{__name__}.{module}:{name}" for module, names in _PLACES.items() for name in names.split()}
)
