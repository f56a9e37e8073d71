"""A kind of background work: the base class of the jobs in ``saga_core.jobs``, and its contract with the supervisor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Protocol

from attrs import frozen

from saga_core.background.retry import Retry
from saga_core.errors import SagaError, in_words


@frozen
class Waiting:
    """Work that is not done yet, and why."""

    session: str
    turn: str
    kind: str
    reason: str


@frozen
class Step:
    """The result of one step of a job."""

    more: bool = False
    """Whether the session has more to do at once. Otherwise it is left alone until it is asked for again."""
    done: int = 0
    """Units of work that were finished, mostly turns."""
    again_in: float | None = None
    """Seconds after which the next step is due by itself."""


DONE = Step()


class Scheduler(Protocol):
    """The supervisor, as its jobs see it."""

    def ask(self, job: Job, session: str, *, first: bool | None = None, after: float = 0.0) -> None:
        """There is something to do in a session. ``first``: before other sessions, or behind them. ``after``: in so
        many seconds."""
        ...

    def retry_now(self, job: Job, session: str | None = None) -> None:
        """End the pauses of a job, or of its work in one session."""
        ...

    def is_running(self, job: Job, session: str) -> bool:
        """Whether a step of the job is under way in a session."""
        ...

    def failures(self, job: Job) -> dict[str, tuple[int, str]]:
        """The sessions in which the job failed when it was last tried: how often in a row, and why."""
        ...

    async def give_up(self, job: Job, session: str) -> None:
        """End a job's work in a session, and forget it."""
        ...


class InSections(Enum):
    """How a job behaves while a session changes as a whole (``Supervisor.exclusive``)."""

    GOES_ON = "goes on"
    """It takes a section itself when it writes."""
    RESTS = "rests"
    """No step begins during a section."""
    AWAITED = "awaited"
    """No step begins, and a section waits for the one that is under way."""


class Job:
    """One kind of work. ``step`` does the next piece of one session's work. The supervisor does everything else: one
    step of a session at a time, retries with growing pauses, exclusive sections, draining, waiting and closing.

    Work outlives the process only if the job finds it again in ``resume``.
    """

    kind: str
    """Names it in lists of waiting work."""
    counter: str
    """Prefix of its counters: ``<counter>.failures``, ``<counter>.retries``."""
    mode: str
    """The degraded mode while its steps fail."""
    retry: Retry = Retry()
    at_once: int | None = None
    """Steps at the same time, over all sessions; None: no limit."""
    patience: float | None = None
    """Seconds that one step may take; None: no limit."""
    in_order: bool = False
    """With ``at_once``: whether the first session is finished before the next begins, instead of taking turns."""
    rests_as_one: bool = False
    """Whether a failure rests the work of all sessions: they depend on the same thing."""
    in_sections: InSections = InSections.GOES_ON
    finishes_at_close: bool = False
    """Whether closing waits for its work. Otherwise a step under way is given up."""
    keeps_loaded: bool = True
    """Whether a session with a step under way must stay in memory."""
    keeps_queued_loaded: bool = False
    """Whether one that waits for a step must stay, too."""

    scheduler: Scheduler
    """Set by the supervisor that the job is added to."""

    def wake(self, session: str, *, first: bool | None = None, after: float = 0.0) -> None:
        """There is something to do in a session: see ``Scheduler.ask``."""
        self.scheduler.ask(self, session, first=first, after=after)

    async def step(self, session: str) -> Step:
        """Do the next piece of work. Whatever it raises is tried again."""
        raise NotImplementedError

    async def resume(self) -> None:
        """Take up what the process before left."""

    async def take_up(self, session: str) -> None:
        """Take up what another server left in a session."""

    async def before_drain(self) -> None:
        """Draining is about to begin: ask for everything that should be done now."""

    def waiting(self, reasons: Mapping[str, str]) -> Iterable[Waiting]:
        """What is not done. ``reasons``: session to why its last step failed, and "" for one that waits its turn."""
        return [Waiting(session, "", self.kind, reason or "queued") for session, reason in reasons.items()]

    def depth(self) -> int:
        """Turns that wait, for the status."""
        return 0

    def reason(self, error: Exception) -> str:
        """Why a step failed, in words."""
        return in_words(error)

    def degraded(self, session: str, reason: str) -> str:
        """The degraded mode in words, while steps fail."""
        return f"session {session}: {reason}"

    def is_expected(self, error: Exception) -> bool:
        """Whether an error says by itself what is wrong, so that the log needs no traceback."""
        return isinstance(error, SagaError | TimeoutError)

    def forget(self, session: str) -> None:
        """The session is about to go: forget what it was to get."""

    async def aclose(self) -> None:
        """No step follows."""
