"""What play needs from the background jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from saga_core.sessions import LiveSession


class TurnWork(Protocol):
    """The background jobs, as play sees them."""

    def adopted(self, session: str, turns: Sequence[str]) -> None:
        """Turns were taken from a history."""
        ...

    def offer(self, session: str, turns: Sequence[str]) -> tuple[str, ...]:
        """Where many turns were taken from a history that nobody reads by itself: how somebody has them read."""
        ...

    def recorded(self, session: str, turns: Sequence[str]) -> None:
        """Turns were recorded: those above them count from now on."""
        ...

    def proved(self, session: str, turn: str) -> None:
        """A request's history shows ``turn``."""
        ...

    async def known(self, live: LiveSession, parent: str, seconds: float) -> str | None:
        """Wait at most so long for what is being read of the turn to continue; that turn, if it is late."""
        ...
