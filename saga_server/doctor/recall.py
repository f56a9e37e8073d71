"""The checks of ``saga doctor`` for recall: whether the embedder answers, and which token counter is in use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Any

from saga_core import Saga
from saga_core.errors import SagaError

Told = Callable[[bool, str], bool]
"""Prints a line that is marked as good or not, and returns whether it is good."""

_QUESTION, _PASSAGE = "누가 검을 만들었지?", "The smith finished the sword."
_PATIENCE = 60.0


async def examine_recall(saga: Saga, told: Told) -> bool:
    """Ask the embedder for two vectors, and say which counter is in use."""
    return await _embedder(saga, told) & _counter(saga, told)


async def _embedder(saga: Saga, told: Told) -> bool:
    embedder = saga.stores.embedder
    try:
        async with asyncio.timeout(_PATIENCE):
            await embedder.embed([_PASSAGE], "passage")  # loads the model
            began = perf_counter()
            await embedder.embed([_QUESTION], "query")
    except TimeoutError:
        return told(False, f"embedder {embedder.id}: no answer within {_PATIENCE:g} s")
    except SagaError as error:
        return told(False, f"embedder {embedder.id}: {error}")
    taken, deadline = (perf_counter() - began) * 1_000, saga.config.recall.deadline_ms
    sees = "sees meaning" if embedder.semantic else "sees spelling"
    good = told(True, f"embedder {embedder.id}: {embedder.dimension} components, {sees}, {taken:.0f} ms a question")
    if taken > deadline:
        return told(
            False,
            f"embedder {embedder.id}: slower than recall.deadline_ms, {deadline:g}; turns go without it until that is "
            f"raised, to {taken * 2:.0f} say",
        )
    return good


def _counter(saga: Saga, told: Told) -> bool:
    counter: Any = saga.stores.counter
    note = getattr(counter, "note", "")
    return told(True, f"tokens: counted by {counter.id}" + (f": {note}" if note else ""))


def recall_of(status: dict[str, Any], told: Told) -> bool:
    """Report the same from the status of a running server."""
    vectors = status["vectors"]
    left = f", {vectors['left']} turns still to do" if vectors["left"] else ""
    told(True, f"embedder {status['embedder']}: {vectors['dimension']} components{left}")
    return told(
        True, f"tokens: counted by {status['tokens']}" + (f": {status['counting']}" if status["counting"] else "")
    )
