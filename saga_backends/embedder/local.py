"""Embedders whose model runs in this process, on a thread of its own, so that the event loop never waits.

Texts are embedded one by one. So a question waits for one passage at most, and a vector does not depend on what else
was embedded with it.
"""

from __future__ import annotations

import asyncio
import logging
from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol

from attrs import define, field

from saga_backends.embedder import strangers
from saga_backends.embedder.questions import Questions
from saga_backends.embedder.recent_vectors import RecentVectors, key_of
from saga_backends.embedder.unit_vector import BadVector, blank, unit
from saga_backends.worker import Worker
from saga_core.errors import Closed, StoreUnavailable
from saga_core.ports import Mode

_log = logging.getLogger(__name__)


class LocalModel(Protocol):
    """A model and its tokenizer. Called on one thread only."""

    def load(self) -> None:
        """Import the library and read the files. Raises ``StoreUnavailable`` in words that say what to do."""
        ...

    def encode(self, text: str, mode: Mode) -> Iterable[float]:
        """The vector of a text that is not blank, of any length."""
        ...


@define(eq=False)
class LocalEmbedder:
    """A model behind a thread. It is loaded when the first text comes, or by ``warm``."""

    id: str
    dimension: int
    model: LocalModel = field(repr=False)
    _worker: Worker = field(repr=False)
    _recent: RecentVectors = field(repr=False)
    _baseline: float | None = None
    """None: it is measured when the model is loaded."""
    _questions: Questions = field(factory=Questions, init=False, repr=False)
    _loaded: bool = field(default=False, init=False)
    _warming: asyncio.Task[None] | None = field(default=None, init=False, repr=False)

    @property
    def semantic(self) -> bool:
        """It sees meaning."""
        return True

    @property
    def baseline(self) -> float:
        """The cosine of unrelated texts; 1 until it is known."""
        return 1.0 if self._baseline is None else self._baseline

    def warm(self) -> None:
        """Begin to load the model, so that the first question need not wait for it."""
        if self._warming is None and not self._worker.closed:
            self._warming = asyncio.create_task(self._worker.run(self._load), name="saga-embedder-warm")
            self._warming.add_done_callback(_told)

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """A unit vector for each text; zero for one that is blank. Raises ``StoreUnavailable``, and ``Closed``.

        Who is cancelled while a question is under way does not end it: its answer is remembered.
        """
        if self._worker.closed:
            raise Closed("the embedder is closed")
        if mode == "query":
            return await self._questions.ask((mode, *texts), lambda: self._each(texts, mode))
        return await self._each(texts, mode)

    async def aclose(self) -> None:
        """End the thread, after the text that is being embedded."""
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
        _log.warning("%s", error)  # and met again by whoever asks
