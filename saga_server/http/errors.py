"""The errors of requests: what a handler raises, and what a client receives for any exception."""

from __future__ import annotations

import json
import logging
import math
import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web
from attrs import evolve, field, frozen

from saga_core.errors import (
    BadInput,
    Closed,
    Conflict,
    LeaseLost,
    NotFound,
    NotSupported,
    OwnedElsewhere,
    QuotaExceeded,
    SagaError,
    StoreError,
    StoreLocked,
    StoreUnavailable,
    UpstreamError,
)
from saga_core.foreign import foreign

_log = logging.getLogger("saga.server")

_PARAM = re.compile(r"(?P<param>[a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*): ")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class RequestError(BadInput):
    """A request that cannot be served as it is. ``param`` names the field at fault."""

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        status: int = 400,
        kind: str = "invalid_request_error",
        code: str | None = None,
    ) -> None:
        self.param = param
        self.status = status
        self.kind = kind
        self.code = code
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Make the error picklable, so that a helper process can send it back."""
        return _again, (str(self), self.param, self.status, self.kind, self.code)


def _again(message: str, param: str | None, status: int, kind: str, code: str | None) -> RequestError:
    return RequestError(message, param=param, status=status, kind=kind, code=code)


@frozen
class Failure:
    """An error as the client receives it."""

    status: int
    message: str
    kind: str
    """The error type of OpenAI's API."""
    param: str | None = None
    code: str | None = None
    headers: Mapping[str, str] = field(factory=dict)

    def response(self, form: ErrorForm | None = None) -> web.Response:
        """The error reply in the form of an API, or else in OpenAI's, as it is if the form fails."""
        try:
            with foreign:
                body = error_json((form or openai_error)(self))
        except Exception:  # noqa: BLE001 - a door's code; its client is told the error nevertheless
            _log.exception("the error form of a door failed; the client gets OpenAI's")
            body = error_json(openai_error(self))
        return web.Response(
            body=body,
            status=self.status,
            headers=self.headers,
            content_type="application/json",
            charset="utf-8",
        )


ErrorForm = Callable[[Failure], Mapping[str, Any]]
"""Gives the JSON object with which an API reports an error."""


def openai_error(failure: Failure) -> Mapping[str, Any]:
    """An error in the format of OpenAI's API, which is also that of the admin API."""
    about = {"message": failure.message, "type": failure.kind, "param": failure.param, "code": failure.code}
    return {"error": about}


def error_json(error: Mapping[str, Any]) -> bytes:
    """Return an error's JSON object as UTF-8. Its message may hold anything."""
    return json.dumps(error, ensure_ascii=False).encode("utf-8", "replace")


def describe(error: Exception, mask: Callable[[str], str] = str) -> Failure:
    """Return the error reply for an exception. ``mask`` hides secrets, which a provider's error may quote.

    An unexpected exception is logged under a random number, and the reply gives only this number.
    """
    failure = _described(error)
    param = failure.param and mask(failure.param)
    return evolve(failure, message=_visible(mask(failure.message)), kind=mask(failure.kind), param=param)


def _visible(text: str) -> str:
    """A message with what it quotes unseen as escapes: a name may turn the text around it."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _described(error: Exception) -> Failure:
    if isinstance(error, RequestError):
        headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
        return Failure(error.status, str(error), error.kind, error.param, error.code, headers)
    if isinstance(error, UpstreamError):
        wait = {} if error.retry_after is None else {"Retry-After": str(max(1, round(error.retry_after)))}
        return Failure(error.status, str(error), error.kind, code="upstream", headers=wait)
    if isinstance(error, QuotaExceeded):
        wait = {"Retry-After": str(max(1, math.ceil(error.free_in)))}
        return Failure(429, str(error), "rate_limit_error", code=f"quota_{error.quota}", headers=wait)
    if isinstance(error, SagaError):
        status, kind = next(answer for cls, answer in _ANSWERS if isinstance(error, cls))
        found = _PARAM.match(str(error)) if status == 400 else None
        return Failure(status, str(error), kind, found["param"] if found else None)
    number = secrets.token_hex(4)
    _log.error("unexpected error %s", number, exc_info=error)
    return Failure(500, f"an unexpected error; the server's log tells more under number {number}", "server_error")


_ANSWERS: tuple[tuple[type[SagaError], tuple[int, str]], ...] = (
    (BadInput, (400, "invalid_request_error")),
    (NotFound, (404, "not_found_error")),
    (Conflict, (409, "conflict_error")),
    (NotSupported, (501, "not_supported_error")),
    (StoreUnavailable, (503, "unavailable_error")),
    (StoreLocked, (503, "unavailable_error")),
    (Closed, (503, "unavailable_error")),
    (LeaseLost, (503, "unavailable_error")),
    (StoreError, (500, "store_error")),
    (OwnedElsewhere, (503, "unavailable_error")),
    (SagaError, (500, "server_error")),
)
