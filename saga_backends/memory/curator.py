"""A curator with fixed proposals, for tests."""

from __future__ import annotations

from collections.abc import Iterable

from saga_backends.memory.lifecycle import MemoryStore
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import CurationView, Curator, Limits
from saga_core.values import Proposal


class MemoryCurator(MemoryStore):
    """Answers every review with the given proposals, which are none unless a test sets some."""

    def __init__(self, proposals: Iterable[Proposal] = (), limits: Limits = Limits()) -> None:  # noqa: B008
        super().__init__("curator", limits)
        self._proposals = tuple(proposals)

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """Return the same proposals for every view."""
        self._alive()
        return self._proposals


async def _open(options: OpenOptions) -> Curator:
    options.take()
    return MemoryCurator()


CURATOR = Backend("curator", "memory", _open, "proposes nothing")
