"""Background work: jobs, the supervisor that runs them, session locks, and the priority of the foreground.

Work is requested for a job in a session. The job then works in steps, one at a time for each session. A failed step is
retried after a growing pause. An operation on a whole session enters an exclusive section, in which the jobs that
render its views rest. Jobs are kept in the order of their dependencies and are drained in that order.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from enum import Enum
from typing import Protocol

from attrs import define, field, frozen

from saga_core.counters import Counters, set_log_context
from saga_core.errors import LeaseLost, SagaError, in_words
from saga_core.foreign import foreign

# -- the foreground --------------------------------------------------------------------------------------------
#
# Foreground priority: requests of players go before background work.
#
# Two things are protected. Reading a context takes about twenty steps of the event loop, and with many active sessions
# the background work of others would run between any two of them. And a background call to a model would take the place
# of a narration at the same upstream.

READ_PATIENCE = 0.1
"""Seconds for which work gives way to reads at a time, so that continuous requests do not starve it."""
NARRATION_PATIENCE = 30.0
"""Seconds for which a call waits for a free upstream, after all narrations that ran at first have ended."""


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@define(eq=False)
class Foreground:
    """The reads and narrations in progress."""

    read_patience: float = READ_PATIENCE
    narration_patience: float = NARRATION_PATIENCE
    _reads: int = 0
    _no_reads: asyncio.Event = field(factory=_set)
    _narrations: dict[object, str] = field(factory=dict)
    """A token for each running narration -> its upstream. A narration without a name may run at any upstream."""
    _changed: asyncio.Event = field(factory=asyncio.Event)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Mark that the context of a request is being read."""
        self._reads += 1
        self._no_reads.clear()
        try:
            yield
        finally:
            self._reads -= 1
            if not self._reads:
                self._no_reads.set()

    async def give_way(self) -> None:
        """Let other tasks run and wait for running reads, at most ``read_patience``.

        Background work calls this between two steps of some milliseconds each.
        """
        await asyncio.sleep(0)
        if self._reads:
            try:
                async with asyncio.timeout(self.read_patience):
                    await self._no_reads.wait()
            except TimeoutError:
                return

    @asynccontextmanager
    async def narrating(self, upstream: str = "") -> AsyncIterator[None]:
        """Mark that a narration runs at ``upstream``."""
        token = object()
        self._narrations[token] = upstream
        try:
            yield
        finally:
            del self._narrations[token]
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()

    def is_free(self, upstream: str) -> bool:
        """Whether no narration runs at ``upstream``."""
        return not self._at(upstream)

    def _at(self, upstream: str) -> set[object]:
        return {token for token, name in self._narrations.items() if not name or not upstream or name == upstream}

    async def wait_until_free(self, upstream: str) -> None:
        """Wait until no narration runs at ``upstream``. The wait is bounded even if narrations follow without a gap."""
        first = self._at(upstream)
        while first & self._at(upstream):
            await self._changed.wait()
        try:
            async with asyncio.timeout(self.narration_patience):
                while self._at(upstream):
                    await self._changed.wait()
        except TimeoutError:
            return


# -- session locks ---------------------------------------------------------------------------------------------


@define(eq=False, kw_only=True)
class _Lock:
    users: int = 0
    """The number of tasks that wait for it or hold it. It is removed when there are none."""
    section: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by the running section."""
    writing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by the writer of the session's journal."""
    holds: int = 0
    """The number of running and waiting sections."""
    closed: bool = False
    """Whether a section is running that changes the session's journal."""


@define(eq=False)
class SessionLocks:
    """One lock for each session in use."""

    changes: int = 0
    """Grows at the beginning and the end of each closed section."""
    _locks: dict[str, _Lock] = field(factory=dict)
    _on_release: list[Callable[[], None]] = field(factory=list)

    def __contains__(self, session: str) -> bool:
        return session in self._locks

    @asynccontextmanager
    async def _at(self, session: str) -> AsyncIterator[_Lock]:
        lock = self._locks.setdefault(session, _Lock())
        lock.users += 1
        try:
            yield lock
        finally:
            lock.users -= 1
            if not lock.users:
                del self._locks[session]

    @asynccontextmanager
    async def writing(self, session: str) -> AsyncIterator[None]:
        """Hold the write lock of the session's journal. It is exclusive, also against closed sections."""
        async with self._at(session) as lock, lock.writing:
            yield

    @asynccontextmanager
    async def holding(self, session: str) -> AsyncIterator[None]:
        """Hold an exclusive section. Background work that rests in sections cannot begin."""
        async with self._at(session) as lock:
            lock.holds += 1
            try:
                async with lock.section:
                    yield
            finally:
                lock.holds -= 1
                if not lock.holds:
                    for listener in self._on_release:
                        listener()

    @asynccontextmanager
    async def closing(self, session: str) -> AsyncIterator[None]:
        """Close the session's journal to all others. Use this within ``holding``."""
        async with self._at(session) as lock, lock.writing:
            lock.closed = True
            self.changes += 1
            try:
                yield
            finally:
                lock.closed = False
                self.changes += 1

    def on_release(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever a session is no longer held."""
        self._on_release.append(listener)

    def held(self, session: str) -> bool:
        """Whether background work that rests in sections must not begin."""
        lock = self._locks.get(session)
        return lock is not None and lock.holds > 0

    async def opened(self, session: str) -> None:
        """Wait until the session's journal is not closed."""
        lock = self._locks.get(session)
        if lock is not None and lock.closed:
            async with self.writing(session):
                pass

    async def changed(self, since: int) -> bool:
        """Whether a session was closed since ``changes`` was ``since``. Waits for sessions that are closed now."""
        closed = [session for session, lock in self._locks.items() if lock.closed]
        for session in closed:
            await self.opened(session)
        return bool(closed) or self.changes != since


# -- jobs ------------------------------------------------------------------------------------------------------

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

    scheduler: Scheduler
    """Set by the supervisor to which the job is added."""

    @property
    def keeps_queued_loaded(self) -> bool:
        """Whether a session that waits for a step must stay in memory, too."""
        return False

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


# -- queues ----------------------------------------------------------------------------------------------------


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


# -- the supervisor --------------------------------------------------------------------------------------------

log = logging.getLogger("saga.background")


@frozen
class DrainReport:
    """The result of draining."""

    done: int
    waiting: tuple[Waiting, ...] = ()


@define(eq=False)
class Supervisor:
    """Owns every background task. ``jobs`` are in the order of their dependencies."""

    counters: Counters
    locks: SessionLocks = field(factory=SessionLocks)
    may_work: Callable[[str], Awaitable[bool]] | None = None
    """Whether this server may work on a session now, where several share the journal. What it may not do is left to
    the one that does."""
    _queues: dict[str, JobQueue] = field(factory=dict)
    _changed: asyncio.Event = field(factory=asyncio.Event)
    _closed: bool = False

    def __attrs_post_init__(self) -> None:
        self.locks.on_release(self._dispatch_all)

    def add(self, job: Job) -> None:
        """Take in a job; those that it builds on were added before."""
        self._queues[job.kind] = JobQueue(job)
        job.scheduler = self

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs in order."""
        return [queue.job for queue in self._queues.values()]

    async def resume(self) -> None:
        """Let every job resume the work that an earlier process left."""
        for job in self.jobs:
            await job.resume()

    async def take_up(self, session: str) -> None:
        """Let every job resume the work that another server left in a session."""
        for job in self.jobs:
            await job.take_up(session)

    def ask(self, job: Job, session: str, *, first: bool | None = None, after: float = 0.0) -> None:
        """Request work of ``job`` in a session.

        ``first``: before other sessions, or behind them. ``after``: in this many seconds, unless other work is due
        earlier. A pause after a failure is not shortened.
        """
        queue = self._queues[job.kind]
        if self._closed or queue.closed:
            return
        work = queue.sessions.get(session)
        if work is None:
            work = queue.sessions[session] = SessionWork(session)
            if after:
                self._rest(queue, work, after, retries=False)
        else:
            work.asked = True
            if work.rest is not None and not work.retries:
                self._end_rest(work)
        if first is not None:
            queue.sessions.move_to_end(session, last=not first)
        self._dispatch(queue)

    def retry_now(self, job: Job, session: str | None = None) -> None:
        """End the pauses of a job, or of its work in one session."""
        queue = self._queues[job.kind]
        if queue.rest is not None:
            queue.rest.cancel()
            queue.rest = None
        for work in queue.sessions.values():
            if session in (None, work.session) and work.rest is not None:
                self._end_rest(work)
        self._dispatch(queue)

    # -- queries -----------------------------------------------------------------------------------------------

    def busy(self, session: str) -> bool:
        """Whether a session must stay in memory, because it is being written or has running work."""
        if session in self.locks:
            return True
        for queue in self._queues.values():
            work = queue.sessions.get(session)
            if work is not None and (
                queue.job.keeps_queued_loaded or (work.task is not None and queue.job.keeps_loaded)
            ):
                return True
        return False

    def is_rendering(self, session: str) -> bool:
        """Whether the views of a session may be about to change."""
        if session in self.locks:
            return True
        having = [queue for queue in self._queues.values() if session in queue.sessions]
        return any(queue.job.in_sections is InSections.AWAITED for queue in having)

    def is_running(self, job: Job, session: str) -> bool:
        """Whether a step of the job is running in a session."""
        work = self._queues[job.kind].sessions.get(session)
        return work is not None and work.task is not None

    def failures(self, job: Job) -> dict[str, tuple[int, str]]:
        """Return the sessions in which the job's last step failed, with the failures in a row and the reason."""
        sessions = self._queues[job.kind].sessions.values()
        return {work.session: (work.failures, work.reason) for work in sessions if work.failures}

    def pauses(self, job: Job) -> dict[str, float]:
        """Return the sessions in which the job pauses, and the seconds until its next step."""
        now = asyncio.get_running_loop().time()
        sessions = self._queues[job.kind].sessions.values()
        return {work.session: work.rest.when() - now for work in sessions if work.rest is not None}

    def waiting(self) -> tuple[Waiting, ...]:
        """Return pending work and the reasons, as far as known."""
        found: list[Waiting] = []
        for queue in self._queues.values():
            found += queue.job.waiting({work.session: work.reason for work in queue.sessions.values()})
        return tuple(found)

    def depth(self) -> int:
        """The number of turns with pending work."""
        return sum(job.depth() for job in self.jobs)

    @asynccontextmanager
    async def exclusive(self, session: str, *, journal: bool = False, stop: bool = False) -> AsyncIterator[None]:
        """Hold an exclusive section of a session, in which work on its views rests. Queued work continues afterwards.

        The section begins after the running step; only one runs at a time. ``journal``: nothing is recorded in the
        session either, and requests for it wait. ``stop``: cancel the running steps of all jobs instead of waiting,
        and forget their queued work.
        """
        async with self.locks.holding(session), AsyncExitStack() as stack:
            if not stop:
                for work in self._session_work(session, InSections.AWAITED):
                    if work.task is not None:
                        await work.settled.wait()
            if journal:
                await stack.enter_async_context(self.locks.closing(session))
            if stop:
                for job in self.jobs:
                    await self.give_up(job, session)
            yield

    async def give_up(self, job: Job, session: str) -> None:
        """Cancel a job's work in a session and forget it, because (a part of) the session is about to be removed."""
        queue = self._queues[job.kind]
        job.forget(session)
        work = queue.sessions.pop(session, None)
        if work is None:
            return
        if work.rest is not None:
            work.rest.cancel()
        if work.task is not None:
            work.task.cancel()
            await asyncio.gather(work.task, return_exceptions=True)
        self._recover(queue)
        self._changed.set()
        self._dispatch(queue)

    # -- running -----------------------------------------------------------------------------------------------

    def _session_work(self, session: str, behaviour: InSections) -> Iterator[SessionWork]:
        for queue in self._queues.values():
            if queue.job.in_sections is behaviour and session in queue.sessions:
                yield queue.sessions[session]

    def _dispatch_all(self) -> None:
        for queue in self._queues.values():
            self._dispatch(queue)

    def _dispatch(self, queue: JobQueue) -> None:
        """Begin what can begin now."""
        if self._closed or queue.closed or queue.rest is not None:
            return
        for work in list(queue.sessions.values()):
            if queue.is_full():
                return
            if work.task is None and work.rest is None and self._may_begin(queue, work):
                work.settled.clear()
                name = f"saga-{queue.job.kind}-{work.session}"
                work.task = asyncio.create_task(self._run(queue, work), name=name)

    def _may_begin(self, queue: JobQueue, work: SessionWork) -> bool:
        return queue.job.in_sections is InSections.GOES_ON or not self.locks.held(work.session)

    async def _run(self, queue: JobQueue, work: SessionWork) -> None:
        """Steps of one session's work, as long as it has something to do and nobody else has to be let in."""
        set_log_context(request="", session=work.session)
        again = True
        try:
            while again and not queue.rests(work) and self._may_begin(queue, work):
                again = await self._step(queue, work)
                if queue.job.at_once is not None:
                    break
        finally:
            work.task = None
            work.settled.set()
            if queue.sessions.get(work.session) is work and not again and work.rest is None:
                del queue.sessions[work.session]
            elif again and queue.job.at_once is not None and not queue.job.in_order and work.session in queue.sessions:
                queue.sessions.move_to_end(work.session)
            self._recover(queue)
            self._changed.set()
            self._dispatch(queue)

    async def _step(self, queue: JobQueue, work: SessionWork) -> bool:
        """One step; whether another is to follow."""
        job = queue.job
        work.asked = False
        try:
            async with asyncio.timeout(job.patience) as limit:
                if self.may_work is not None and work.session and not await self.may_work(work.session):
                    job.forget(work.session)
                    return False
                with foreign:
                    step = await job.step(work.session)
        except LeaseLost as error:
            # The session's new owner finds its work in the journal.
            self.counters.add(f"{job.counter}.left_to_others")
            log.info("session %s: %s is left to another server: %s", work.session, job.kind, error)
            job.forget(work.session)
            return False
        except Exception as error:  # noqa: BLE001 - any error of a step is reported and retried
            late = isinstance(error, TimeoutError) and limit.expired()
            self._failed(queue, work, error, f"no answer within {job.patience:g} s" if late else "")
            return True
        work.failures, work.reason = 0, ""
        queue.failures = 0
        queue.done += step.done
        self._changed.set()
        if step.again_in is not None:
            self._rest(queue, work, step.again_in, retries=False)
        return step.more or work.asked

    def _failed(self, queue: JobQueue, work: SessionWork, error: Exception, reason: str) -> None:
        job = queue.job
        work.failures += 1
        queue.failures += 1
        work.reason = reason or job.reason(error)
        self.counters.add(f"{job.counter}.failures")
        self.counters.degrade(job.mode, job.degraded(work.session, work.reason))
        log.warning(
            "session %s: %s failed, will be tried again: %s",
            work.session,
            job.kind,
            work.reason,
            exc_info=None if job.is_expected(error) else error,
        )
        asked = getattr(error, "retry_after", None) or 0.0
        if job.rests_as_one:
            pause = job.retry.pause(queue.failures, asked)
            queue.rest = asyncio.get_running_loop().call_later(pause, self._all_rested, queue)
            queue.sessions.move_to_end(work.session)  # a session that keeps failing must not block the others
        else:
            self._rest(queue, work, job.retry.pause(work.failures, asked), retries=True)

    def _rest(self, queue: JobQueue, work: SessionWork, seconds: float, *, retries: bool) -> None:
        work.rest = asyncio.get_running_loop().call_later(seconds, self._rested, queue, work)
        work.retries = retries

    def _rested(self, queue: JobQueue, work: SessionWork) -> None:
        if work.retries:
            self.counters.add(f"{queue.job.counter}.retries")
        work.rest = None
        self._dispatch(queue)

    def _all_rested(self, queue: JobQueue) -> None:
        self.counters.add(f"{queue.job.counter}.retries")
        queue.rest = None
        self._dispatch(queue)

    def _end_rest(self, work: SessionWork) -> None:
        if work.rest is not None:
            work.rest.cancel()
            work.rest = None

    def _recover(self, queue: JobQueue) -> None:
        failing = queue.failures if queue.job.rests_as_one else any(each.failures for each in queue.sessions.values())
        if not failing:
            self.counters.recover(queue.job.mode)

    # -- draining and closing ----------------------------------------------------------------------------------

    async def drain(self, timeout: float, *jobs: Job) -> DrainReport:
        """Do all due work for at most ``timeout`` seconds. Work that pauses after a failure is tried once more.

        ``jobs`` limits this to some jobs. The report lists the work that still waits.
        """
        queues = [queue for queue in self._queues.values() if not jobs or queue.job in jobs]
        before, retried = sum(queue.done for queue in queues), set[tuple[str, str]]()
        try:
            async with asyncio.timeout(timeout):
                for at, queue in enumerate(queues):
                    while True:
                        done = queue.done
                        await queue.job.before_drain()
                        await self._settle(queues[: at + 1], retried)
                        if queue.done == done:
                            break
        except TimeoutError:
            log.info("draining did not finish within %.1f s; turns that wait in the journal: %d", timeout, self.depth())
        return DrainReport(sum(queue.done for queue in queues) - before, self.waiting())

    async def _settle(self, queues: Sequence[JobQueue], retried: set[tuple[str, str]]) -> None:
        """Wait until everything in ``queues`` is done, or rests after it was tried once more."""
        while True:
            self._changed.clear()
            for queue in queues:
                self._retry_once(queue, retried)
            if not any(self._is_due(queue, work) for queue in queues for work in queue.sessions.values()):
                return
            await self._changed.wait()

    def _retry_once(self, queue: JobQueue, retried: set[tuple[str, str]]) -> None:
        kind = queue.job.kind
        if queue.rest is not None and (kind, "") not in retried:
            retried.add((kind, ""))
            self.retry_now(queue.job)
        for work in list(queue.sessions.values()):
            if work.rest is not None and work.retries and (kind, work.session) not in retried:
                retried.add((kind, work.session))
                self.retry_now(queue.job, work.session)

    def _is_due(self, queue: JobQueue, work: SessionWork) -> bool:
        return work.task is not None or not queue.rests(work)

    async def aclose(self, timeout: float) -> DrainReport:
        """Cancel the work that closing does not wait for, finish the rest within ``timeout`` seconds, and stop."""
        finishing = [queue for queue in self._queues.values() if queue.job.finishes_at_close]
        before = sum(queue.done for queue in finishing)
        for queue in self._queues.values():
            if queue not in finishing:
                await self._close(queue)
        if finishing:
            await self.drain(timeout, *(queue.job for queue in finishing))
        report = DrainReport(sum(queue.done for queue in finishing) - before, self.waiting())
        self._closed = True
        for queue in self._queues.values():
            await self._close(queue)
        for job in self.jobs:
            await job.aclose()
        return report

    async def _close(self, queue: JobQueue) -> None:
        queue.closed = True
        if queue.rest is not None:
            queue.rest.cancel()
        tasks: list[asyncio.Task[None]] = []
        for work in queue.sessions.values():
            if work.rest is not None:
                work.rest.cancel()
            if work.task is not None:
                work.task.cancel()
                tasks.append(work.task)
        await asyncio.gather(*tasks, return_exceptions=True)
