"""A worker thread for engines whose connections belong to one thread or whose calls block."""

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
    """One daemon thread that runs callables in the order in which they were submitted.

    ``run`` costs one hop to the thread and one back. A submitted job always runs to completion. If the task that awaits
    it is cancelled, its result is dropped. A worker belongs to the event loop that uses it. If a worker is never
    closed, its thread ends when the last reference goes away, and a ``ResourceWarning`` is issued.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._ended: concurrent.futures.Future[None] = concurrent.futures.Future()
        # The thread refers to the queue and not to this object, so that an unclosed worker can be garbage-collected.
        self._thread = threading.Thread(target=_work, args=(self._jobs, self._ended), name=f"saga-{name}", daemon=True)
        self._thread.start()
        self._closing = False

    @property
    def closed(self) -> bool:
        """Whether ``shut`` or ``aclose`` has been called."""
        return self._closing

    async def run(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``fn(*args, **kwargs)`` on the thread and return its result, or raise its exception.

        Raises ``Closed`` after ``shut`` or ``aclose``.
        """
        if self._closing:
            raise Closed(f"{self._name} is closed")
        future = self._submit(lambda: fn(*args, **kwargs))
        try:
            return await future
        finally:
            del future  # breaks a reference cycle: the future refers to the exception, whose traceback refers here

    def _submit(self, call: Callable[[], T]) -> asyncio.Future[T]:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(call, future))
        return future

    async def shut(self, close: Callable[[], None]) -> None:
        """Run the queued jobs and ``close``, then end the thread. Further calls only wait for that.

        From the first call on, ``run`` raises ``Closed``.
        """
        if self._closing:
            await self.aclose()
            return
        self._closing = True
        closed = self._submit(close)
        self._jobs.put(None)
        try:
            await closed
        finally:
            del closed
            await self.aclose()

    async def aclose(self) -> None:
        """Run the queued jobs, then end the thread. Further calls also wait until the thread has ended."""
        if not self._closing:
            self._closing = True
            self._jobs.put(None)
        await asyncio.shield(asyncio.wrap_future(self._ended))
        self._thread.join()

    def __del__(self) -> None:
        # If the thread could not be started, the attribute does not exist.
        if not getattr(self, "_closing", True):
            self._jobs.put(None)
            warnings.warn(f"worker {self._name!r} was never closed", ResourceWarning, stacklevel=2, source=self)


def _work(jobs: SimpleQueue[_Job | None], ended: concurrent.futures.Future[None]) -> None:
    try:
        while (job := jobs.get()) is not None:
            _perform(job)
            del job  # otherwise the callable and everything it refers to would stay alive until the next job
    finally:
        ended.set_result(None)


def _perform(job: _Job) -> None:
    result: Any = None
    error: BaseException | None = None
    try:
        result = job.call()
    except StopIteration as caught:
        error = RuntimeError(f"a job raised {caught!r}")  # a future cannot carry a StopIteration
        error.__cause__ = caught
    except BaseException as caught:  # noqa: BLE001 - passed on to the caller
        error = caught
    try:
        _deliver(job.future, result, error)
    finally:
        # Break a reference cycle: the future refers to the exception, whose traceback refers to this frame.
        error = None
        del job


def _deliver(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    loop = future.get_loop()
    try:
        loop.call_soon_threadsafe(_settle, future, result, error)
    except RuntimeError:
        # If the loop was closed while the job ran, nothing can receive the result.
        if not loop.is_closed():
            raise


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return  # the waiting task was cancelled; the job has run all the same
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
