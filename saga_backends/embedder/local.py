"""Embedders whose model runs in this process, on a separate thread so that the event loop is never blocked.

Texts are embedded one by one. So a query waits for at most one passage, and a vector never depends on other texts in
the same batch.
"""

from __future__ import annotations

import asyncio
import logging
from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol

from attrs import define, field

from saga_backends.embedder import strangers
from saga_backends.embedder.questions import QueriesInProgress
from saga_backends.embedder.recent_vectors import RecentVectors, key_of
from saga_backends.embedder.unit_vector import BadVector, blank, unit
from saga_backends.worker import Worker
from saga_core.errors import Closed, StoreUnavailable
from saga_core.ports import Mode

_log = logging.getLogger(__name__)


class LocalModel(Protocol):
    """A model and its tokenizer. All calls come from one thread."""

    def load(self) -> None:
        """Import the library and read the model files. Raises ``StoreUnavailable`` with a remedy in the message."""
        ...

    def encode(self, text: str, mode: Mode) -> Iterable[float]:
        """Return the vector of ``text``, which is not blank. The vector need not have unit length."""
        ...


@define(eq=False)
class LocalEmbedder:
    """An embedder that runs a model on a worker thread. ``warm`` or the first text loads the model."""

    id: str
    dimension: int
    model: LocalModel = field(repr=False)
    _worker: Worker = field(repr=False)
    _recent: RecentVectors = field(repr=False)
    _baseline: float | None = None
    """If it is None, it is measured when the model is loaded."""
    _questions: QueriesInProgress = field(factory=QueriesInProgress, init=False, repr=False)
    _loaded: bool = field(default=False, init=False)
    _warming: asyncio.Task[None] | None = field(default=None, init=False, repr=False)

    @property
    def semantic(self) -> bool:
        """True, because the model captures meaning."""
        return True

    @property
    def baseline(self) -> float:
        """The cosine of unrelated texts, or 1 until it is known."""
        return 1.0 if self._baseline is None else self._baseline

    def warm(self) -> None:
        """Start loading the model, so that the first query does not have to wait for it."""
        if self._warming is None and not self._worker.closed:
            self._warming = asyncio.create_task(self._worker.run(self._load), name="saga-embedder-warm")
            self._warming.add_done_callback(_told)

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """Return a unit vector for each text, or a zero vector for a blank text.

        If the caller is cancelled, a query that is in progress continues and its result is cached. Raises
        ``StoreUnavailable`` and ``Closed``.
        """
        if self._worker.closed:
            raise Closed("the embedder is closed")
        if mode == "query":
            return await self._questions.ask((mode, *texts), lambda: self._each(texts, mode))
        return await self._each(texts, mode)

    async def aclose(self) -> None:
        """End the thread once the current text is embedded."""
        await self._questions.aclose()
        await self._worker.aclose()
        if self._warming is not None:
            await asyncio.gather(self._warming, return_exceptions=True)

    async def _each(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        found = []
        for text in texts:
            key = key_of(text, mode)
            vector = self._recent.get(key) if text.strip() else blank(self.dimension)
            if vector is None:
                vector = await self._worker.run(self._one, text, mode)
                self._recent.put(key, vector)
            found.append(vector)
        return found

    # -- on the thread -----------------------------------------------------------------------------------------

    def _one(self, text: str, mode: Mode) -> array[float]:
        self._load()
        return self._vector(text, mode)

    def _load(self) -> None:
        if not self._loaded:
            self.model.load()
            self._loaded = True
        if self._baseline is None:
            questions = [self._vector(each, "query") for each in strangers.QUESTIONS]
            self._baseline = strangers.baseline_of(
                questions, [self._vector(each, "passage") for each in strangers.PASSAGES]
            )

    def _vector(self, text: str, mode: Mode) -> array[float]:
        try:
            return unit(self.model.encode(text, mode), self.dimension)
        except BadVector as error:
            raise StoreUnavailable(f"{self.id}: the model gave a vector that {error}") from error


def _told(warming: asyncio.Task[None]) -> None:
    error = None if warming.cancelled() else warming.exception()
    if error is not None and not isinstance(error, Closed):
        _log.warning("%s", error)  # the next call to embed will raise it again
