"""What play needs from the jobs: recording a turn starts work, and beginning one may wait for it."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from saga_core.jobs.extraction import ExtractionJob
from saga_core.jobs.views import ViewsJob
from saga_core.sessions import LiveSession

_MANY = 12
"""A history that adds at least this many turns is that of a chat that began elsewhere."""


@frozen
class TurnJobs:
    """The jobs, as play sees them."""

    views: ViewsJob
    extraction: ExtractionJob

    def adopted(self, session: str, turns: Sequence[str]) -> None:
        """Start the work for turns that were adopted from a history."""
        self.views.submit(session, turns)

    def offer(self, session: str, turns: Sequence[str]) -> tuple[str, ...]:
        """If many turns were adopted and are not read automatically: a notice about how to have them read."""
        if len(turns) < _MANY or self.extraction.reads_adopted:
            return ()
        first = "" if self.extraction.extractor is not None else "set models.extraction, and "
        return (
            f"adopted: what changed in {len(turns)} turns is not known; {first}`saga backfill {session}` reads them",
        )

    def recorded(self, session: str, turns: Sequence[str]) -> None:
        """Start the work for turns that were recorded, and for the turns above them, which are due from now on."""
        self.views.submit(session, turns)
        self.extraction.kick(session)

    def proved(self, session: str, turn: str) -> None:
        """Note that a request's history contains ``turn``."""
        self.extraction.prove(session, turn)

    async def known(self, live: LiveSession, parent: str, seconds: float) -> str | None:
        """Wait at most ``seconds`` for the extraction of the turn to continue. Returns the late turn, if any."""
        return await self.extraction.wait(live, parent, seconds)
