"""Gathering: runs the sources of one read in parallel, each after the sources that it needs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from saga_core.context.model import Piece
from saga_core.context.order import SourceOrder
from saga_core.context.scene import Scene
from saga_core.context.sources.source import NOTHING_GIVEN, ContextSource, Given
from saga_core.errors import in_words
from saga_core.ports import Clock

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

        A source that waits is closed. It can run again in a task, as in ``read_at_hand``.
        """
        running = self._run(source)
        try:
            running.send(None)
        except StopIteration as done:
            self._found[source.name] = done.value
            return True
        except Exception as error:  # noqa: BLE001 - reported as the source's failure
            self._found[source.name] = None
            self._miss(source.name, in_words(error), error)
            return True
        running.close()
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
