"""The base class of background jobs in ``saga_core.jobs``, and its contract with the supervisor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Protocol

from attrs import frozen

from saga_core.errors import SagaError, in_words

_DOUBLINGS = 16


@frozen
class Retry:
    """Exponential backoff. ``first`` and ``longest`` are seconds."""

    first: float = 0.5
    longest: float = 60.0

    def pause(self, failures: int, asked: float = 0.0) -> float:
        """Return the pause in seconds after ``failures`` failures in a row.

        It is at least the ``asked`` seconds of a provider, but never more than ``longest``.
        """
        doubled = self.first * 2.0 ** min(max(failures, 1) - 1, _DOUBLINGS)
        return min(self.longest, max(doubled, asked))


@frozen
class Waiting:
    """Pending work and the reason."""

    session: str
    turn: str
    kind: str
    reason: str


@frozen
class Step:
    """The result of one step of a job."""

    more: bool = False
    """Whether the session has more work to do at once. Otherwise the job pauses there until it is asked again."""
    done: int = 0
    """The number of finished units of work, mostly turns."""
    again_in: float | None = None
    """Seconds after which the next step runs by itself."""


DONE = Step()


class Scheduler(Protocol):
    """The interface of the supervisor for its jobs."""

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs in the order of their dependencies."""
        ...

    def ask(self, job: Job, session: str, *, first: bool | None = None, after: float = 0.0) -> None:
        """Request a step in a session, before (``first``) or behind other sessions, in ``after`` seconds."""
        ...

    def retry_now(self, job: Job, session: str | None = None) -> None:
        """End the pauses of a job, or of its work in one session."""
        ...

    def is_running(self, job: Job, session: str) -> bool:
        """Whether a step of the job is running in a session."""
        ...

    def failures(self, job: Job) -> dict[str, tuple[int, str]]:
        """Return the sessions in which the job's last step failed, with the failures in a row and the reason."""
        ...

    async def give_up(self, job: Job, session: str) -> None:
        """Cancel a job's work in a session and forget it."""
        ...


class InSections(Enum):
    """How a job behaves during an exclusive section of a session (``Supervisor.exclusive``)."""

    GOES_ON = "goes on"
    """Steps continue. The job itself enters a section to write."""
    RESTS = "rests"
    """No step begins during a section."""
    AWAITED = "awaited"
    """No step begins during a section, and a section waits for the running step."""


class Job:
    """One kind of background work. ``step`` does the next piece of one session's work.

    The supervisor does the rest: one step of a session at a time, retries with growing pauses, exclusive sections,
    draining, waiting and closing. Work outlives the process only if the job finds it again in ``resume``.
    """

    kind: str
    """The name of the job in lists of pending work."""
    counter: str
    """The prefix of its counters: ``<counter>.failures``, ``<counter>.retries``."""
    mode: str
    """The degraded mode while its steps fail."""
    retry: Retry = Retry()
    at_once: int | None = None
    """Concurrent steps over all sessions; None: no limit."""
    patience: float | None = None
    """The timeout of one step in seconds; None: no limit."""
    in_order: bool = False
    """With ``at_once``: whether each session is finished before the next begins, instead of taking turns."""
    rests_as_one: bool = False
    """Whether a failure pauses the work of all sessions, because they depend on the same service."""
    in_sections: InSections = InSections.GOES_ON
    finishes_at_close: bool = False
    """Whether closing waits for its work. Otherwise a running step is cancelled."""
    keeps_loaded: bool = True
    """Whether a session with a running step must stay in memory."""
    keeps_queued_loaded: bool = False
    """Whether a session that waits for a step must stay in memory, too."""

    scheduler: Scheduler
    """Set by the supervisor to which the job is added."""

    def wake(self, session: str, *, first: bool | None = None, after: float = 0.0) -> None:
        """Request a step in a session. See ``Scheduler.ask``."""
        self.scheduler.ask(self, session, first=first, after=after)

    async def step(self, session: str) -> Step:
        """Do the next piece of work. After any exception the step is retried."""
        raise NotImplementedError

    async def resume(self) -> None:
        """Resume the work that an earlier process left."""

    async def take_up(self, session: str) -> None:
        """Resume the work that another server left in a session."""

    async def before_drain(self) -> None:
        """Request all work that should be done now, because draining is about to begin."""

    def waiting(self, reasons: Mapping[str, str]) -> Iterable[Waiting]:
        """Return pending work. ``reasons`` maps each session to its last failure, or to "" if it is just queued."""
        return [Waiting(session, "", self.kind, reason or "queued") for session, reason in reasons.items()]

    def depth(self) -> int:
        """Return the number of waiting turns, for the status."""
        return 0

    def reason(self, error: Exception) -> str:
        """Return why a step failed, as text."""
        return in_words(error)

    def degraded(self, session: str, reason: str) -> str:
        """Return the text of the degraded mode while steps fail."""
        return f"session {session}: {reason}"

    def is_expected(self, error: Exception) -> bool:
        """Whether an error explains itself, so that the log needs no traceback."""
        return isinstance(error, SagaError | TimeoutError)

    def forget(self, session: str) -> None:
        """Forget the queued work of a session that is about to be removed, or that another server has taken over."""

    async def aclose(self) -> None:
        """Release resources. No step follows."""
