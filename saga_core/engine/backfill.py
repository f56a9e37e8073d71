"""Backfill: what can be asked of extraction."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from attrs import define

from saga_core.engine.live import LiveSession
from saga_core.engine.timelines import Timelines
from saga_core.engine.unreported import unreported
from saga_core.errors import BadInput, NotSupported
from saga_core.model.turn import TurnKind


@define(eq=False)
class Backfill(Timelines):
    """How turns whose changes nobody reported are read afterwards."""

    def narrating(self, upstream: str = "") -> AbstractAsyncContextManager[None]:
        """``async with`` around a narration call, ``begin`` included: meanwhile no turn is read at that upstream.

        ``upstream``: the name of the ``ChatModel`` that narrates; without one, extraction waits whatever it asks.
        """
        return self.extractions.quiet.narrating(upstream)

    async def await_extraction(self, live: LiveSession, parent: str) -> tuple[str, ...]:
        """Wait, as long as is configured, for what is being read of the turn to continue; a notice if it is late."""
        late = await self.extractions.wait(live, parent, self.config.recall.extraction_wait_ms / 1_000)
        if late is None:
            return ()
        return (f"extraction: what changed in turn {live.tree.get(late).depth} is not known yet",)

    async def reextract(self, session_id: str, turn: str | None = None, *, below: bool = True) -> int:
        """Ask the extraction model anew what changed in ``turn``, whoever reported it; how many turns are asked for.

        With ``below`` also in the turns behind it on the active path, those that nobody or the model itself reported.
        Without a turn: in all of the active path that nobody reported, also those that failed for good. What is known
        stays until the answers come, in the background. Raises ``NotFound``, ``BadInput`` for a turn that is no part
        of the story, ``NotSupported`` without an extraction model.
        """
        if self.extractions.extractor is None:
            raise NotSupported(
                "no extraction model is configured: set models.extraction and a provider for it, or give Saga.open an"
                " extractor"
            )
        live = await self._live(session_id)
        chosen = _path_below(live, turn) if below else []
        if turn is not None:
            node = live.tree.get(turn)
            if node.kind in (TurnKind.ROOT, TurnKind.SIDE):
                raise BadInput(f"turn: {turn!r} is of kind {node.kind.value}: nothing happens in it; name another turn")
            chosen = [turn, *chosen]
        await self.extractions.again(live.session.id, chosen)
        return len(chosen)


def _path_below(live: LiveSession, turn: str | None) -> list[str]:
    """The turns behind ``turn`` on the active path (all of it without one) that may need the model's word."""
    depth = -1
    if turn is not None:
        if not live.tree.is_ancestor(turn, live.head):
            return []
        depth = live.tree.get(turn).depth
    nodes = [node for node in live.tree.path(live.head) if node.depth > depth]
    return [node.id for node in nodes if unreported(node) or (turn is not None and live.extracted(node.id))]
