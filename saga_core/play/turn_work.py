"""What play needs from the background jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from saga_core.sessions import LiveSession


class TurnWork(Protocol):
    """The background jobs, as play sees them."""

    def adopted(self, session: str, turns: Sequence[str]) -> None:
        """Start the work for turns that were adopted from a history."""
        ...

    def offer(self, session: str, turns: Sequence[str]) -> tuple[str, ...]:
        """If many turns were adopted and are not read automatically: a notice about how to have them read."""
        ...

    def recorded(self, session: str, turns: Sequence[str]) -> None:
        """Start the work for turns that were recorded, and for the turns above them, which are due from now on."""
        ...

    def proved(self, session: str, turn: str) -> None:
        """Note that a request's history contains ``turn``."""
        ...

    async def known(self, live: LiveSession, parent: str, seconds: float) -> str | None:
        """Wait at most ``seconds`` for the extraction of the turn to continue. Returns the late turn, if any."""
        ...
