"""The HTTP layer: chat APIs ("doors"), access checks, connections and error replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.http.app_keys import (
        CURRENT,
        HELPER,
        LOG_TAIL,
        METRICS,
        READINESS,
        RELOADING,
        SAGA,
        WORKER,
    )
    from saga_server.http.callers.auditing import DEED, Deed, audited, known_id
    from saga_server.http.callers.identity import Bearer
    from saga_server.http.connections import LOG, SILENT, ConnectionLog, heard, listen, tell_request_id
    from saga_server.http.doors.routes import door_routes
    from saga_server.http.elsewhere import follow_others
    from saga_server.http.entry.bodies import BODY, LIMIT
    from saga_server.http.entry.fair_share import FAIR_SHARES, FairShares
    from saga_server.http.entry.large_requests import LARGE_REQUESTS, LargeRequests, in_helper
    from saga_server.http.entry.refusals import Refusals
    from saga_server.http.entry.security import BEARER, REFUSALS, WANTED, guarded, share_with_origin
    from saga_server.http.errors import Handler, RequestError, errors_as_json
    from saga_server.http.exchanges import EXCHANGES, Exchanges
    from saga_server.http.header_text import only_header_text
    from saga_server.http.openai_schema import read_json
    from saga_server.http.passing import done_elsewhere, longest_wait, passed_on, prepare_passing
    from saga_server.http.request_names import read_name
    from saga_server.http.startup_responder import StartupResponder

__all__ = [
    "BEARER",
    "BODY",
    "CURRENT",
    "DEED",
    "EXCHANGES",
    "FAIR_SHARES",
    "HELPER",
    "LARGE_REQUESTS",
    "LIMIT",
    "LOG",
    "LOG_TAIL",
    "METRICS",
    "READINESS",
    "REFUSALS",
    "RELOADING",
    "SAGA",
    "SILENT",
    "WANTED",
    "WORKER",
    "Bearer",
    "ConnectionLog",
    "Deed",
    "Exchanges",
    "FairShares",
    "Handler",
    "LargeRequests",
    "Refusals",
    "RequestError",
    "StartupResponder",
    "audited",
    "done_elsewhere",
    "door_routes",
    "errors_as_json",
    "follow_others",
    "guarded",
    "heard",
    "in_helper",
    "known_id",
    "listen",
    "longest_wait",
    "only_header_text",
    "passed_on",
    "prepare_passing",
    "read_json",
    "read_name",
    "share_with_origin",
    "tell_request_id",
]

# Each name is imported on first use, so that a command or a start loads only what it needs.
__getattr__ = lazy_face(
    {
        "CURRENT": "saga_server.http.app_keys:CURRENT",
        "EXCHANGES": "saga_server.http.exchanges:EXCHANGES",
        "HELPER": "saga_server.http.app_keys:HELPER",
        "LOG_TAIL": "saga_server.http.app_keys:LOG_TAIL",
        "METRICS": "saga_server.http.app_keys:METRICS",
        "WORKER": "saga_server.http.app_keys:WORKER",
        "READINESS": "saga_server.http.app_keys:READINESS",
        "RELOADING": "saga_server.http.app_keys:RELOADING",
        "SAGA": "saga_server.http.app_keys:SAGA",
        "DEED": "saga_server.http.callers.auditing:DEED",
        "Deed": "saga_server.http.callers.auditing:Deed",
        "audited": "saga_server.http.callers.auditing:audited",
        "known_id": "saga_server.http.callers.auditing:known_id",
        "BODY": "saga_server.http.entry.bodies:BODY",
        "LIMIT": "saga_server.http.entry.bodies:LIMIT",
        "only_header_text": "saga_server.http.header_text:only_header_text",
        "door_routes": "saga_server.http.doors.routes:door_routes",
        "ConnectionLog": "saga_server.http.connections:ConnectionLog",
        "LOG": "saga_server.http.connections:LOG",
        "SILENT": "saga_server.http.connections:SILENT",
        "heard": "saga_server.http.connections:heard",
        "listen": "saga_server.http.connections:listen",
        "tell_request_id": "saga_server.http.connections:tell_request_id",
        "Handler": "saga_server.http.errors:Handler",
        "RequestError": "saga_server.http.errors:RequestError",
        "errors_as_json": "saga_server.http.errors:errors_as_json",
        "Exchanges": "saga_server.http.exchanges:Exchanges",
        "follow_others": "saga_server.http.elsewhere:follow_others",
        "done_elsewhere": "saga_server.http.passing:done_elsewhere",
        "longest_wait": "saga_server.http.passing:longest_wait",
        "passed_on": "saga_server.http.passing:passed_on",
        "prepare_passing": "saga_server.http.passing:prepare_passing",
        "FAIR_SHARES": "saga_server.http.entry.fair_share:FAIR_SHARES",
        "FairShares": "saga_server.http.entry.fair_share:FairShares",
        "LARGE_REQUESTS": "saga_server.http.entry.large_requests:LARGE_REQUESTS",
        "LargeRequests": "saga_server.http.entry.large_requests:LargeRequests",
        "in_helper": "saga_server.http.entry.large_requests:in_helper",
        "read_json": "saga_server.http.openai_schema:read_json",
        "read_name": "saga_server.http.request_names:read_name",
        "Bearer": "saga_server.http.callers.identity:Bearer",
        "REFUSALS": "saga_server.http.entry.security:REFUSALS",
        "Refusals": "saga_server.http.entry.refusals:Refusals",
        "BEARER": "saga_server.http.entry.security:BEARER",
        "WANTED": "saga_server.http.entry.security:WANTED",
        "guarded": "saga_server.http.entry.security:guarded",
        "share_with_origin": "saga_server.http.entry.security:share_with_origin",
        "StartupResponder": "saga_server.http.startup_responder:StartupResponder",
    }
)
