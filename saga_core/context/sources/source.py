"""ContextSource: anything that can offer pieces of context for a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

from saga_core.context.model import Piece
from saga_core.context.scene import Scene


@frozen
class Given:
    """What the sources offered that a source needs."""

    pieces: Mapping[str, Sequence[Piece]] = field(factory=dict)
    """Source to its pieces, as it gave them; none for one that is missing."""
    missing: frozenset[str] = frozenset()
    """The needed sources that failed, or were not done in time."""


NOTHING_GIVEN = Given()


class ContextSource(Protocol):
    """One kind of context. It never calls a model that writes, never changes anything and never blocks the loop.

    SAGA's own may have ``prepare(scene)`` besides: called before any source is asked, it begins to ask stores for what
    ``gather`` will wait for. One that is ``at_once`` needs no other and waits for nothing: it is asked without a task.
    So is one without needs whose ``ready(scene)`` says that all that it will wait for is there.
    """

    @property
    def name(self) -> str:
        """Names it in ``late`` and ``timings``, and its pieces' origin."""
        ...

    @property
    def needs(self) -> Sequence[str]:
        """The sources whose pieces it wants to see. It is asked as soon as these are done; without any, at once."""
        ...

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Its pieces for the scene, scored as ``saga_core.context.model`` says, in any order. One that raises or is
        late is left out of the turn. ``given`` has what the sources that it needs offered, and nothing else."""
        ...
