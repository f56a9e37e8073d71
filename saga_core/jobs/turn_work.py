"""What play needs from the jobs: recording a turn starts work, and beginning one may wait for it."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from saga_core.jobs.extraction import ExtractionJob
from saga_core.jobs.views import ViewsJob
from saga_core.sessions import LiveSession

_MANY = 12
"""Turns from which on a history is that of a chat that began elsewhere."""


@frozen
class TurnWork:
    """The jobs, as play sees them."""

    views: ViewsJob
    extraction: ExtractionJob

    def adopted(self, session: str, turns: Sequence[str]) -> None:
        """Turns were taken from a history."""
        self.views.submit(session, turns)

    def offer(self, session: str, turns: Sequence[str]) -> tuple[str, ...]:
        """Where many turns were taken from a history that nobody reads by itself: how somebody has them read."""
        if len(turns) < _MANY or self.extraction.reads_adopted:
            return ()
        first = "" if self.extraction.extractor is not None else "set models.extraction, and "
        return (
            f"adopted: what changed in {len(turns)} turns is not known; {first}`saga backfill {session}` reads them",
        )

    def recorded(self, session: str, turns: Sequence[str]) -> None:
        """Turns were recorded: those above them count from now on."""
        self.views.submit(session, turns)
        self.extraction.kick(session)

    def proved(self, session: str, turn: str) -> None:
        """A request's history shows ``turn``."""
        self.extraction.prove(session, turn)

    async def known(self, live: LiveSession, parent: str, seconds: float) -> str | None:
        """Wait at most so long for what is being read of the turn to continue; that turn, if it is late."""
        return await self.extraction.wait(live, parent, seconds)
