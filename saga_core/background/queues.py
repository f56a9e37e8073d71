"""What the supervisor knows of each job: its queue of sessions, and where the work in each of them stands."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from attrs import define, field

from saga_core.background.job import Job


@define(eq=False)
class SessionWork:
    """The work of one job in one session."""

    session: str
    asked: bool = True
    """Whether a step was asked for since the last one began."""
    task: asyncio.Task[None] | None = None
    failures: int = 0
    """Steps in a row that failed."""
    reason: str = ""
    """Why the last one failed."""
    rest: asyncio.TimerHandle | None = None
    """While it pauses after a failure, or until its next step is due."""
    retries: bool = False
    """Whether the pause is one after a failure."""
    settled: asyncio.Event = field(factory=asyncio.Event)
    """Set when the step under way is over."""


@define(eq=False)
class JobQueue:
    """One job, and its work in each session."""

    job: Job
    sessions: OrderedDict[str, SessionWork] = field(factory=OrderedDict)
    failures: int = 0
    """Steps in a row that failed, over all sessions."""
    rest: asyncio.TimerHandle | None = None
    """While a job that rests as one pauses."""
    done: int = 0
    closed: bool = False

    def running(self) -> int:
        return sum(work.task is not None for work in self.sessions.values())

    def is_full(self) -> bool:
        return self.job.at_once is not None and self.running() >= self.job.at_once

    def rests(self, work: SessionWork) -> bool:
        return work.rest is not None or self.rest is not None
