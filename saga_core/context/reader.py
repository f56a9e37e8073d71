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
from graphlib import CycleError, TopologicalSorter
from typing import Any

from attrs import frozen
from cachetools import LRUCache

from saga_core.config import Config, TokenBudget
from saga_core.context.model import Piece, ReadRequest, Section, TurnContext, ceilings, in_window, labels, pack
from saga_core.context.recollection import Recollection
from saga_core.context.scene import EntityNames, Scene, let_go
from saga_core.context.source import NOTHING_GIVEN, ContextSource, Given
from saga_core.context.sources import Briefing, Connections, Deaths, Events, Lorebook, OtherStories, told_by_rule
from saga_core.errors import BadInput, in_words
from saga_core.ports import Clock, Embedder, SystemClock, TokenCounter
from saga_core.stores import VectorStore

# -- the order of the sources ----------------------------------------------------------------------------------

PATIENCE = 0.8
"""The part of the deadline within which stores and the embedder must answer, so that sources can go on without them."""


@frozen
class SourceOrder:
    """The sources and their deadlines."""

    sources: tuple[ContextSource, ...]
    until: Mapping[str, float]
    """The part of the deadline, above ``PATIENCE`` and at most 1, by which each source must be done.

    Sources in a chain share the time after ``PATIENCE`` evenly. A needed source ends earlier, so that the sources that
    need it still have time if it is late.
    """


def order_of(sources: Sequence[ContextSource]) -> SourceOrder:
    """Return the order of ``sources``. Raises ``BadInput`` for duplicate names, unknown needs and cycles."""
    for name, times in Counter(source.name for source in sources).items():
        if times > 1:
            raise BadInput(f"sources: {times} are named {name!r}; give each its own name")
    needs = {source.name: frozenset(source.needs) for source in sources}
    for name, wanted in needs.items():
        for need in sorted(wanted - needs.keys()):
            known = ", ".join(sorted(needs.keys() - {name}))
            raise BadInput(f"sources: {name!r} needs {need!r}, which is not there; there are: {known or 'no others'}")
    try:
        first_to_last = tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        ring = " needs ".join(map(repr, reversed(error.args[1])))
        raise BadInput(f"sources: {ring}, so that none can be the first; switch one of them off") from None
    behind = dict.fromkeys(first_to_last, 0)
    for name in reversed(first_to_last):
        for need in needs[name]:
            behind[need] = max(behind[need], behind[name] + 1)
    share = (1 - PATIENCE) / (1 + max(behind.values(), default=0))
    return SourceOrder(tuple(sources), {name: 1 - share * steps for name, steps in behind.items()})


# -- running them ----------------------------------------------------------------------------------------------

log = logging.getLogger("saga.context")


class Gathering:
    """The sources of one read. Each result is fixed once, so dependent sources and the prompt see the same."""

    def __init__(self, order: SourceOrder, scene: Scene, deadline: float, clock: Clock) -> None:
        """Start all sources. ``deadline`` is in seconds from now."""
        start = asyncio.get_running_loop().time()
        self.timings: dict[str, float] = {}
        """Milliseconds that each finished source took, without waiting for other sources."""
        self._scene = scene
        self._clock = clock
        self._deadline = deadline
        self._until = {name: start + part * deadline for name, part in order.until.items()}
        self._found: dict[str, Sequence[Piece] | None] = {}
        self._unprepared: dict[str, Exception] = {}
        for source in order.sources:
            if hasattr(source, "prepare"):
                try:
                    source.prepare(scene)
                except Exception as error:  # noqa: BLE001 - reported as the source's failure
                    self._unprepared[source.name] = error
        self._names = [source.name for source in order.sources]
        self.tasks: dict[str, asyncio.Task[Sequence[Piece]]] = {}
        for source in order.sources:
            at_once = getattr(source, "at_once", False)
            if (at_once or self._is_ready(source)) and self._finishes(source):
                continue
            if at_once:
                self._found[source.name] = None
                self._miss(source.name, "it says that it is done at once, and waits", None)
            else:
                self.tasks[source.name] = asyncio.create_task(self._run(source), name=f"saga-context-{source.name}")

    async def pieces(self) -> list[Piece]:
        """Return the pieces of all sources that finish in time. The others are added to the scene's ``late``."""
        if self.tasks:
            await asyncio.wait(self.tasks.values(), timeout=self._deadline)
        return [piece for name in self._names for piece in self._offered(name) or ()]

    def _is_ready(self, source: ContextSource) -> bool:
        """Whether a source has no needs and reports that everything it awaits is available."""
        ready = getattr(source, "ready", None)
        if ready is None or source.needs or source.name in self._unprepared:
            return False
        try:
            return bool(ready(self._scene))
        except Exception as error:  # noqa: BLE001 - reported as the source's failure
            self._unprepared[source.name] = error
            return False

    def _finishes(self, source: ContextSource) -> bool:
        """Run a source without a task and return whether it finished, which saves two turns of the event loop.

        A source that waits is closed. It can run again in a task, as in ``resident_read``.
        """
        running = self._run(source)
        try:
            waits = running.send(None)
        except StopIteration as done:
            self._found[source.name] = done.value
            return True
        except Exception as error:  # noqa: BLE001 - reported as the source's failure
            self._found[source.name] = None
            self._miss(source.name, in_words(error), error)
            return True
        let_go(running, waits)
        return False

    async def _run(self, source: ContextSource) -> Sequence[Piece]:  # ``_finishes`` runs it without a task
        given = await self._given(source.needs) if source.needs else NOTHING_GIVEN
        if source.name in self._unprepared:
            raise self._unprepared[source.name]
        start = self._clock.monotonic()
        pieces = await source.gather(self._scene, given)
        self.timings[source.name] = (self._clock.monotonic() - start) * 1_000
        return pieces

    async def _given(self, needs: Iterable[str]) -> Given:
        """Return the results of the needed sources, once all are done or late."""
        names = tuple(dict.fromkeys(needs))
        left = max(self._until[name] for name in names) - asyncio.get_running_loop().time()
        asked = [self.tasks[name] for name in names if name in self.tasks]
        if asked:
            await asyncio.wait(asked, timeout=max(0.0, left))
        found = {name: self._offered(name) for name in names}
        return Given(
            {name: pieces or () for name, pieces in found.items()},
            frozenset(name for name, pieces in found.items() if pieces is None),
        )

    def _offered(self, name: str) -> Sequence[Piece] | None:
        """Return a source's pieces, or None if it failed or is not done yet. The answer is final."""
        if name not in self._found:
            reason, error = self._fault(name)
            if reason:
                self._miss(name, reason, error)
            self._found[name] = None if reason else self.tasks[name].result()
        return self._found[name]

    def _miss(self, name: str, reason: str, error: BaseException | None) -> None:
        self._scene.late.add(name)
        log.warning("context: %s left out: %s", name, reason, exc_info=error)

    def _fault(self, name: str) -> tuple[str, BaseException | None]:
        """Return why a source has no result, empty if it has one. Cancels a source that is not done."""
        task = self.tasks[name]
        if not task.done():
            task.cancel()
            return "not done within the deadline", None
        if task.cancelled():
            return "it was cancelled", None
        error = task.exception()
        return (in_words(error), error) if error is not None else ("", None)


# -- a read ----------------------------------------------------------------------------------------------------


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
            most=in_window(self._most, request.window),
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


# -- explaining a read -----------------------------------------------------------------------------------------

_KEPT = 128


def explain_context(context: TurnContext) -> dict[str, Any]:
    """Return the context as JSON-compatible data.

    ``pages`` are the pages in front of the history. ``pieces`` and ``skipped`` have their scores in parts.
    ``shown_from`` is the depth of the first turn in the sent history, None if unknown.
    """
    return {
        "text": context.text,
        "tokens": context.tokens,
        "pages": context.pages,
        "shown_from": None if context.missing is None else context.missing + 1,
        "pieces": _rows(context.pieces),
        "skipped": _rows(context.skipped),
        "late": list(context.late),
        "timings_ms": {name: round(value, 3) for name, value in context.timings.items()},
    }


def _rows(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    return [
        {
            "source": piece.source,
            "key": piece.key,
            "section": str(piece.section),
            "text": piece.text,
            "tokens": piece.tokens,
            "score": round(piece.score, 4),
            "why": {name: round(part, 4) for name, part in piece.why.items()},
        }
        for piece in pieces
    ]


class RecentContexts(LRUCache[str, TurnContext]):
    """The last 128 contexts, by the id that was planned for the turn with the first reply."""

    def __init__(self) -> None:
        super().__init__(_KEPT)
