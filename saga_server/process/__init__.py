"""The parts of a server process beside requests: logs, metrics, event loop, settings, and sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.process.collector import Tidying, put_off, settle
    from saga_server.process.current import Current
    from saga_server.process.event_loop import run_watched, running_watch
    from saga_server.process.heap import few_arenas
    from saga_server.process.helper import Helper, TooMuch
    from saga_server.process.listening import BACKLOG, CannotListen, check_listening, is_loopback, open_sockets
    from saga_server.process.log_tail import LogTail
    from saga_server.process.logs import PRIVATE, Mask, log_errors_only, set_up_logging
    from saga_server.process.loop_guard import LoopGuard
    from saga_server.process.loop_metrics import LoopMetrics
    from saga_server.process.metrics import ADJUSTABLE, Metrics
    from saga_server.process.readiness import Readiness
    from saga_server.process.reload import Reloaded, Reloading
    from saga_server.process.running_server import (
        NOBODY,
        READY_AT,
        NotAnswered,
        address_of,
        ask,
        publish_address,
        whole_answer,
        withdraw_address,
    )
    from saga_server.process.service_manager import READY, STOPPING, tell_manager

__all__ = [
    "ADJUSTABLE",
    "BACKLOG",
    "NOBODY",
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
    "Tidying",
    "TooMuch",
    "address_of",
    "ask",
    "check_listening",
    "few_arenas",
    "is_loopback",
    "log_errors_only",
    "open_sockets",
    "publish_address",
    "put_off",
    "run_watched",
    "running_watch",
    "set_up_logging",
    "settle",
    "tell_manager",
    "whole_answer",
    "withdraw_address",
]

# Names are imported on first use, so that each command imports only what it needs.
__getattr__ = lazy_face(
    {
        "Tidying": "saga_server.process.collector:Tidying",
        "few_arenas": "saga_server.process.heap:few_arenas",
        "Helper": "saga_server.process.helper:Helper",
        "TooMuch": "saga_server.process.helper:TooMuch",
        "put_off": "saga_server.process.collector:put_off",
        "settle": "saga_server.process.collector:settle",
        "Current": "saga_server.process.current:Current",
        "run_watched": "saga_server.process.event_loop:run_watched",
        "running_watch": "saga_server.process.event_loop:running_watch",
        "BACKLOG": "saga_server.process.listening:BACKLOG",
        "CannotListen": "saga_server.process.listening:CannotListen",
        "check_listening": "saga_server.process.listening:check_listening",
        "is_loopback": "saga_server.process.listening:is_loopback",
        "LogTail": "saga_server.process.log_tail:LogTail",
        "open_sockets": "saga_server.process.listening:open_sockets",
        "PRIVATE": "saga_server.process.logs:PRIVATE",
        "Mask": "saga_server.process.logs:Mask",
        "log_errors_only": "saga_server.process.logs:log_errors_only",
        "set_up_logging": "saga_server.process.logs:set_up_logging",
        "LoopGuard": "saga_server.process.loop_guard:LoopGuard",
        "LoopMetrics": "saga_server.process.loop_metrics:LoopMetrics",
        "ADJUSTABLE": "saga_server.process.metrics:ADJUSTABLE",
        "Metrics": "saga_server.process.metrics:Metrics",
        "Readiness": "saga_server.process.readiness:Readiness",
        "Reloaded": "saga_server.process.reload:Reloaded",
        "Reloading": "saga_server.process.reload:Reloading",
        "NOBODY": "saga_server.process.running_server:NOBODY",
        "NotAnswered": "saga_server.process.running_server:NotAnswered",
        "READY_AT": "saga_server.process.running_server:READY_AT",
        "address_of": "saga_server.process.running_server:address_of",
        "ask": "saga_server.process.running_server:ask",
        "publish_address": "saga_server.process.running_server:publish_address",
        "whole_answer": "saga_server.process.running_server:whole_answer",
        "withdraw_address": "saga_server.process.running_server:withdraw_address",
        "READY": "saga_server.process.service_manager:READY",
        "STOPPING": "saga_server.process.service_manager:STOPPING",
        "tell_manager": "saga_server.process.service_manager:tell_manager",
    }
)
