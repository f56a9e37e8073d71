"""Embeds texts with any server that implements the OpenAI embeddings API, hosted or local.

A query is embedded while a player waits, so it is sent once, without retries. If the caller gives up, the request goes
on and its result is cached for the next time. Passages are not urgent. They are sent in batches, and transient failures
are retried after the pause that the server asks for.
"""

from __future__ import annotations

import asyncio
import logging
import re
from array import array
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from attrs import define, field

from saga_backends.embedder import strangers
from saga_backends.embedder.known_models import facts_of_model
from saga_backends.embedder.openai_answer import BadAnswer, read_answer
from saga_backends.embedder.openai_failure import EmbedderBlame
from saga_backends.embedder.openai_options import SHORTEST, Asked, read_options
from saga_backends.embedder.questions import Questions
from saga_backends.embedder.recent_vectors import RecentVectors, key_of
from saga_backends.embedder.unit_vector import blank
from saga_backends.http_client import bearer, open_http, refusal
from saga_core.background import Retry
from saga_core.errors import Closed, UpstreamError
from saga_core.ports import Mode
from saga_core.registry import Backend, OpenOptions

if TYPE_CHECKING:
    import httpx2

_log = logging.getLogger(__name__)

T = TypeVar("T")

VERSION = 1
"""Part of the embedder's id. It increases with every change that alters vectors."""
_RETRY = Retry(first=0.5, longest=60.0)
_TOO_MUCH = re.compile(r"too (?:long|large|many)|maximum|exceed|context|at most|batch|limit", re.IGNORECASE)
"""Phrases with which servers reject a text that is too long or a batch that is too large."""
_REFUSALS = (400, 413, 422)


@define(eq=False)
class OpenAIEmbedder:
    """The embedder of this module; see ``docs/backends.md`` for its options."""

    name: str
    host: str
    asked: Asked
    _connect: Callable[[], Awaitable[httpx2.AsyncClient]] = field(repr=False)
    _secrets: tuple[str, ...] = field(repr=False)
    _baseline: float | None = field(repr=False)
    _recent: RecentVectors = field(repr=False)
    _client: asyncio.Task[httpx2.AsyncClient] | None = field(default=None, init=False, repr=False)
    _questions: Questions = field(factory=Questions, init=False, repr=False)
    _measuring: asyncio.Task[None] | None = field(default=None, init=False, repr=False)
    _failures: int = field(default=0, init=False)
    _until: float = field(default=0.0, init=False)
    """When the next request may be sent after a failure, in ``monotonic()`` seconds."""
    _failure: UpstreamError | None = field(default=None, init=False, repr=False)
    _closed: bool = field(default=False, init=False)

    @property
    def id(self) -> str:
        """``<provider>/<model>/<dimension>/<version>``, with a suffix if the prefixes differ from the usual ones."""
        asked = self.asked
        usual = facts_of_model(asked.model)
        own = (asked.query_prefix, asked.passage_prefix)
        mark = (
            "" if own == (usual.query, usual.passage) else "-" + blake2b(repr(own).encode(), digest_size=3).hexdigest()
        )
        return f"{self.name}/{asked.model}/{asked.dimension}/{VERSION}{mark}"

    @property
    def dimension(self) -> int:
        """The number of components of each vector."""
        return self.asked.dimension

    @property
    def semantic(self) -> bool:
        """True, because the model captures meaning."""
        return True

    @property
    def baseline(self) -> float:
        """The cosine of unrelated texts, as configured, known for the model, or measured. 1 until it is known."""
        return 1.0 if self._baseline is None else self._baseline

    def warm(self) -> None:
        """Start creating the HTTP client before the first request."""
        if self._client is None:
            self._client = asyncio.create_task(_awaited(self._connect), name="saga-embedder-connect")

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """Return a unit vector for each text, or a zero vector for a blank text.

        If the caller is cancelled, a query that is in progress continues and its result is cached. Raises
        ``UpstreamError`` and ``Closed``.
        """
        if self._closed:
            raise Closed(f"the embedder {self.name} is closed")
        found: dict[int, array[float]] = {}
        for place, text in enumerate(texts):
            known = blank(self.dimension) if not text.strip() else self._recent.get(key_of(text, mode))
            if known is not None:
                found[place] = known
        missing = [place for place in range(len(texts)) if place not in found]
        if missing:
            wanted = [texts[place] for place in missing]
            vectors = await (self._question(wanted) if mode == "query" else self._passages(wanted))
            found |= dict(zip(missing, vectors, strict=True))
        return [found[place] for place in range(len(texts))]

    async def aclose(self) -> None:
        """Cancel requests in progress and close the connections."""
        self._closed = True
        await self._questions.aclose()
        if self._measuring is not None:
            self._measuring.cancel()
            await asyncio.gather(self._measuring, return_exceptions=True)
        client, self._client = self._client, None
        if client is None:
            return
        client.cancel()
        for opened in await asyncio.gather(client, return_exceptions=True):
            if not isinstance(opened, BaseException):
                await opened.aclose()

    # -- questions ---------------------------------------------------------------------------------------------

    async def _question(self, texts: list[str]) -> list[array[float]]:
        async def call() -> list[array[float]]:
            if self._failure is not None and monotonic() < self._until:
                raise self._failure.with_traceback(None)  # the server is in its pause after a failure
            return await self._once(texts, "query")

        return await self._questions.ask(tuple(key_of(text, "query") for text in texts), call)

    # -- passages ----------------------------------------------------------------------------------------------

    async def _passages(self, texts: list[str]) -> list[array[float]]:
        vectors: list[array[float]] = []
        for start in range(0, len(texts), self.asked.batch):
            vectors += await self._patiently(texts[start : start + self.asked.batch])
        return vectors

    async def _patiently(self, texts: list[str]) -> list[array[float]]:
        """Return the vectors of a batch. Transient failures are retried within ``retry_seconds``."""
        began, tries = monotonic(), 0
        while True:
            pause = max(0.0, self._until - monotonic())
            if self._failure is not None and monotonic() - began + pause > self.asked.retry_seconds:
                raise self._failure.with_traceback(None)
            await asyncio.sleep(pause)
            try:
                return await self._fitting(texts)
            except UpstreamError as error:
                if not error.passing or tries >= self.asked.max_retries:
                    raise
            tries += 1

    async def _fitting(self, texts: list[str]) -> list[array[float]]:
        """Return the vectors of a batch. A batch or a single text that is too large for the server is halved."""
        try:
            return await self._once(texts, "passage")
        except UpstreamError as error:
            if error.status not in _REFUSALS or not _TOO_MUCH.search(str(error)):
                raise
            if len(texts) > 1:
                half = len(texts) // 2
                return [*await self._fitting(texts[:half]), *await self._fitting(texts[half:])]
            if len(texts[0]) <= SHORTEST:
                raise
            _log.info("%s takes no text of %d characters; half of it is embedded", self.host, len(texts[0]))
            (vector,) = await self._fitting([texts[0][: min(len(texts[0]), self.asked.max_chars) // 2]])
            self._recent.put(key_of(texts[0], "passage"), vector)
            return [vector]

    # -- calls -------------------------------------------------------------------------------------------------

    async def _once(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """Send one request. Raises ``UpstreamError``. If the failure is transient, later requests wait for a pause."""
        try:
            vectors = await self._call(texts, mode)
        except UpstreamError as error:
            if error.passing:
                self._failures += 1
                pause = _RETRY.pause(self._failures) if error.retry_after is None else error.retry_after
                self._failure, self._until = error, monotonic() + pause
            raise
        self._failures, self._failure, self._until = 0, None, 0.0
        for text, vector in zip(texts, vectors, strict=True):
            self._recent.put(key_of(text, mode), vector)
        if self._baseline is None and self._measuring is None:
            self._measuring = asyncio.create_task(self._measure(), name="saga-embed-baseline")
        return vectors

    async def _measure(self) -> None:
        try:
            questions = await self._call(strangers.QUESTIONS, "query")
            passages = await self._call(strangers.PASSAGES, "passage")
        except UpstreamError as error:
            _log.warning("the baseline of %s is not known yet: %s", self.id, error)
            self._measuring = None
            return
        self._baseline = strangers.baseline_of(questions, passages)
        _log.info("unrelated texts have a cosine of %.2f for %s", self._baseline, self.id)

    async def _call(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        self.warm()
        assert self._client is not None
        client = await asyncio.shield(self._client)
        import httpx2  # already imported by the client

        asked = self.asked
        body = {
            "input": [asked.text(text, mode) for text in texts],
            "model": asked.model,
            "encoding_format": asked.encoding,
            **({"dimensions": asked.dimension} if asked.ask_dimension else {}),
        }
        blame = EmbedderBlame(self.name, self.host, asked.timeout, self._secrets)
        try:
            async with asyncio.timeout(asked.timeout):  # the client's own timeout only limits the wait for each chunk
                response = await client.post("/embeddings", json=body)
        except (TimeoutError, httpx2.TimeoutException):
            raise blame.silent() from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise blame.unreachable(error) from None
        if not response.is_success:
            raise blame.refused(response.status_code, await refusal(response), response.headers)
        try:
            if len(texts) == 1:
                return read_answer(response.content, 1, asked.dimension)
            return await asyncio.to_thread(read_answer, response.content, len(texts), asked.dimension)
        except BadAnswer as error:
            raise blame.useless(error) from None


async def _awaited(call: Callable[[], Awaitable[T]]) -> T:
    return await call()


async def _open(options: OpenOptions) -> OpenAIEmbedder:
    found = read_options(options)
    return OpenAIEmbedder(
        name=found.name,
        host=found.host,
        asked=found.asked,
        connect=lambda: open_http(found.base_url, found.asked.timeout, bearer(found.key)),
        secrets=(found.key,) if found.key else (),
        baseline=found.baseline,
        recent=RecentVectors(found.cache),
    )


BACKEND = Backend(
    kind="embedder",
    name="openai",
    open=_open,
    summary="any server that speaks the OpenAI embeddings API: sees meaning",
)
