"""A curator without a model, which finds contradictions by rules and summarises the story from journaled facts."""

from __future__ import annotations

import asyncio

from saga_backends.curator.lifecycle import CuratorLifecycle
from saga_core.capabilities import Capability
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import CurationView, Curator
from saga_core.values import Proposal


class RulesCurator(CuratorLifecycle):
    """Finds contradictions, and summarises turns that are at least ``compress_after`` turns old."""

    def __init__(self, compress_after: int = 50) -> None:
        super().__init__("rules", frozenset({Capability.RESIDENT}))
        self._compress_after = compress_after

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """Return the contradictions, then summaries of the story. The same view gives the same result."""
        from saga_core.curation import condense, review_by_turn  # imported here, so that opening is fast

        self._alive()
        found: list[Proposal] = []
        for part in review_by_turn(view):
            found += part
            await asyncio.sleep(0)  # lets other tasks run
        return (*found, *condense(view, self._compress_after))


async def _open(options: OpenOptions) -> Curator:
    return RulesCurator(options.take(compress_after=50)["compress_after"])


BACKEND = Backend(
    kind="curator",
    name="rules",
    open=_open,
    summary="finds contradictions by rule; asks no model",
    warm_up=("saga_core.curation.rules", "saga_core.curation.facts"),
)
