"""Calls to a provider: sends one request, returns the unread response, maps failures to ``UpstreamError``.

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
from saga_backends.chat.reply_size import ReplySize
from saga_backends.http_client import bearer, body_of, refusal
from saga_backends.provider_error import Blame
from saga_core.errors import UpstreamError
from saga_core.ports import AdjustedPart, ChatPart, Passed, UsagePart

_log = logging.getLogger(__name__)

_TAIL_SECONDS = 0.1
_LARGE = 1_000_000
"""Bytes of a reply in one piece from which on it is looked through beside the loop."""
_MOST_PASSED = 128 * 1_024 * 1_024
"""Bytes of an answer that is passed on: speech and pictures are a few."""
_MOST_LISTED = 8 << 20
"""Bytes of what is asked besides replies: a list of models, what a server is."""
_LINES = ("application/x-ndjson", "application/jsonl")
"""Streams of one JSON object a line."""
_BACKOFF = tenacity.wait_exponential(multiplier=0.5, max=8)


def _pause(state: tenacity.RetryCallState) -> float:
    """Seconds until the next attempt: what the provider asked for, else longer each time."""
    error = state.outcome and state.outcome.exception()
    asked = error.retry_after if isinstance(error, UpstreamError) else None
    return _BACKOFF(state) if asked is None else asked


class ReplyParts(Protocol):
    """Reads a reply in one dialect: whole, or event by event. ``done``: nothing relevant follows."""

    @property
    def done(self) -> bool: ...

    def whole(self, raw: bytes) -> Iterable[ChatPart]: ...

    def event(self, data: str) -> Iterable[ChatPart]: ...

    def end(self) -> Iterable[ChatPart]: ...


@define(eq=False, kw_only=True)
class Calls:
    """The calls of one client. ``api_key`` is its own, for calls that bring none."""

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
        """Words for what goes wrong in a call with the client's ``key``, if it brought one."""
        secrets = [secret for secret in (key, self.api_key, self.client.base_url.password) if secret]
        return Blame(self.name, self.host, self.timeout, secrets)

    async def warm(self) -> None:
        """Do now what would make later calls wait."""

    def shown(self, key: str | None) -> dict[str, str]:
        """The header that shows ``key``, or the client's own."""
        return bearer(key or self.api_key)

    async def patiently(self, attempt: Callable[[], AsyncGenerator[ChatPart, None]]) -> AsyncGenerator[ChatPart, None]:
        """The parts of an attempt. One that fails before it says anything, in a way that may pass, is made again.

        At most ``max_retries`` times, after the pause that the provider asks for, and not when that pause would end
        later than ``retry_seconds`` after the beginning.
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
        """The response to a JSON body, not read yet. ``path`` goes on from the client's address, or is a whole one."""
        return await self._send("POST", path, key, headers, body)

    async def send(self, path: str, body: bytes, content_type: str, key: str | None) -> httpx2.Response:
        """The response to bytes as they are, not read yet."""
        return await self._send("POST", path, key, {"Content-Type": content_type}, content=body)

    async def passed(self, path: str, body: bytes, content_type: str, key: str | None) -> Passed:
        """What the provider answers to bytes as they are. Raises ``UpstreamError``."""
        response = await self.send(path, body, content_type, key)
        try:
            found = await body_of(response, _MOST_PASSED)
        except self.transport_errors as error:
            raise self.failure(error) from error
        finally:
            await response.aclose()
        return Passed(found, str(response.headers.get("content-type", "application/octet-stream")))

    async def get(self, path: str) -> Any:
        """The JSON at ``path``. Raises ``UpstreamError`` when it is none."""
        response = await self._send("GET", path, None, {})
        try:
            body = await body_of(response, _MOST_LISTED)
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

    async def data(self, response: httpx2.Response) -> AsyncGenerator[str, None]:
        """The data of the response's events, until it ends."""
        lines = EventLines(bare=kind_of(response) in _LINES)
        packed = "content-encoding" in response.headers
        async for chunk in response.aiter_bytes() if packed else response.aiter_raw():
            for data in lines.feed(chunk):
                yield data
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
        """``first``, then what ``reader`` makes of a reply, in events or in one piece. The response is closed then."""
        size = ReplySize(self.host)
        try:
            for part in first:
                yield part
            kind = kind_of(response)
            if kind == "text/html":
                raise self.blame(key).page()
            if kind == "application/json" or (not streaming and kind not in ("text/event-stream", *_LINES)):
                body = await body_of(response)
                # A large one is looked through beside the loop.
                whole = await asyncio.to_thread(_read, reader, body) if len(body) > _LARGE else _read(reader, body)
                for part in whole:
                    yield size.of(part)
                for part in reader.end():
                    yield part
                return
            async with aclosing(self.data(response)) as events:
                async for data in events:
                    for part in reader.event(data):
                        yield size.of(part)
                    if reader.done:
                        break
                for part in reader.end():
                    yield part
                await self.let_end(events)
        except self.transport_errors as error:
            raise self.failure(error) from error
        finally:
            await response.aclose()

    async def let_end(self, events: AsyncGenerator[str, None]) -> None:
        """Let a response whose reply is over come to its own end, for then its connection serves the next call.

        One that does not end at once is cut; of the reply nothing is missing.
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
        """What the HTTP library raises inside a reply."""
        return (httpx2.HTTPError, httpx2.StreamError)

    def failure(self, error: Exception) -> UpstreamError:
        """An error of the transport inside a reply."""
        if isinstance(error, httpx2.TimeoutException):
            return self.blame().silent()
        return self.blame().broken(error)


def _read(reader: ReplyParts, body: bytes) -> list[ChatPart]:
    return list(reader.whole(body))


def kind_of(response: httpx2.Response) -> str:
    """The media type of a response."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
