"""Curator: reviews a story and makes proposals. It never changes anything itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from saga_core.stores.lifecycle import Store
from saga_core.values import Proposal as Proposal

if TYPE_CHECKING:
    from saga_core.model import Event, MemoryRecord, Turn, WorldState


@frozen
class CurationView:
    """The input of a review: the state at a turn, and the turns of its path since the last review, oldest first."""

    session: str
    state: WorldState
    turns: tuple[Turn, ...]
    """Each turn with all its known changes."""
    since: int = 0
    """The depth of the last review."""
    before: WorldState | None = None
    """The state before the first of ``turns``; None if it is not available."""
    language: str = "en"
    """The language of the world, as a tag such as ``ko``."""
    memories: tuple[MemoryRecord, ...] = ()
    """Records learned in other sessions of the same owner that are used in this one."""
    by_hand: Mapping[str, tuple[Event, ...]] = field(factory=dict)
    """Of each turn that a person corrected, by id: the corrections among its changes."""


class Curator(Store, Protocol):
    """Reviews stories. The result depends only on the curator's inputs and its own memory."""

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """Return findings and proposed changes; empty if there are none."""
        ...


class Remembering(Curator, Protocol):
    """A curator that declares ``REMEMBERS``."""

    async def forget(self, session: str) -> None:
        """Remove everything that is kept about a session. Idempotent: an unknown session is not an error.

        Raises ``SagaError`` if the complete removal cannot be confirmed.
        """
        ...
