"""Sends requests to a provider, reads the replies, and maps failures to ``UpstreamError``.

Requests and replies stay plain JSON, so that fields which SAGA does not know pass through.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Protocol

import httpx2
import tenacity
from attrs import define, field

from saga_backends.chat.event_lines import EventLines
from saga_backends.chat.json_text import read_text
from saga_backends.chat.patience import WITHOUT_CONTENT, Patience
from saga_backends.chat.reply_size import ReplySize
from saga_backends.http_client import MOST_BODY, bearer, body_of, refusal
from saga_backends.provider_error import Blame
from saga_core.errors import UpstreamError
from saga_core.ports import AdjustedPart, ChatPart, Passed, UsagePart

_log = logging.getLogger(__name__)

_TAIL_SECONDS = 0.1
_LARGE = 1_000_000
"""The size in bytes above which a reply that is not streamed is parsed in a thread."""
_SLICE = 64 * 1_024
"""Bytes of a stream that are read before other tasks may run. A compressed chunk may hold a thousand times as many."""
_MOST_PASSED = 128 * 1_024 * 1_024
"""The maximum size in bytes of a reply that is passed on. Speech and pictures take a few MB."""
_MOST_LISTED = 8 << 20
"""The maximum size in bytes of other JSON, such as a list of models or information about a server."""
_LINES = ("application/x-ndjson", "application/jsonl")
"""Media types of streams with one JSON object per line."""
_BACKOFF = tenacity.wait_exponential(multiplier=0.5, max=8)


def _pause(state: tenacity.RetryCallState) -> float:
    """Return the seconds until the next attempt, as the provider asks for, or else with exponential backoff."""
    error = state.outcome and state.outcome.exception()
    asked = error.retry_after if isinstance(error, UpstreamError) else None
    return _BACKOFF(state) if asked is None else asked


class ReplyParts(Protocol):
    """Reads a reply in one dialect, either whole or event by event.

    If ``done``, nothing relevant follows. If ``complete``, only the token counts may follow.
    """

    @property
    def done(self) -> bool: ...

    @property
    def complete(self) -> bool: ...

    def whole(self, raw: bytes) -> Iterable[ChatPart]: ...

    def event(self, data: str) -> Iterable[ChatPart]: ...

    def end(self) -> Iterable[ChatPart]: ...


@define(eq=False, kw_only=True)
class Calls:
    """The calls of one client. ``api_key`` is the default key for calls without a key."""

    client: httpx2.AsyncClient = field(repr=False)
    name: str
    timeout: float
    max_retries: int
    retry_seconds: float
    api_key: str | None = field(repr=False)

    @property
    def host(self) -> str:
        """The provider's host and port, for messages."""
        url = self.client.base_url
        return f"{url.host}:{url.port}" if url.port else str(url.host)

    def blame(self, key: str | None = None) -> Blame:
        """Return a builder of errors for a call. ``key`` is the key of the call, if it has one."""
        secrets = [secret for secret in (key, self.api_key, self.client.base_url.password) if secret]
        return Blame(self.name, self.host, self.timeout, secrets)

    def shown(self, key: str | None) -> dict[str, str]:
        """Return the authorization header for ``key``, or for the default key."""
        return bearer(key or self.api_key)

    async def patiently(self, attempt: Callable[[], AsyncGenerator[ChatPart, None]]) -> AsyncGenerator[ChatPart, None]:
        """Yield the parts of an attempt, and retry transient failures that occur before the first part of the reply.

        There are at most ``max_retries`` retries, each after the pause that the provider asks for. There is no retry if
        the pause would end later than ``retry_seconds`` after the beginning.
        """
        silent = True
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(
                lambda error: silent and isinstance(error, UpstreamError) and error.passing
            ),
            wait=_pause,
            stop=tenacity.stop_after_attempt(self.max_retries + 1) | tenacity.stop_before_delay(self.retry_seconds),
            reraise=True,
        )
        async for trial in retrying:
            with trial:
                async with aclosing(attempt()) as parts:
                    async for part in parts:
                        silent = silent and isinstance(part, AdjustedPart | UsagePart)
                        yield part

    async def post(self, path: str, body: Any, key: str | None, headers: Mapping[str, str]) -> httpx2.Response:
        """Send a JSON body and return the unread response. ``path`` is relative to the base URL, or a full URL."""
        return await self._send("POST", path, key, headers, body)

    async def send(self, path: str, body: bytes, content_type: str, key: str | None) -> httpx2.Response:
        """Send raw bytes and return the unread response."""
        return await self._send("POST", path, key, {"Content-Type": content_type}, content=body)

    async def passed(self, path: str, body: bytes, content_type: str, key: str | None) -> Passed:
        """Send raw bytes and return the body of the reply. Raises ``UpstreamError``."""
        response = await self.send(path, body, content_type, key)
        try:
            found = await self.body(response, key, _MOST_PASSED)
        except self.transport_errors as error:
            raise self.failure(error) from error
        finally:
            await response.aclose()
        return Passed(found, str(response.headers.get("content-type", "application/octet-stream")))

    async def get(self, path: str) -> Any:
        """Return the JSON at ``path``. Raises ``UpstreamError``, also if the reply is not JSON."""
        response = await self._send("GET", path, None, {})
        try:
            body = await self.body(response, None, _MOST_LISTED)
            return await asyncio.to_thread(read_text, body) if len(body) > _LARGE else read_text(body)
        except ValueError:
            raise UpstreamError(
                f"{self.host} lists its models in something that is not JSON; providers.{self.name}.base_url usually "
                "ends in /v1"
            ) from None
        except self.transport_errors as error:
            raise self.failure(error) from error
        finally:
            await response.aclose()

    async def _send(
        self,
        method: str,
        path: str,
        key: str | None,
        headers: Mapping[str, str],
        json: Any = None,
        content: bytes | None = None,
    ) -> httpx2.Response:
        blame = self.blame(key)
        try:
            request = self.client.build_request(
                method, path, headers={**headers, **self.shown(key)}, json=json, content=content
            )
            response = await self.client.send(request, stream=True)
        except UnicodeEncodeError:
            raise blame.unsendable() from None
        except httpx2.TimeoutException as error:
            raise blame.silent() from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise blame.unreachable(error) from error
        if response.is_success:
            return response
        try:
            said = await refusal(response)
        except self.transport_errors as error:
            raise self.failure(error) from error
        raise blame.refused(response.status_code, said, response.headers)

    async def body(self, response: httpx2.Response, key: str | None = None, most: int = MOST_BODY) -> bytes:
        """Return the whole body. Raises ``UpstreamError`` if it has more than ``most`` bytes or never ends."""
        patience = self.patience(key)
        try:
            return await patience.within(body_of(response, most))
        except TimeoutError:
            raise patience.silent() from None

    def patience(self, key: str | None = None) -> Patience:
        """Return the patience with one reply."""
        return Patience(self.timeout, lambda: self.blame(key).without_content(WITHOUT_CONTENT))

    async def data(self, response: httpx2.Response, patience: Patience) -> AsyncGenerator[str, None]:
        """Yield the data of each event until the response ends. Raises ``UpstreamError`` if ``patience`` ends."""
        lines = EventLines(bare=kind_of(response) in _LINES)
        packed = "content-encoding" in response.headers
        chunks = response.aiter_bytes() if packed else response.aiter_raw()
        while (chunk := await patience.next_of(chunks)) is not None:
            for at in range(0, len(chunk), _SLICE):
                if at:
                    await asyncio.sleep(0)
                for data in lines.feed(chunk[at : at + _SLICE]):
                    yield data
        if patience.over:  # what is left may be half an event
            return
        for data in lines.finish():
            yield data

    async def parts(
        self,
        response: httpx2.Response,
        reader: ReplyParts,
        key: str | None,
        *,
        streaming: bool,
        first: Iterable[ChatPart] = (),
    ) -> AsyncGenerator[ChatPart, None]:
        """Yield ``first``, then the parts that ``reader`` finds in the streamed or whole reply. Closes the response."""
        size = ReplySize(self.host)
        try:
            for part in first:
                yield part
            kind = kind_of(response)
            if kind == "text/html":
                raise self.blame(key).page()
            if kind == "application/json" or (not streaming and kind not in ("text/event-stream", *_LINES)):
                body = await self.body(response, key)
                # A large body is parsed in a thread.
                whole = await asyncio.to_thread(_read, reader, body) if len(body) > _LARGE else _read(reader, body)
                for part in whole:
                    yield size.of(part)
                for part in reader.end():
                    yield part
                return
            patience = self.patience(key)
            async with aclosing(self.data(response, patience)) as events:
                async for data in events:
                    for part in reader.event(data):
                        patience.heard(part)
                        yield size.of(part)
                    if reader.done:
                        break
                    if reader.complete:
                        patience.completed()
                for part in reader.end():
                    yield part
                await self.let_end(events)
        except self.transport_errors as error:
            raise self.failure(error) from error
        finally:
            await response.aclose()

    async def let_end(self, events: AsyncGenerator[str, None]) -> None:
        """After the end of a reply, read the response to its end, so that the connection can be reused.

        If the response does not end at once, reading is stopped. The reply is already complete.
        """
        try:
            async with asyncio.timeout(_TAIL_SECONDS):
                async for _ in events:
                    continue
        except (TimeoutError, UpstreamError) as error:
            _log.debug("%s: the connection is not used again: %r", self.host, error)
        except self.transport_errors as error:
            _log.debug("%s: the connection is not used again: %r", self.host, error)

    @property
    def transport_errors(self) -> tuple[type[Exception], ...]:
        """The exceptions of the HTTP library while a reply is read."""
        return (httpx2.HTTPError, httpx2.StreamError)

    def failure(self, error: Exception) -> UpstreamError:
        """Translate a transport error that occurred while a reply was read."""
        if isinstance(error, httpx2.TimeoutException):
            return self.blame().silent()
        return self.blame().broken(error)


def open_calls(client: httpx2.AsyncClient, given: Mapping[str, Any], api_key: str | None) -> Calls:
    """Return the calls of a backend with the options ``given``, over ``client``."""
    settings = {name: given[name] for name in ("name", "timeout", "max_retries", "retry_seconds")}
    return Calls(client=client, api_key=api_key, **settings)


def _read(reader: ReplyParts, body: bytes) -> list[ChatPart]:
    return list(reader.whole(body))


def kind_of(response: httpx2.Response) -> str:
    """The media type of a response."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
