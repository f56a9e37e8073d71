"""Embedders whose model runs in this process, on a separate thread so that the event loop is never blocked.

Texts are embedded one by one. So a query waits for at most one passage, and a vector never depends on other texts in
the same batch.
"""

from __future__ import annotations

import asyncio
import logging
from array import array
from collections.abc import Iterable
from typing import Protocol

from attrs import define, field

from saga_backends.embedder import strangers
from saga_backends.embedder.semantic import SemanticEmbedder
from saga_backends.embedder.unit_vector import BadVector, unit
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


@define(eq=False, kw_only=True)
class LocalEmbedder(SemanticEmbedder):
    """An embedder that runs a model on a worker thread. ``warm`` or the first text loads the model.

    Without a baseline, it is measured when the model is loaded.
    """

    id: str
    dimension: int
    model: LocalModel = field(repr=False)
    _worker: Worker = field(repr=False)
    _loaded: bool = field(default=False, init=False)
    _warming: asyncio.Task[None] | None = field(default=None, init=False, repr=False)

    def warm(self) -> None:
        """Start loading the model, so that the first query does not have to wait for it."""
        if self._warming is None and not self._worker.closed:
            self._warming = asyncio.create_task(self._worker.run(self._load), name="saga-embedder-warm")
            self._warming.add_done_callback(_told)

    async def aclose(self) -> None:
        """End the thread once the current text is embedded."""
        await self._end_queries()
        await self._worker.aclose()
        if self._warming is not None:
            await asyncio.gather(self._warming, return_exceptions=True)

    def _alive(self) -> None:
        if self._worker.closed:
            raise Closed("the embedder is closed")

    async def _queries(self, texts: list[str]) -> list[array[float]]:
        return await self._each(texts, "query")

    async def _passages(self, texts: list[str]) -> list[array[float]]:
        return await self._each(texts, "passage")

    async def _each(self, texts: list[str], mode: Mode) -> list[array[float]]:
        found = []
        for text in texts:
            vector = await self._worker.run(self._one, text, mode)
            self._keep([text], mode, [vector])
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
