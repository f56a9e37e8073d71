"""Jobs: the background work that is not done, what keeps it, and trying it again.

A job is never given up: it stays in the journal. One is *stuck* when it failed so often that somebody should look, or
when it is not tried again unless somebody asks.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from saga_core.engine.catalog import Catalog
from saga_core.journal.journal import Wanted

STUCK = 5
"""Failures in a row after which work on views counts as stuck. It is tried on all the same, once a minute."""


@frozen
class Job:
    """What one turn, or a session that went, still needs."""

    session: str
    turn: str
    kind: str
    """``views``; ``embed``, vectors that could not be made; ``extract``; ``review``, which a curator or a memory
    strategy failed to make; or ``forget``: a session that went, and that a curator keeps elsewhere."""
    stuck: bool
    tries: int = 0
    """How often it failed, since the start for views."""
    reason: str = ""
    """Why it failed last, in words."""

    def plain(self) -> dict[str, Any]:
        """The job as data."""
        return {
            "session": self.session,
            "turn": self.turn,
            "kind": self.kind,
            "stuck": self.stuck,
            "tries": self.tries,
            "reason": self.reason or None,
        }


async def list_jobs(saga: Catalog, session: str | None = None) -> list[Job]:
    """All jobs in the journal, or those of one session, the stuck ones first. Raises ``NotFound``."""
    leaving = await _leaving(saga)
    if session is not None and any(job.session == session for job in leaving):
        chosen: str | None = session
    else:
        chosen = (await saga.session(session)).id if session is not None else None
    failing = saga.lanes.failures()
    jobs = [job for job in (*leaving, *_reviews(saga), *_vectors(saga)) if chosen in (None, job.session)]
    for found, turn, wants in await saga.journal.jobs():
        if chosen is None or found == chosen:
            jobs.append(_job(found, turn, wants, failing.get(found, (0, ""))))
    return sorted(jobs, key=lambda job: not job.stuck)


async def _leaving(saga: Catalog) -> list[Job]:
    elsewhere = saga.curations.elsewhere
    found = await elsewhere.leaving() if elsewhere is not None else []
    return [Job(each.session, "", "forget", each.tries > 0, each.tries, each.reason) for each in found]


def _reviews(saga: Catalog) -> list[Job]:
    return [
        Job(found, "", "review", tries >= STUCK, tries, f"{curator}: {reason}")
        for found, curator, tries, reason in saga.curations.failed()
    ]


def _vectors(saga: Catalog) -> list[Job]:
    return [
        Job(found, "", "embed", tries >= STUCK, tries, reason)
        for found, (tries, reason) in saga.filling.failed().items()
    ]


def _job(session: str, turn: str, wants: Wanted | None, failing: tuple[int, str]) -> Job:
    if wants is None:
        tries, reason = failing
        return Job(session, turn, "views", tries >= STUCK, tries, reason)
    return Job(session, turn, "extract", wants.failed, wants.tries, wants.reason)


async def retry(saga: Catalog, session: str | None = None, turn: str | None = None) -> int:
    """Try jobs again, now: all, those of a session, or that of one turn; how many they are.

    Raises ``NotFound`` for a session that is not there.
    """
    asked: dict[str, list[str]] = {}
    count = 0
    for job in await list_jobs(saga, session):
        if turn is not None and job.turn != turn:
            continue
        count += 1
        if job.kind == "forget":
            assert saga.curations.elsewhere is not None
            await saga.curations.elsewhere.forget(job.session)
        elif job.kind == "review":
            saga.curations.again(job.session)
        elif job.kind == "embed":
            saga.filling.submit(job.session)
            saga.filling.hurry()
        elif job.kind == "extract":
            asked.setdefault(job.session, []).append(job.turn)
        else:
            saga.lanes.submit(job.session, [job.turn])
            saga.lanes.hurry(job.session)
    for each, turns in asked.items():
        await saga.extractions.again(each, turns)
    return count
