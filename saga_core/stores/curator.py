"""Curator: looks over a story and proposes. It never changes anything itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from saga_core.stores.lifecycle import Store
from saga_core.values import Proposal as Proposal

if TYPE_CHECKING:
    from saga_core.model import MemoryRecord, Turn, WorldState


@frozen
class CurationView:
    """What a curator is shown: the state at a turn, and the turns of its path since the last review, oldest first."""

    session: str
    state: WorldState
    turns: tuple[Turn, ...]
    """Each with all that is known of what it changed."""
    since: int = 0
    """The depth of the last review."""
    before: WorldState | None = None
    """The state in which the first of ``turns`` began; None when it is not at hand."""
    language: str = "en"
    """The language of the world: a tag such as ``ko``."""
    memories: tuple[MemoryRecord, ...] = ()
    """What was learned in other sessions of the same owner and is told in this one."""


class Curator(Store, Protocol):
    """Deterministic given its inputs and its own memory."""

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """What it would have noticed or changed; empty when all is well."""
        ...


class Remembering(Curator, Protocol):
    """A curator that declares ``REMEMBERS``."""

    async def forget(self, session: str) -> None:
        """Remove everything that is kept of a session; nothing kept is no error. Idempotent.

        Raises ``SagaError`` when it cannot be said that all of it is gone.
        """
        ...
