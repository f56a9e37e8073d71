"""The chat client: asks a provider in its dialect, and does once what all dialects need.

It connects, retries, waits patiently, learns from refusals, maps failures to ``UpstreamError`` and cancels. Requests
and replies stay plain JSON, so that fields which SAGA does not know pass through.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

import httpx2
import tenacity
from attrs import define, field

from saga_backends.chat.dialect import Dialect, Outgoing
from saga_backends.chat.event_lines import EventLines
from saga_backends.chat.lessons import Learned
from saga_backends.chat.merging import choices_of, several
from saga_backends.chat.model_list import listed_models
from saga_backends.chat.patience import WITHOUT_CONTENT, Patience
from saga_backends.chat.reply import ModelReply
from saga_backends.http_client import MOST_BODY, body_of, open_http, refusal
from saga_backends.json_pieces import LARGE, written
from saga_backends.json_text import read_text, without_surrogates
from saga_backends.provider_error import Blame
from saga_core.errors import BadInput, UpstreamError
from saga_core.messages import characters
from saga_core.ports import AdjustedPart, ChatPart, ChatRequest, Passed, UsagePart
from saga_core.registry import OpenOptions

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
_TRANSPORT = (httpx2.HTTPError, httpx2.StreamError)
"""The exceptions of the HTTP library while a reply is read."""


def read_options(options: OpenOptions, name: str, **own: Any) -> dict[str, Any]:
    """Return the options of a chat backend, which are those below and its ``own``. Raises ``BadInput``.

    ``name`` (of the provider, for messages), ``base_url``, ``api_key``, ``timeout`` (how many seconds the provider may
    be silent), ``max_retries`` and ``retry_seconds`` (how often, and for how many seconds after its start, a call is
    retried that fails before the reply begins) and ``facts`` (``models.facts`` of the configuration).
    """
    given = options.take(
        name=name,
        base_url=None,
        api_key=None,
        timeout=600.0,
        max_retries=2,
        **{"retry_seconds": 30.0, "facts": {}, **own},
    )
    for option in ("base_url", "api_key"):
        if given[option] is not None and not isinstance(given[option], str):
            raise BadInput(f"options.{option}: give a text")
    return given


C = TypeVar("C", bound="ChatClient")


async def connect(
    client: type[C], dialect: Dialect, given: Mapping[str, Any], base_url: str, headers: Mapping[str, str] | None = None
) -> C:
    """Open a ``client`` with the options ``given`` for the provider at ``base_url``. Raises ``BadInput``."""
    http = await open_http(base_url, given["timeout"], headers or {})
    names = ("name", "api_key", "timeout", "max_retries", "retry_seconds")
    return client(http=http, dialect=dialect, **{name: given[name] for name in names})


@define(eq=False, kw_only=True)
class ChatClient:
    """A provider. A call is cancelled when its iterator is closed."""

    http: httpx2.AsyncClient = field(repr=False)
    dialect: Dialect
    name: str
    """The name of the provider."""
    api_key: str | None = field(repr=False)
    """The key for calls without a key."""
    timeout: float
    max_retries: int
    retry_seconds: float
    _learned: Learned = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._learned = Learned(self.host)

    @property
    def host(self) -> str:
        """The provider's host and port, for messages."""
        url = self.http.base_url
        return f"{url.host}:{url.port}" if url.port else str(url.host)

    def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncGenerator[ChatPart, None]:
        """Yield the reply in parts. Raises ``UpstreamError``, also after some parts.

        If the API gives one reply per request, several choices take several requests. The others are sent when the
        first reply begins, so that they find the prompt in the cache.
        """
        if self.dialect.single:
            return several(request, lambda index: self._patiently(request, index, streaming))
        return self._patiently(request, 0, streaming)

    async def models(self) -> list[str]:
        """Return the ids of the models that the provider lists. Raises ``UpstreamError``."""
        answer = await self.json("GET", self.dialect.models_path)
        return listed_models(self.dialect.models(answer), self.host)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    # -- a reply -------------------------------------------------------------------------------------------------

    async def _patiently(self, request: ChatRequest, index: int, streaming: bool) -> AsyncGenerator[ChatPart, None]:
        """Yield the parts of a reply, and retry transient failures that occur before its first part.

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
                async with aclosing(self._adjusting(request, index, streaming)) as parts:
                    async for part in parts:
                        silent = silent and isinstance(part, AdjustedPart | UsagePart)
                        yield part

    async def _adjusting(self, request: ChatRequest, index: int, streaming: bool) -> AsyncGenerator[ChatPart, None]:
        """Yield the parts of a reply. What the provider refuses is left out, now and in later requests."""
        trial = self._learned.trial(request.model, self.dialect.rules(request.model))
        while True:
            outgoing = self.dialect.outgoing(request, trial.rules, streaming=streaming)
            adjusted = [*outgoing.adjusted] if index == 0 else []
            silent = True
            try:
                async with aclosing(self._reply(request, outgoing, index, streaming)) as parts:
                    async for part in parts:
                        silent = silent and isinstance(part, UsagePart)
                        while adjusted:
                            yield adjusted.pop(0)
                        yield part
            except UpstreamError as error:
                if silent and outgoing.settings is not None and trial.learn(error, outgoing.settings):
                    continue
                raise
            while adjusted:
                yield adjusted.pop(0)
            return

    async def _reply(
        self, request: ChatRequest, outgoing: Outgoing, index: int, streaming: bool
    ) -> AsyncGenerator[ChatPart, None]:
        """Send the request, and yield the parts of the streamed or whole reply."""
        key = request.api_key
        reply = ModelReply(
            self.blame(key),
            self.dialect.pieces(request, index),
            choices=1 if self.dialect.single else choices_of(request),
            beginning=outgoing.beginning,
        )
        shown = self.dialect.headers(key or self.api_key)
        response = await self.send("POST", outgoing.path, {**outgoing.headers, **shown}, key, json=outgoing.body)
        try:
            kind = kind_of(response)
            if kind == "text/html":
                raise reply.blame.page()
            if kind == "application/json" or (not streaming and kind not in ("text/event-stream", *_LINES)):
                body = await self.body(response, key)
                # A large body is parsed in a thread.
                for part in await asyncio.to_thread(_whole, reply, body) if len(body) > _LARGE else _whole(reply, body):
                    yield part
                return
            patience = self._patience(key)
            lines = EventLines(bare=kind in _LINES)
            async with aclosing(self._events(response, lines, patience)) as events:
                async for data in events:
                    for part in reply.event(data):
                        patience.heard(part)
                        yield part
                    if reply.done:
                        break
                    if reply.complete:
                        patience.completed()
                for part in _instead(reply, bytes(lines.loose)) if lines.loose and not reply.begun else ():
                    yield part
                for part in reply.end():
                    yield part
                await self._let_end(events)
        except _TRANSPORT as error:
            raise self.failure(error) from error
        finally:
            await response.aclose()

    async def _events(
        self, response: httpx2.Response, lines: EventLines, patience: Patience
    ) -> AsyncGenerator[str, None]:
        """Yield the data of each event until the response ends. Raises ``UpstreamError`` if ``patience`` ends."""
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

    async def _let_end(self, events: AsyncGenerator[str, None]) -> None:
        """After the end of a reply, read the response to its end, so that the connection can be reused.

        If the response does not end at once, reading is stopped. The reply is already complete.
        """
        try:
            async with asyncio.timeout(_TAIL_SECONDS):
                async for _ in events:
                    continue
        except (TimeoutError, UpstreamError, *_TRANSPORT) as error:
            _log.debug("%s: the connection is not used again: %r", self.host, error)

    # -- requests ------------------------------------------------------------------------------------------------

    def blame(self, key: str | None = None) -> Blame:
        """Return a builder of errors for a call. ``key`` is the key of the call, if it has one."""
        secrets = [secret for secret in (key, self.api_key, self.http.base_url.password) if secret]
        return Blame(self.name, self.host, self.timeout, secrets)

    async def send(
        self, method: str, path: str, headers: Mapping[str, str], key: str | None = None, **content: Any
    ) -> httpx2.Response:
        """Send a request, and return the response unread. ``path`` is relative to the base URL, or a full URL.

        Raises ``UpstreamError``, also for an error status.
        """
        blame = self.blame(key)
        try:
            request = self.http.build_request(method, path, **await _sendable(headers, content))
            response = await self.http.send(request, stream=True)
        except UnicodeEncodeError:
            sendable = without_surrogates(content.get("json"))
            if sendable != content.get("json"):
                return await self.send(method, path, headers, key, **{**content, "json": sendable})
            raise blame.unsendable() from None
        except httpx2.TimeoutException as error:
            raise blame.silent() from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise blame.unreachable(error) from error
        if response.is_success:
            return response
        try:
            said = await refusal(response)
        except _TRANSPORT as error:
            raise self.failure(error) from error
        raise blame.refused(response.status_code, said, response.headers)

    async def body(self, response: httpx2.Response, key: str | None = None, most: int = MOST_BODY) -> bytes:
        """Return the whole body, and close the response.

        Raises ``UpstreamError`` if it has more than ``most`` bytes or never ends.
        """
        patience = self._patience(key)
        try:
            return await patience.within(body_of(response, most))
        except TimeoutError:
            raise patience.silent() from None
        except _TRANSPORT as error:
            raise self.failure(error) from error
        finally:
            await response.aclose()

    async def passed(
        self, path: str, body: bytes, content_type: str, headers: Mapping[str, str], key: str | None
    ) -> Passed:
        """Send raw bytes and return the body of the reply. Raises ``UpstreamError``."""
        response = await self.send("POST", path, {"Content-Type": content_type, **headers}, key, content=body)
        found = await self.body(response, key, _MOST_PASSED)
        return Passed(found, str(response.headers.get("content-type", "application/octet-stream")))

    async def json(self, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON that the provider answers. Raises ``UpstreamError``, also if it is none."""
        response = await self.send(method, path, self.dialect.headers(self.api_key), json=body)
        found = await self.body(response, None, _MOST_LISTED)
        try:
            return await asyncio.to_thread(read_text, found) if len(found) > _LARGE else read_text(found)
        except ValueError:
            raise UpstreamError(
                f"{self.host} answers {path} with something that is not JSON; providers.{self.name}.base_url usually "
                "ends in /v1"
            ) from None

    def failure(self, error: Exception) -> UpstreamError:
        """Translate a transport error that occurred while a reply was read."""
        if isinstance(error, httpx2.TimeoutException):
            return self.blame().silent()
        return self.blame().broken(error)

    def _patience(self, key: str | None) -> Patience:
        return Patience(self.timeout, lambda: self.blame(key).without_content(WITHOUT_CONTENT))


async def _sendable(headers: Mapping[str, str], content: dict[str, Any]) -> dict[str, Any]:
    """Return the headers and the content of a request, in which a large JSON body is written in pieces."""
    body = content.get("json")
    if characters(body) < LARGE:
        return {"headers": headers, **content}
    length = 0
    async for piece in written(body):
        length += len(piece)
    told = {"Content-Type": "application/json", "Content-Length": str(length)}  # not every server takes chunks
    return {"headers": {**headers, **told}, "content": written(body)}


def _pause(state: tenacity.RetryCallState) -> float:
    """Return the seconds until the next attempt, as the provider asks for, or else with exponential backoff."""
    error = state.outcome and state.outcome.exception()
    asked = error.retry_after if isinstance(error, UpstreamError) else None
    return _BACKOFF(state) if asked is None else asked


def _whole(reply: ModelReply, body: bytes) -> list[ChatPart]:
    return [*reply.whole(body), *reply.end()]


def _instead(reply: ModelReply, loose: bytes) -> Iterable[ChatPart]:
    """Return the parts of a whole reply that came under the media type of a stream. Raises the error if it is none."""
    if loose.lstrip()[:1] in (b"{", b"["):
        return list(reply.whole(loose))
    raise reply.unexpected(loose[:_SLICE].decode("utf-8", "replace"))


def kind_of(response: httpx2.Response) -> str:
    """The media type of a response."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
