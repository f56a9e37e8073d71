"""Error replies in the formats of APIs other than OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

_ANTHROPIC: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
_GOOGLE: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def told_to(api: str, status: int, message: str, kind: str) -> bytes:
    """Return the body of an error reply for ``api``: ``anthropic``, ``google`` or ``ollama``.

    ``kind`` is the error type of OpenAI's API.
    """
    told: Mapping[str, Any]
    if api == "anthropic":
        told = anthropic_failure(message, _ANTHROPIC.get(status, kind))
    elif api == "google":
        told = {"error": {"code": status, "message": message, "status": _GOOGLE.get(status, "INTERNAL")}}
    else:
        told = {"error": message}
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")


def anthropic_failure(message: str, kind: str) -> dict[str, Any]:
    """Return an error in Anthropic's format, for an error reply or an event in a stream."""
    return {"type": "error", "error": {"type": kind, "message": message}}
