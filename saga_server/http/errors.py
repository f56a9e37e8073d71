"""Turn failures into error replies, in the format of the chat API that was called.

OpenAI's format, ``{"error": {"message", "type", "param", "code"}}``, is the default.
"""

from __future__ import annotations

import json
import logging
import math
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
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
from saga_server.http.app_keys import CURRENT
from saga_server.http.doors.failures import told_to
from saga_server.http.doors.table import PLACE, WHERE, Api

_log = logging.getLogger("saga.server")

_PARAM = re.compile(r"(?P<param>[a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*): ")

_HUNG_UP = 499
"""The status of a reply whose client went away before it was sent."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


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
    param: str | None = None
    code: str | None = None
    headers: Mapping[str, str] = field(factory=dict)

    def body(self) -> bytes:
        """The body of the error reply in OpenAI's format: a JSON object as UTF-8."""
        about = {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}
        return json.dumps({"error": about}, ensure_ascii=False).encode("utf-8", "replace")

    def response(self, api: Api = "openai") -> web.Response:
        """The error reply in the format of ``api``."""
        body = self.body() if api == "openai" else told_to(api, self.status, self.message, self.kind)
        return web.Response(
            body=body, status=self.status, headers=self.headers, content_type="application/json", charset="utf-8"
        )


def describe(error: Exception, mask: Callable[[str], str] = str) -> Failure:
    """Return the error reply for an exception. ``mask`` hides secrets, which a provider's error may quote.

    An unexpected exception is logged under a random number, and the reply gives only this number.
    """
    failure = _described(error)
    return evolve(failure, message=mask(failure.message))


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


def _of_http(error: web.HTTPException, request: web.Request) -> Failure:
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        limit = request.client_max_size >> 20
        return Failure(
            413, f"the request is larger than {limit} MB (server.max_body_mb)", "invalid_request_error", "body"
        )
    if isinstance(error, web.HTTPNotFound):
        return Failure(404, f"there is no {request.method} {request.path} here; {WHERE}", "not_found_error")
    if isinstance(error, web.HTTPMethodNotAllowed):
        allowed = ", ".join(sorted(error.allowed_methods))
        return Failure(
            405, f"{request.path} takes {allowed}, not {request.method}", "invalid_request_error",
            headers={"Allow": allowed},
        )  # fmt: skip
    return Failure(error.status, error.reason, "invalid_request_error")


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn an exception of a handler into an error reply. A middleware.

    If the request failed before its body was read, the connection is closed after the reply.
    """
    response = await _answered(request, handler)
    if response.status >= 400 and request.can_read_body and not request.content.at_eof():
        response.force_close()
    return response


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        failure = _of_http(error, request)
    except web.RequestPayloadError as error:
        text = f"the body cannot be read: {' '.join(str(error).split())}"
        failure = Failure(400, text, "invalid_request_error", "body", headers={"Connection": "close"})
    except ConnectionError as error:
        if request.transport is None or request.transport.is_closing():
            return web.Response(status=_HUNG_UP)  # the client went away before it was answered
        failure = describe(error, request.app[CURRENT].mask)
    except Exception as error:  # noqa: BLE001 - the outermost handler: every error becomes a reply
        failure = describe(error, request.app[CURRENT].mask)
    place = request.get(PLACE)
    response = failure.response("openai" if place is None else place.door.api)
    if failure.headers.get("Connection") == "close":
        response.force_close()
    return response
