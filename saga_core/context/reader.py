"""ContextReader: runs the sources in parallel under one deadline and packs their pieces.

```python
reader = default_reader(config, counter, clock=clock, vectors=vectors, embedder=embedder)
context = await reader.read(request)      # never raises for a source that is slow or broken
await reader.aclose()
```
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from saga_core.config import Config, TokenBudget
from saga_core.context.budget import ceilings, pack
from saga_core.context.gathering import Gathering
from saga_core.context.model import ReadRequest, Section, TurnContext
from saga_core.context.order import PATIENCE, order_of
from saga_core.context.render import labels
from saga_core.context.scene import EntityNames, Scene
from saga_core.context.sources import (
    Briefing,
    Connections,
    ContextSource,
    Deaths,
    Events,
    Lorebook,
    OtherStories,
    Recollection,
    told_by_rule,
)
from saga_core.errors import BadInput
from saga_core.ports import Clock, Embedder, SystemClock, TokenCounter
from saga_core.stores import VectorStore

log = logging.getLogger("saga.context")

_FAREWELL = 0.02
"""Seconds to wait for a cancelled task to end."""
_COUNTED = 4_096
_TRUSTED = 16_384

USEFUL_HOPS = 2
"""Maximum useful hops. The lorebook uses two, and lines from farther away have the lowest scores."""


class ContextReader:
    """Reads the context of turns. One reader serves all sessions and any number of concurrent reads."""

    def __init__(
        self,
        sources: Sequence[ContextSource],
        counter: TokenCounter,
        *,
        budget: TokenBudget | None = None,
        clock: Clock | None = None,
        deadline_ms: float = 250.0,
        vectors: VectorStore | None = None,
        embedder: Embedder | None = None,
        hops: int = 2,
    ) -> None:
        """Sources that are not done within ``deadline_ms`` are left out. ``hops`` limits the walk over the graph.

        Without ``vectors`` or ``embedder``, lore and turns are found only by their words. Raises ``BadInput`` for a
        deadline that is not above 0, duplicate source names, cyclic needs and unknown needs.
        """
        if not deadline_ms > 0:
            raise BadInput(f"deadline_ms is {deadline_ms}; give milliseconds above 0")
        self.misses: Counter[str] = Counter()
        """How often each source or store was left out."""
        self._order = order_of(sources)
        budget = budget or TokenBudget()
        self._most = budget.dynamic_context_max
        self._ceilings = ceilings(budget)
        # If the player asks for the past, earlier turns are limited only by the whole block.
        self._roomy = {**self._ceilings, Section.EARLIER: 2 * budget.dynamic_context_max}
        self._clock = clock or SystemClock()
        self._deadline = deadline_ms / 1_000
        self._vectors = vectors
        self._embedder = embedder
        self._hops = hops
        self._names = EntityNames()
        self._count = lru_cache(maxsize=_COUNTED)(counter.count)
        self._strays: set[asyncio.Future[Any]] = set()
        self._trusted: set[str] = set()

    @property
    def sources(self) -> Mapping[str, tuple[str, ...]]:
        """The needs of each source, by name."""
        return {source.name: tuple(source.needs) for source in self._order.sources}

    async def read(self, request: ReadRequest) -> TurnContext:
        """Return the context of one turn. The same request and the same answers of stores give the same bytes."""
        clock = self._clock.monotonic
        start = clock()
        if len(self._trusted) > _TRUSTED:
            self._trusted.clear()
        scene = Scene(
            request,
            self._names.of(request.session, request.state),
            count=self._count,
            embedder=self._embedder,
            vectors=self._vectors,
            hops=self._hops,
            patience=self._deadline * PATIENCE,
            trusted=self._trusted,
        )
        gathering = Gathering(self._order, scene, self._deadline, self._clock)
        try:
            pieces = [piece for piece in await gathering.pieces() if piece.text not in request.in_front]
        finally:
            await self._dismiss([*gathering.tasks.values(), *scene.asked_for()])
        gathered = clock()
        packed = pack(
            pieces,
            most=self._most,
            ceilings=self._roomy if scene.looks_back else self._ceilings,
            count=self._count,
            words=labels(request.language),
            language=request.language,
        )
        end = clock()
        timings = gathering.timings
        timings["gather"] = (gathered - start) * 1_000
        timings["pack"] = (end - gathered) * 1_000
        timings["total"] = (end - start) * 1_000
        if scene.late:
            self.misses.update(scene.late)
        return TurnContext(
            packed.text,
            packed.tokens,
            packed.chosen,
            packed.skipped,
            tuple(sorted(scene.late)),
            timings,
            told_by_rule(packed.chosen, request.lore),
            request.pages,
            request.missing,
        )

    async def _dismiss(self, tasks: Iterable[asyncio.Future[Any]]) -> None:
        """Cancel running tasks. ``aclose`` waits for tasks that do not end soon."""
        running: list[asyncio.Future[Any]] = []
        for task in tasks:
            if task.done():
                self._forget(task)
                continue
            task.cancel()
            running.append(task)
            self._strays.add(task)
            task.add_done_callback(self._forget)
        if running:
            await asyncio.wait(running, timeout=_FAREWELL)

    def _forget(self, task: asyncio.Future[Any]) -> None:
        """Drop a finished task and log its exception."""
        self._strays.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.debug("context: %s ended with %s: %s", task, type(error).__name__, error)

    async def aclose(self) -> None:
        """Cancel tasks that earlier reads left running and wait for them to end."""
        for task in self._strays:
            task.cancel()
        if self._strays:
            await asyncio.wait(self._strays)


def own_sources(config: Config) -> tuple[ContextSource, ...]:
    """Return SAGA's own sources, configured by ``config``."""
    return (
        Deaths(),
        Briefing(),
        Lorebook(config.dynamic_lorebook, expand=config.graph.hybrid_rerank),
        Recollection(config.recall.top_k, config.token_budget.recall_max, config.token_budget.dynamic_context_max),
        Connections(),
        Events(),
        OtherStories(),
    )


def default_reader(
    config: Config,
    counter: TokenCounter,
    *,
    clock: Clock | None = None,
    vectors: VectorStore | None = None,
    embedder: Embedder | None = None,
    guests: Sequence[ContextSource] = (),
) -> ContextReader:
    """Return a reader with SAGA's own sources and ``guests``, configured by ``config``."""
    return ContextReader(
        (*own_sources(config), *guests),
        counter,
        budget=config.token_budget,
        clock=clock,
        deadline_ms=config.recall.deadline_ms,
        vectors=vectors,
        embedder=embedder,
        hops=min(config.graph.max_hop, USEFUL_HOPS),
    )
