"""Background work: the supervisor, the base classes of jobs, session locks, retries, and foreground priority."""

from __future__ import annotations

from saga_core.background.foreground import Foreground
from saga_core.background.job import DONE, InSections, Job, Retry, Step, Waiting
from saga_core.background.locks import SessionLocks
from saga_core.background.supervisor import DrainReport, Supervisor

__all__ = [
    "DONE",
    "DrainReport",
    "Foreground",
    "InSections",
    "Job",
    "Retry",
    "SessionLocks",
    "Step",
    "Supervisor",
    "Waiting",
]
