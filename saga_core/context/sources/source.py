"""ContextSource: the interface of sources that return pieces of context for a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

from saga_core.context.model import Piece
from saga_core.context.scene import Scene


@frozen
class Given:
    """The results of the sources that a source needs."""

    pieces: Mapping[str, Sequence[Piece]] = field(factory=dict)
    """The pieces of each needed source, empty for a missing one."""
    missing: frozenset[str] = frozenset()
    """The needed sources that failed or were not done in time."""


NOTHING_GIVEN = Given()


class ContextSource(Protocol):
    """One kind of context. A source must not call a generating model, change any data or block the event loop.

    SAGA's own sources may also have ``prepare(scene)``, which is called before any ``gather`` and starts the store
    requests that ``gather`` will await. A source with ``at_once`` has no needs and awaits nothing; it runs without a
    task. So does a source without needs whose ``ready(scene)`` returns that everything it awaits is available.
    """

    @property
    def name(self) -> str:
        """The name of the source in ``late``, in ``timings`` and in its pieces."""
        ...

    @property
    def needs(self) -> Sequence[str]:
        """The names of sources whose pieces this source needs. It runs when these are done, without needs at once."""
        ...

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the pieces for the scene in any order, scored by the scale in ``saga_core.context.model``.

        A source that raises or is late is left out of the turn. ``given`` has only the results of the needed sources.
        """
        ...
