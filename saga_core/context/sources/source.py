"""ContextSource: anything that can offer pieces of context for a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from saga_core.context.model import Piece
from saga_core.context.scene import Scene


class ContextSource(Protocol):
    """One kind of context. It never calls a model that writes, and never changes anything."""

    @property
    def name(self) -> str:
        """Names it in ``late`` and ``timings``, and its pieces' origin."""
        ...

    async def gather(self, scene: Scene) -> Sequence[Piece]:
        """Its pieces for the scene, scored as ``saga_core.context.model`` says, in any order. One that raises or is
        late is left out of the turn."""
        ...
