"""What all embedders that capture meaning do: they cache recent vectors, and share queries in progress.

Swipes and retries embed the same texts again. The cache is bounded and in memory. On disk, the vector store keeps the
vectors of each turn or entry and removes them with it. A separate cache on disk would keep data about deleted texts.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TypeAlias

from attrs import define, field
from cachetools import LRUCache

from saga_backends.embedder.unit_vector import blank
from saga_core.errors import StoreUnavailable
from saga_core.ports import Mode

_AT_ONCE = 4
"""The most queries in progress. A model that does not answer receives no further ones."""

_log = logging.getLogger(__name__)

_Key: TypeAlias = tuple[Mode, bytes]
_Vectors: TypeAlias = "list[array[float]]"


def _key(text: str, mode: Mode) -> _Key:
    """The cache key of a text. It contains a hash, not the text itself."""
    return mode, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@define(eq=False, kw_only=True)
class SemanticEmbedder(ABC):
    """An embedder with a cache of ``cache`` vectors."""

    cache: int
    _baseline: float | None = field(repr=False)
    _recent: LRUCache[_Key, array[float]] = field(init=False, repr=False)
    _flights: dict[tuple[_Key, ...], asyncio.Task[_Vectors]] = field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._recent = LRUCache(self.cache)

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of components of each vector."""

    @property
    def semantic(self) -> bool:
        """True, because the model captures meaning."""
        return True

    @property
    def baseline(self) -> float:
        """The cosine of unrelated texts, as configured, known for the model, or measured. 1 until it is known."""
        return 1.0 if self._baseline is None else self._baseline

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """Return a unit vector for each text, or a zero vector for a blank text.

        If the caller is cancelled, a query that is in progress continues and its result is cached. Raises ``Closed``,
        ``StoreUnavailable`` (also if too many queries are in progress) and ``UpstreamError``.
        """
        self._alive()
        found: dict[int, array[float]] = {}
        for place, text in enumerate(texts):
            known = self._recent.get(_key(text, mode)) if text.strip() else blank(self.dimension)
            if known is not None:
                found[place] = known[:]
        missing = {place: text for place, text in enumerate(texts) if place not in found}
        if missing:
            ask = self._ask if mode == "query" else self._passages
            found |= dict(zip(missing, await ask(list(missing.values())), strict=True))
        return [found[place] for place in range(len(texts))]

    async def _ask(self, texts: list[str]) -> _Vectors:
        """Return the vectors of queries. Concurrent callers with the same ones share a call."""
        key = tuple(_key(text, "query") for text in texts)
        flight = self._flights.get(key)
        if flight is None:
            if len(self._flights) >= _AT_ONCE:
                raise StoreUnavailable(f"the embedder still owes the answers to {_AT_ONCE} earlier questions")
            flight = asyncio.create_task(self._queries(texts), name="saga-embed-question")
            self._flights[key] = flight
            flight.add_done_callback(lambda done: self._landed(key, done))
        return [vector[:] for vector in await asyncio.shield(flight)]

    def _landed(self, key: tuple[_Key, ...], flight: asyncio.Task[_Vectors]) -> None:
        self._flights.pop(key, None)
        if not flight.cancelled() and (error := flight.exception()) is not None:
            _log.debug("a question failed: %s", error)

    def _keep(self, texts: Iterable[str], mode: Mode, vectors: Iterable[array[float]]) -> None:
        """Cache the vectors."""
        if self.cache:
            self._recent.update((_key(text, mode), vector[:]) for text, vector in zip(texts, vectors, strict=True))

    async def _end_queries(self) -> None:
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    @abstractmethod
    def _alive(self) -> None:
        """Raise ``Closed`` after ``aclose``."""

    @abstractmethod
    async def _queries(self, texts: list[str]) -> list[array[float]]:
        """Embed and cache queries, while a player waits."""

    @abstractmethod
    async def _passages(self, texts: list[str]) -> list[array[float]]:
        """Embed and cache passages."""
