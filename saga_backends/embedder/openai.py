"""Embeds texts with any server that implements the OpenAI embeddings API, hosted or local.

A query is embedded while a player waits, so it is sent once, without retries. If the caller gives up, the request goes
on and its result is cached for the next time. Passages are not urgent. They are sent in batches, and transient failures
are retried after the pause that the server asks for.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from array import array
from base64 import b64decode
from collections.abc import Callable, Coroutine, Mapping, Sequence
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import define, field, frozen

from saga_backends.embedder import strangers
from saga_backends.embedder.known_models import EmbeddingFacts, facts_of_model
from saga_backends.embedder.options import baseline_or, check_least
from saga_backends.embedder.semantic import SemanticEmbedder
from saga_backends.embedder.unit_vector import BadVector, unit
from saga_backends.http_client import MOST_BODY, bearer, open_http, refusal
from saga_backends.provider_error import Blame
from saga_backends.vector_bytes import from_little_endian
from saga_core.background import Retry
from saga_core.errors import BadInput, Closed, SagaError, UpstreamError
from saga_core.ports import Mode
from saga_core.registry import Backend, OpenOptions

if TYPE_CHECKING:
    import httpx2


# --- Parses and validates the reply of an embeddings endpoint -----------------------------------------------------


class BadAnswer(SagaError):
    """A reply that cannot be used. The message says why and completes a sentence that begins with "the server"."""


def read_answer(raw: bytes, count: int, dimension: int) -> list[array[float]]:
    """Return the vectors of a reply to ``count`` texts, in the order of the texts and at unit length.

    ``index`` in the reply tells which text a vector belongs to. If all are missing, the vectors are in order. Vectors
    may be lists of numbers, or base64 of little-endian single-precision numbers. Raises ``BadAnswer``.
    """
    try:
        answer = json.loads(raw)
    except ValueError:
        raise BadAnswer("answered with something that is not JSON") from None
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, list) or not all(isinstance(each, Mapping) for each in data):
        raise BadAnswer("answered without a list of vectors under 'data'")
    if len(data) != count:
        raise BadAnswer(f"answered with {len(data)} vectors for {count} texts")
    vectors: list[array[float] | None] = [None] * count
    for place, each in zip(_places(data), data, strict=True):
        remedy = ""
        try:
            numbers = _numbers(each.get("embedding"))
            if len(numbers) != dimension:
                remedy = f"; set recall.options.dimension: {len(numbers)}"
            vectors[place] = unit(numbers, dimension)
        except BadVector as error:
            raise BadAnswer(f"answered with a vector that {error}{remedy}") from None
    return [vector for vector in vectors if vector is not None]


def _places(data: list[Mapping[str, Any]]) -> list[int]:
    places = [each.get("index") for each in data]
    if all(place is None for place in places):
        return list(range(len(data)))
    # Servers that omit default values leave out the index 0.
    found = [0 if place is None else place for place in places]
    if any(type(place) is not int for place in found) or sorted(found) != list(range(len(data))):
        raise BadAnswer(f"numbered its vectors {str(places)[:60]}, not 0 to {len(data) - 1}")
    return found


def _numbers(given: Any) -> array[float]:
    if isinstance(given, str):
        try:
            return from_little_endian(b64decode(given, validate=True))
        except ValueError:
            raise BadVector("is no base64 of single-precision numbers") from None
    if not isinstance(given, list) or not all(type(value) in (int, float) for value in given):
        raise BadVector("is no list of numbers")
    try:
        return array("d", given)
    except OverflowError:
        raise BadVector("has components that are not finite (NaN or infinity)") from None


# --- Settings, with known facts about the model -------------------------------------------------------------------

ADDRESS = "https://api.openai.com/v1"
SHORTEST = 200
"""Texts of at most this many characters are not cut."""
_COMPONENT = 32
"""The maximum number of bytes that one component of a vector takes in a reply."""
_FORMATS = ("base64", "float")
_KEY = "check the key: recall.options.api_key, providers.openai.api_key or OPENAI_API_KEY"
_NAME = "check recall.options.model, and recall.options.base_url, which usually ends in /v1"
_REMEDIES = {401: _KEY, 403: _KEY, 404: _NAME, 405: _NAME, 429: "it is asked again later"}


@frozen
class RequestSettings:
    """The settings of requests to the server."""

    model: str
    dimension: int
    ask_dimension: bool
    query_prefix: str
    passage_prefix: str
    batch: int
    timeout: float
    max_retries: int
    retry_seconds: float
    max_chars: int
    encoding: str

    def text(self, text: str, mode: Mode) -> str:
        """Return the text to send, with its prefix and cut to ``max_chars``."""
        return (self.query_prefix if mode == "query" else self.passage_prefix) + text[: self.max_chars]


def _text(given: dict[str, Any], name: str) -> str | None:
    value = given[name]
    if value is not None and (not isinstance(value, str) or not value):
        raise BadInput(f"recall.options.{name}: give a text")
    return value


def _prefix(given: dict[str, Any], name: str, usual: str) -> str:
    value = given[name]
    if value is None:
        return usual
    if not isinstance(value, str):
        raise BadInput(f"recall.options.{name}: {value!r} is no text; give the prefix of a text, '' for none")
    return value


def _dimension(given: dict[str, Any], model: str, facts: EmbeddingFacts) -> tuple[int, bool]:
    """Return the dimension, and whether it must be requested from the server."""
    wanted = given["dimension"] or facts.dimension
    if not wanted:
        raise BadInput(
            f"recall.options.dimension: how many components a vector of {model!r} has is not known here; give the "
            "number, which the model's page says"
        )
    if wanted > 16_384:
        raise BadInput(f"recall.options.dimension: {wanted} is out of range; give 1 to 16384")
    other = bool(facts.dimension) and wanted != facts.dimension
    if other and not facts.shortens:
        raise BadInput(
            f"recall.options.dimension: {wanted} is not what {model!r} gives; leave it out, or give {facts.dimension}"
        )
    if other and wanted > facts.dimension:
        raise BadInput(f"recall.options.dimension: {model!r} gives {facts.dimension} at most, not {wanted}")
    return wanted, bool(given["ask_dimension"]) or other


def _host(base_url: str | None) -> str:
    try:
        parts = urlsplit(base_url or ADDRESS)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        raise BadInput("recall.options.base_url: give a URL such as http://127.0.0.1:11434/v1") from None


_log = logging.getLogger(__name__)


VERSION = 1
"""Part of the embedder's id. It increases with every change that alters vectors."""
_RETRY = Retry(first=0.5, longest=60.0)
_TOO_MUCH = re.compile(r"too (?:long|large|many)|maximum|exceed|context|at most|batch|limit", re.IGNORECASE)
"""Phrases with which servers reject a text that is too long or a batch that is too large."""
_REFUSALS = (400, 413, 422)


@define(eq=False, kw_only=True)
class OpenAIEmbedder(SemanticEmbedder):
    """The embedder of this module; see ``docs/backends.md`` for its options."""

    name: str
    host: str
    asked: RequestSettings
    _connect: Callable[[], Coroutine[Any, Any, httpx2.AsyncClient]] = field(repr=False)
    _secrets: tuple[str, ...] = field(repr=False)
    _client: asyncio.Task[httpx2.AsyncClient] | None = field(default=None, init=False, repr=False)
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

    def warm(self) -> None:
        """Start creating the HTTP client before the first request."""
        if self._client is None:
            self._client = asyncio.create_task(self._connect(), name="saga-embedder-connect")

    async def aclose(self) -> None:
        """Cancel requests in progress and close the connections."""
        self._closed = True
        await self._end_queries()
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

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"the embedder {self.name} is closed")

    async def _queries(self, texts: list[str]) -> list[array[float]]:
        if self._failure is not None and monotonic() < self._until:
            raise self._failure.with_traceback(None)  # the server is in its pause after a failure
        return await self._once(texts, "query")

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
            self._keep(texts, "passage", [vector])
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
        self._keep(texts, mode, vectors)
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
        blame = Blame(self.name, self.host, asked.timeout, self._secrets, "recall.options", _REMEDIES, True)
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
            raise UpstreamError(blame.hide(f"{self.host} {error}"), kind="upstream_malformed") from None


async def _open(options: OpenOptions) -> OpenAIEmbedder:
    given = options.take(
        name="openai",
        model=None,
        base_url=None,
        api_key=None,
        dimension=0,
        ask_dimension=False,
        query_prefix=None,
        passage_prefix=None,
        baseline=None,
        batch=64,
        timeout=20.0,
        max_retries=4,
        retry_seconds=10.0,
        max_chars=6_000,
        encoding="base64",
        cache=512,
    )
    model, base_url, key = (_text(given, name) for name in ("model", "base_url", "api_key"))
    if model is None:
        raise BadInput("recall.options.model: which embedding model? Give it here, or as models.embedding")
    if given["encoding"] not in _FORMATS:
        raise BadInput(f"recall.options.encoding: {given['encoding']!r} is neither of {', '.join(_FORMATS)}")
    host = _host(base_url)
    if base_url is None:  # the key from the environment is only sent to OpenAI itself
        key = key or os.environ.get("OPENAI_API_KEY")
        if not key:
            remedy = "give it or recall.options.base_url"
            raise BadInput(f"recall.options.api_key: none is given, and OPENAI_API_KEY is not set; {remedy}")
    check_least(given, dimension=0, cache=0, batch=1, timeout=0.01, max_retries=0, retry_seconds=0, max_chars=SHORTEST)
    facts = facts_of_model(model)
    dimension, ask = _dimension(given, model, facts)
    asked = RequestSettings(
        model=model,
        dimension=dimension,
        ask_dimension=ask,
        query_prefix=_prefix(given, "query_prefix", facts.query),
        passage_prefix=_prefix(given, "passage_prefix", facts.passage),
        batch=min(given["batch"], max(1, MOST_BODY // (dimension * _COMPONENT))),
        **{name: given[name] for name in ("timeout", "max_retries", "retry_seconds", "max_chars", "encoding")},
    )
    return OpenAIEmbedder(
        name=given["name"],
        host=host,
        asked=asked,
        connect=lambda: open_http(base_url or ADDRESS, asked.timeout, bearer(key)),
        secrets=(key,) if key else (),
        baseline=baseline_or(given["baseline"], facts.baseline),
        cache=given["cache"],
    )


BACKEND = Backend(
    kind="embedder",
    name="openai",
    open=_open,
    summary="any server that speaks the OpenAI embeddings API: sees meaning",
)
