"""A thread for an engine whose connection belongs to one thread, or whose calls block."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import warnings
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from attrs import frozen

from saga_core.errors import Closed

P = ParamSpec("P")
T = TypeVar("T")


@frozen(eq=False)
class _Job:
    call: Callable[[], Any]
    future: asyncio.Future[Any]


class Worker:
    """One daemon thread that runs callables in the order in which they were given to it.

    ``run`` costs one hop to the thread and one back. A job that was given is run, whatever becomes of the task
    that awaits it: when that is cancelled the job still completes, and its result is dropped. Belongs to the
    event loop that uses it. A worker that is never closed ends with its last reference, with a ``ResourceWarning``.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._ended: concurrent.futures.Future[None] = concurrent.futures.Future()
        # The thread knows the queue and not this object, so that an unclosed worker can be collected.
        self._thread = threading.Thread(target=_work, args=(self._jobs, self._ended), name=f"saga-{name}", daemon=True)
        self._thread.start()
        self._closing = False

    @property
    def closed(self) -> bool:
        """Whether ``aclose`` was called."""
        return self._closing

    async def run(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``fn(*args, **kwargs)`` gives or raises on the thread. Raises ``Closed`` after ``aclose``."""
        if self._closing:
            raise Closed(f"{self._name} is closed")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(lambda: fn(*args, **kwargs), future))
        try:
            return await future
        finally:
            del future  # a failure's traceback refers to this frame, and the future to the failure

    async def aclose(self) -> None:
        """Run what is queued, then end the thread. A second call waits for the same end."""
        if not self._closing:
            self._closing = True
            self._jobs.put(None)
        await asyncio.shield(asyncio.wrap_future(self._ended))
        self._thread.join()

    def __del__(self) -> None:
        # A thread that could not be started leaves an object without the flag.
        if not getattr(self, "_closing", True):
            self._jobs.put(None)
            warnings.warn(f"worker {self._name!r} was never closed", ResourceWarning, stacklevel=2, source=self)


def _work(jobs: SimpleQueue[_Job | None], ended: concurrent.futures.Future[None]) -> None:
    try:
        while (job := jobs.get()) is not None:
            _perform(job)
            del job  # else its callable, and whatever that refers to, would live until the next one comes
    finally:
        ended.set_result(None)


def _perform(job: _Job) -> None:
    result: Any = None
    error: BaseException | None = None
    try:
        result = job.call()
    except StopIteration as caught:
        error = RuntimeError(f"a job raised {caught!r}")  # which itself no future can carry
        error.__cause__ = caught
    except BaseException as caught:  # noqa: BLE001 - it is the caller's, and goes there
        error = caught
    try:
        _deliver(job.future, result, error)
    finally:
        # The failure's traceback refers to this frame, and the future to the failure.
        error = None
        del job


def _deliver(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    loop = future.get_loop()
    try:
        loop.call_soon_threadsafe(_settle, future, result, error)
    except RuntimeError:
        # The loop closed while the job ran: nobody is left to tell.
        if not loop.is_closed():
            raise


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return  # a cancelled waiter has gone; the job is done all the same
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
