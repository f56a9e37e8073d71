"""The background part of ``Saga``: lists pending work and why it waits, does it now, and retries what failed.

Work is never given up: it stays in the journal. It is *stuck* if it failed so often that it needs attention, or if it
is retried only on request.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from attrs import asdict, define, frozen

from saga_core.arguments import checks_arguments
from saga_core.background import DrainReport, Foreground, Supervisor, Waiting
from saga_core.errors import BadInput, NotSupported
from saga_core.jobs.backfill import Backfill
from saga_core.jobs.chapters import Chapters
from saga_core.jobs.extraction import ExtractionJob
from saga_core.jobs.remote_state import ForgettingJob
from saga_core.jobs.reviews import ReviewsJob
from saga_core.jobs.vectors import VectorsJob
from saga_core.jobs.views import ViewsJob
from saga_core.journal import Journal, PendingWork
from saga_core.model import TurnKind
from saga_core.sessions import LiveSession, MissingReports, SessionDirectory

STUCK = 5
"""Consecutive failures after which work on views counts as stuck. It is still retried, once a minute."""
_LISTED = 50


@frozen
class PendingJob:
    """Work that one turn, or a removed session, still needs."""

    session: str
    turn: str
    kind: str
    """``views``; ``embed`` for vectors that could not be made; ``extract``; ``review`` for one that a curator or a
    memory strategy failed to make; or ``forget`` for a removed session that a curator still stores elsewhere."""
    stuck: bool
    tries: int = 0
    """How often it failed; for views, since the start."""
    reason: str = ""
    """The reason of the last failure, in words."""

    def plain(self) -> dict[str, Any]:
        """The job as data."""
        return asdict(self) | {"reason": self.reason or None}


@checks_arguments
@define(eq=False, kw_only=True)
class Background:
    """The work behind the replies."""

    supervisor: Supervisor
    foreground: Foreground
    directory: SessionDirectory
    journal: Journal
    views: ViewsJob
    extraction: ExtractionJob
    reviews: ReviewsJob
    vectors: VectorsJob
    forgetting: ForgettingJob
    silent: MissingReports
    backfill: Backfill
    chapters: Chapters

    def narrating(self, upstream: str = "") -> AbstractAsyncContextManager[None]:
        """Use ``async with`` around a narration call, ``begin`` included. Meanwhile no turn is read at that upstream.

        ``upstream`` is the name of the ``ChatModel`` that narrates. Without one, extraction waits for any upstream.
        """
        return self.foreground.narrating(upstream)

    async def drain(self, timeout: float) -> DrainReport:
        """Do all work that is due, including paused retries and the extraction of the active heads.

        The report lists the work that is still pending.
        """
        return await self.supervisor.drain(timeout)

    async def drain_views(self, timeout: float) -> DrainReport:
        """Render all views that are due, and nothing else."""
        return await self.supervisor.drain(timeout, self.views)

    def waiting(self) -> tuple[Waiting, ...]:
        """The pending work, with the reasons as far as they are known."""
        return self.supervisor.waiting()

    async def jobs(self, session: str | None = None) -> list[PendingJob]:
        """All work that is noted in the journal, or that of one session, stuck work first. Raises ``NotFound``."""
        leaving = await self._pending_forgets()
        if session is not None and any(job.session == session for job in leaving):
            chosen: str | None = session
        else:
            chosen = (await self.directory.find(session)).id if session is not None else None
        failing = self.supervisor.failures(self.views)
        others = (*leaving, *self._reviews(), *self._vectors())
        jobs = [job for job in others if chosen in (None, job.session)]
        for found, turn, wants in await self.journal.jobs():
            if chosen is None or found == chosen:
                jobs.append(_job(found, turn, wants, failing.get(found, (0, ""))))
        return sorted(jobs, key=lambda job: not job.stuck)

    async def _pending_forgets(self) -> list[PendingJob]:
        found = await self.forgetting.pending()
        return [PendingJob(each.session, "", "forget", each.tries > 0, each.tries, each.reason) for each in found]

    def _reviews(self) -> list[PendingJob]:
        return [
            PendingJob(found, "", "review", tries >= STUCK, tries, f"{curator}: {reason}")
            for found, curator, tries, reason in self.reviews.failed()
        ]

    def _vectors(self) -> list[PendingJob]:
        return [
            PendingJob(found, "", "embed", tries >= STUCK, tries, reason)
            for found, (tries, reason) in self.supervisor.failures(self.vectors).items()
        ]

    async def retry(self, session: str | None = None, turn: str | None = None) -> int:
        """Retry work now: all of it, that of a session, or that of one turn. Returns the number of jobs.

        Raises ``NotFound`` for an unknown session.
        """
        asked: dict[str, list[str]] = {}
        count = 0
        for job in await self.jobs(session):
            if turn is not None and job.turn != turn:
                continue
            count += 1
            if job.kind == "forget":
                await self.forgetting.forget_now(job.session)
            elif job.kind == "review":
                self.reviews.again(job.session)
            elif job.kind == "embed":
                self.vectors.submit(job.session)
                self.supervisor.retry_now(self.vectors)
            elif job.kind == "extract":
                asked.setdefault(job.session, []).append(job.turn)
            else:
                self.views.submit(job.session, [job.turn])
                self.supervisor.retry_now(self.views, job.session)
        for each, turns in asked.items():
            await self.extraction.again(each, turns)
        return count

    async def reextract(self, session_id: str, turn: str | None = None, *, below: bool = True) -> int:
        """Ask the extraction model again what changed in ``turn``, whoever reported it. Returns the number of turns
        asked for.

        With ``below``, also ask about the turns after it on the active path that were reported by nobody or by the
        model itself. Without a turn, ask about all unreported turns of the active path, including those that failed for
        good. The known changes stay until the answers arrive in the background. Raises ``NotFound``, ``BadInput`` for
        a turn that is not part of the story, and ``NotSupported`` without an extraction model.
        """
        if self.extraction.extractor is None:
            raise NotSupported(
                "no extraction model is configured: set models.extraction and a provider for it, or give Saga.open an"
                " extractor"
            )
        live = await self.directory.load(session_id)
        chosen = _path_below(live, turn) if below else []
        if turn is not None:
            node = live.tree.get(turn)
            if node.kind in (TurnKind.ROOT, TurnKind.SIDE):
                raise BadInput(f"turn: {turn!r} is of kind {node.kind.value}: nothing happens in it; name another turn")
            chosen = [turn, *chosen]
        await self.extraction.again(live.session.id, chosen)
        return len(chosen)

    def status(self) -> dict[str, Any]:
        """Pending and failed work, the progress of reading and reviewing, and silent narrators. JSON-able."""
        return {
            "work": {
                "queued": self.supervisor.depth(),
                "waiting": [asdict(each) for each in self.waiting()[:_LISTED]],
                "failed": self.extraction.failed()[:_LISTED],
            },
            "backfill": dict(list(self.extraction.progress().items())[-_LISTED:]),
            "curation": self.reviews.describe(),
            "extraction": self.extraction.describe(),
            "silent": self.silent.describe(),
        }


def _job(session: str, turn: str, wants: PendingWork | None, failing: tuple[int, str]) -> PendingJob:
    if wants is None:
        tries, reason = failing
        return PendingJob(session, turn, "views", tries >= STUCK, tries, reason)
    return PendingJob(session, turn, "extract", wants.failed, wants.tries, wants.reason)


def _path_below(live: LiveSession, turn: str | None) -> list[str]:
    """The turns after ``turn`` on the active path (all of its turns without one) that the model may have to read."""
    depth = -1
    if turn is not None:
        if not live.tree.is_ancestor(turn, live.head):
            return []
        depth = live.tree.get(turn).depth
    nodes = [node for node in live.tree.path(live.head) if node.depth > depth]
    return [node.id for node in nodes if node.unreported or (turn is not None and live.extracted(node.id))]
