"""Any server that speaks the OpenAI chat API, through the official SDK.

Requests and replies stay plain JSON: the SDK's typed layer costs 135 ms for a prompt of 400 messages and
0.16 ms a chunk, against a few microseconds, and would drop fields that it does not know.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import re
from collections.abc import AsyncIterator, Mapping
from email.utils import parsedate_to_datetime
from time import time
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attrs import define, field

from saga_backends.chat.openai_reply import EventLines, ReplyReader, shorten
from saga_core.errors import BadInput, UpstreamError
from saga_core.ports import ChatPart, ChatRequest
from saga_core.registry import Backend, OpenOptions

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_log = logging.getLogger(__name__)

_CONNECT_SECONDS = 10.0
_NO_KEY = "none"
"""Satisfies the SDK; never sent."""
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]+)?\Z")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key|gsk|xai|AIza)-?[A-Za-z0-9*_-]{8,}")


async def _open(options: OpenOptions) -> OpenAIChat:
    given = options.take(name="openai", base_url=None, api_key=None, timeout=600.0, max_retries=2)
    for option in ("base_url", "api_key"):
        if given[option] is not None and not isinstance(given[option], str):
            raise BadInput(f"options.{option}: give a text")
    sdk = await asyncio.to_thread(importlib.import_module, "openai")  # takes a second
    try:
        return OpenAIChat(sdk, **given)
    except sdk.OpenAIError:
        raise BadInput("options.api_key: none is given, and OPENAI_API_KEY is not set; give it or base_url") from None


BACKEND = Backend(
    kind="chat",
    name="openai",
    open=_open,
    summary="any server that speaks the OpenAI chat API",
)


@define(eq=False)
class OpenAIChat:
    """A provider behind the OpenAI chat API. A call is cancelled at once when its iterator is closed.

    Options: ``name`` (the provider's, for messages), ``base_url``, ``api_key``, ``timeout`` (seconds that the
    provider may stay silent) and ``max_retries`` (before the first byte; connection failures, 408, 409, 429, 5xx).
    """

    _sdk: ModuleType
    name: str
    _base_url: str | None
    _api_key: str | None = field(repr=False)
    _timeout: float
    _max_retries: int
    _client: AsyncOpenAI = field(init=False, repr=False)
    _bills: bool = field(default=True, init=False)
    """Whether the provider takes ``stream_options``; learned from its refusal."""

    def __attrs_post_init__(self) -> None:
        if self._base_url is None and self._api_key is None:
            self._client = self._sdk.AsyncOpenAI(**self._settings)
        else:  # the SDK would send the environment's key to any base_url
            self._client = self._sdk.AsyncOpenAI(api_key=self._api_key or _NO_KEY, **self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        connect = min(_CONNECT_SECONDS, self._timeout)
        return {
            "base_url": self._base_url,
            "timeout": self._sdk.Timeout(self._timeout, connect=connect),
            "max_retries": self._max_retries,
        }

    @property
    def host(self) -> str:
        """The provider's host and port, for messages."""
        url = self._client.base_url
        return f"{url.host}:{url.port}" if url.port else url.host

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """The reply in parts. Raises ``UpstreamError``, also after some parts."""
        response = await self._post(request, streaming)
        reader = ReplyReader(self.host)
        try:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind == "text/html":
                raise UpstreamError(
                    f"{self.host} answered with a web page, not with a completion; providers.{self.name}.base_url "
                    "usually ends in /v1"
                )
            if kind == "application/json" or (not streaming and kind != "text/event-stream"):
                for part in reader.whole(await response.aread()):
                    yield part
            else:
                lines = EventLines()
                async for chunk in response.aiter_bytes():
                    for data in lines.feed(chunk):
                        for part in reader.event(data):
                            yield part
                    if reader.done:
                        break
                for data in lines.finish():
                    for part in reader.event(data):
                        yield part
            for part in reader.end():
                yield part
        except self._transport_errors() as error:
            raise self._broken_off(error) from error
        finally:
            await response.aclose()

    async def models(self) -> list[str]:
        """The ids of the models that the provider lists. Raises ``UpstreamError``."""
        response = await self._call("get", "/models", None, None)
        try:
            answer = response.json()
        except ValueError:
            raise UpstreamError(
                f"{self.host} lists its models in something that is not JSON; providers.{self.name}.base_url usually "
                "ends in /v1"
            ) from None
        listed = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(listed, list):
            raise UpstreamError(f"{self.host} lists no models under 'data'")
        return [model["id"] for model in listed if isinstance(model, Mapping) and isinstance(model.get("id"), str)]

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._client.close()

    # -- calling -----------------------------------------------------------------------------------------------

    async def _post(self, request: ChatRequest, streaming: bool) -> Any:
        body = {
            **request.params,
            "model": request.model,
            "messages": request.plan.to_openai(),
            "stream": streaming,
        }
        options = body.pop("stream_options", None)
        if streaming and self._bills:
            own = options if isinstance(options, Mapping) else {}
            body["stream_options"] = {**own, "include_usage": True}
            try:
                return await self._call("post", "/chat/completions", body, request.api_key)
            except UpstreamError as error:
                if error.status not in (400, 422) or "stream_options" not in str(error):
                    raise
                _log.warning("%s takes no stream_options; asking without, so its token counts are unknown", self.host)
                self._bills = False
                del body["stream_options"]
        return await self._call("post", "/chat/completions", body, request.api_key)

    async def _call(self, method: str, path: str, body: Any, key: str | None) -> Any:
        """The response. That of a completion is not read yet: the SDK hands out the transport's own object."""
        headers: dict[str, Any] = {}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        elif self._base_url is not None and self._api_key is None:
            headers["Authorization"] = self._sdk.omit
        try:
            if method == "get":
                return await self._client.get(path, cast_to=self._transport.Response, options={"headers": headers})
            return await self._client.post(
                path,
                cast_to=self._transport.Response,
                body=body,
                options={"headers": headers},
                stream=True,
                stream_cls=self._sdk.AsyncStream[object],
            )
        except self._sdk.APIStatusError as error:
            raise self._refused(error, key) from error
        except self._sdk.APITimeoutError as error:
            raise self._silent() from error
        except self._sdk.APIConnectionError as error:
            raise self._unreachable(error, key) from error
        except self._transport_errors() as error:
            raise self._broken_off(error) from error

    @property
    def _transport(self) -> Any:
        """The HTTP library under the SDK."""
        return importlib.import_module(type(self._client.base_url).__module__.partition(".")[0])

    def _transport_errors(self) -> tuple[type[Exception], ...]:
        return (self._transport.HTTPError, self._transport.StreamError)

    # -- saying what went wrong --------------------------------------------------------------------------------

    def _refused(self, error: Any, key: str | None) -> UpstreamError:
        status = int(error.status_code)
        said = _said(error.body)
        kind = error.body.get("type") if isinstance(error.body, Mapping) else None
        return UpstreamError(
            self._hide(f"{self.host} answered {status}{f' ({said})' if said else ''}; {self._remedy(status)}", key),
            status=status if status < 500 or status in (503, 504) else 502,
            kind=kind if isinstance(kind, str) and kind else _KINDS.get(status, "upstream_error"),
            retry_after=_retry_after(error.response.headers),
        )

    def _remedy(self, status: int) -> str:
        if status in (401, 403):
            return f"check the key: providers.{self.name}.api_key, api_keys.{self.name} or the environment"
        if status in (404, 405):
            return f"check the model's name, and providers.{self.name}.base_url, which usually ends in /v1"
        if status == 429:
            return "wait, or use another model"
        if status >= 500:
            return "the provider is in trouble; try again later"
        return "the provider does not take this request"

    def _silent(self) -> UpstreamError:
        return UpstreamError(
            f"{self.host} did not answer in time; providers.{self.name}.timeout is {self._timeout:g} seconds",
            status=504,
            kind="upstream_timeout",
        )

    def _unreachable(self, error: Exception, key: str | None) -> UpstreamError:
        why = shorten(str(error.__cause__ or error)) or "no connection"
        return UpstreamError(
            self._hide(
                f"cannot reach {self.host} ({why}); is it running, and is providers.{self.name}.base_url right?", key
            ),
            kind="upstream_unreachable",
        )

    def _broken_off(self, error: Exception) -> UpstreamError:
        if isinstance(error, self._transport.TimeoutException):
            return self._silent()
        return UpstreamError(f"{self.host} broke off its reply ({type(error).__name__})")

    def _hide(self, text: str, key: str | None) -> str:
        for secret in (key, self._api_key, self._client.api_key):
            if secret and secret != _NO_KEY:
                text = text.replace(secret, "(key)")
        return _KEY_LIKE.sub("(key)", text)


_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
}


def _said(body: Any) -> str:
    """What the provider's error says of itself, if it is more than a web page."""
    if isinstance(body, Mapping):
        message = body.get("message") or body.get("detail") or ""
        return shorten(message if isinstance(message, str) else json.dumps(message, ensure_ascii=False))
    return shorten(body) if isinstance(body, str) and not body.lstrip().startswith("<") else ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait, from either of the headers in use."""
    for name, scale in (("retry-after-ms", 1_000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if _SECONDS.match(value):
            return float(value) / scale
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time())
    except ValueError:
        return None
