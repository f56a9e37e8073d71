"""Requests and replies: what doors are made of, access checks, exchanges, connections and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.http.access import REFUSALS, Refusals, check_access, share_with_origin
    from saga_server.http.app_keys import (
        CURRENT,
        HELPER,
        LOG_TAIL,
        METRICS,
        READINESS,
        RELOADING,
        SAGA,
        WORKER,
        choose_engine,
        saga_of,
    )
    from saga_server.http.bodies import BODY, LIMIT
    from saga_server.http.callers.auditing import ACTION, Action, audited, saga_id
    from saga_server.http.callers.identity import BEARER, KEY_REQUIRED, Bearer
    from saga_server.http.callers.redaction import mask_of
    from saga_server.http.client_request import (
        MAX_CHOICES,
        ClientRequest,
        Incoming,
        function_tool,
        image,
        json_form,
        tool_call,
    )
    from saga_server.http.connections import (
        LOG,
        UNUSED,
        ConnectionLog,
        StartupResponder,
        add_request_id,
        errors_as_json,
        identify,
        listen,
        only_header_text,
    )
    from saga_server.http.cpu_shares import FAIR_SHARES, LARGE_REQUESTS, FairShares, LargeRequests, in_helper, leave
    from saga_server.http.door import DOORS, PLACE, Door, Doors, ModelFormat, PathPattern
    from saga_server.http.errors import Failure, RequestError, error_json, openai_error
    from saga_server.http.exchange import EXCHANGES, Exchanges, NarratorTools
    from saga_server.http.json_body import check_text, kind_of, read_json, short, to_json, typed, wrong_kind
    from saga_server.http.other_servers import (
        done_by_owner,
        forward_to_owner,
        longest_wait,
        merge_events,
        prepare_forwarding,
    )
    from saga_server.http.reply_format import (
        COMMENT,
        DONE,
        Choice,
        ReplyFormat,
        StreamedCalls,
        calls_in,
        error_event,
        event,
        openai_usage,
        reasoning_in,
    )
    from saga_server.http.request_names import read_name
    from saga_server.http.serving import (
        admit_unbilled,
        answer,
        call_of,
        counts,
        door_routes,
        json_answer,
        json_of,
        list_models,
        one_model,
        plays,
        received,
        relayed,
    )
    from saga_server.http.text_request import read_text

# Each name is imported on first use, so that a command or a start loads only what it needs.
_PLACES = {
    "access": "REFUSALS Refusals check_access share_with_origin",
    "app_keys": "CURRENT HELPER LOG_TAIL METRICS READINESS RELOADING SAGA WORKER choose_engine saga_of",
    "bodies": "BODY LIMIT",
    "callers.auditing": "ACTION Action audited saga_id",
    "callers.identity": "BEARER Bearer KEY_REQUIRED",
    "callers.redaction": "mask_of",
    "client_request": "ClientRequest Incoming MAX_CHOICES function_tool image json_form tool_call",
    "connections": (
        "ConnectionLog LOG StartupResponder UNUSED add_request_id errors_as_json identify listen only_header_text"
    ),
    "cpu_shares": "FAIR_SHARES FairShares LARGE_REQUESTS LargeRequests in_helper leave",
    "door": "DOORS Door Doors ModelFormat PLACE PathPattern",
    "errors": "Failure RequestError error_json openai_error",
    "exchange": "EXCHANGES Exchanges NarratorTools",
    "json_body": "check_text kind_of read_json short to_json typed wrong_kind",
    "other_servers": "done_by_owner forward_to_owner longest_wait merge_events prepare_forwarding",
    "reply_format": (
        "COMMENT Choice DONE ReplyFormat StreamedCalls calls_in error_event event openai_usage reasoning_in"
    ),
    "request_names": "read_name",
    "serving": (
        "admit_unbilled answer call_of counts door_routes json_answer json_of list_models one_model plays "
        "received relayed"
    ),
    "text_request": "read_text",
}
__all__ = [
    "ACTION",
    "BEARER",
    "BODY",
    "COMMENT",
    "CURRENT",
    "DONE",
    "DOORS",
    "EXCHANGES",
    "FAIR_SHARES",
    "HELPER",
    "KEY_REQUIRED",
    "LARGE_REQUESTS",
    "LIMIT",
    "LOG",
    "LOG_TAIL",
    "MAX_CHOICES",
    "METRICS",
    "PLACE",
    "READINESS",
    "REFUSALS",
    "RELOADING",
    "SAGA",
    "UNUSED",
    "WORKER",
    "Action",
    "Bearer",
    "Choice",
    "ClientRequest",
    "ConnectionLog",
    "Door",
    "Doors",
    "Exchanges",
    "Failure",
    "FairShares",
    "Incoming",
    "LargeRequests",
    "ModelFormat",
    "NarratorTools",
    "PathPattern",
    "Refusals",
    "ReplyFormat",
    "RequestError",
    "StartupResponder",
    "StreamedCalls",
    "add_request_id",
    "admit_unbilled",
    "answer",
    "audited",
    "call_of",
    "calls_in",
    "check_access",
    "check_text",
    "choose_engine",
    "counts",
    "done_by_owner",
    "door_routes",
    "error_event",
    "error_json",
    "errors_as_json",
    "event",
    "forward_to_owner",
    "function_tool",
    "identify",
    "image",
    "in_helper",
    "json_answer",
    "json_form",
    "json_of",
    "kind_of",
    "leave",
    "list_models",
    "listen",
    "longest_wait",
    "mask_of",
    "merge_events",
    "one_model",
    "only_header_text",
    "openai_error",
    "openai_usage",
    "plays",
    "prepare_forwarding",
    "read_json",
    "read_name",
    "read_text",
    "reasoning_in",
    "received",
    "relayed",
    "saga_id",
    "saga_of",
    "share_with_origin",
    "short",
    "to_json",
    "tool_call",
    "typed",
    "wrong_kind",
]

__getattr__ = lazy_face(
    {name: f"{__name__}.{module}:{name}" for module, names in _PLACES.items() for name in names.split()}
)
