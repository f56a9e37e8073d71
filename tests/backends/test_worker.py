"""The worker thread: order, results, cancelled waiters, and its end."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any, NoReturn

import pytest

from saga_backends.worker import Worker
from saga_core.errors import Closed


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    unheard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: unheard.append(context))
    made = Worker("test")
    yield made
    await made.aclose()
    assert unheard == [], "a callback of the loop failed"


async def test_results_and_arguments_come_through(worker: Worker) -> None:
    assert await worker.run(divmod, 17, 5) == (3, 2)
    assert await worker.run(sorted, [1, 3, 2], reverse=True) == [3, 2, 1]
    assert await worker.run(dict[str, int]().get, "absent") is None


async def test_everything_runs_on_one_thread_in_order(worker: Worker) -> None:
    seen: list[tuple[int, int]] = []

    def note(n: int) -> None:
        seen.append((n, threading.get_ident()))

    await asyncio.gather(*(worker.run(note, n) for n in range(100)))
    assert [n for n, _ in seen] == list(range(100))
    assert {ident for _, ident in seen} == {worker._thread.ident}
    assert worker._thread.daemon


async def test_exceptions_come_back_and_the_thread_goes_on(worker: Worker) -> None:
    def fail(kind: type[BaseException]) -> NoReturn:
        raise kind("no")

    for kind in (ValueError, SystemExit, KeyboardInterrupt):
        with pytest.raises(kind, match="no"):
            await worker.run(fail, kind)
    with pytest.raises(RuntimeError, match=r"StopIteration\('no'\)"):
        await worker.run(fail, StopIteration)
    assert await worker.run(abs, -1) == 1


async def test_a_job_completes_without_the_one_who_waited(worker: Worker) -> None:
    gate, done = threading.Event(), list[str]()

    def note(what: str) -> None:
        gate.wait()
        done.append(what)

    running = asyncio.ensure_future(worker.run(note, "running"))
    queued = asyncio.ensure_future(worker.run(note, "queued"))
    await asyncio.sleep(0)
    for task in (running, queued):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    gate.set()
    assert await worker.run(abs, -1) == 1
    assert done == ["running", "queued"]


async def test_a_dropped_failure_harms_nobody(worker: Worker) -> None:
    gate = threading.Event()

    def fail() -> None:
        gate.wait()
        raise ValueError("nobody waits for this")

    task = asyncio.ensure_future(worker.run(fail))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()
    assert await worker.run(abs, -1) == 1


async def test_closing_waits_for_what_is_queued() -> None:
    worker, gate, done = Worker("test"), threading.Event(), list[int]()

    def note(n: int) -> None:
        gate.wait()
        done.append(n)

    jobs = [asyncio.ensure_future(worker.run(note, n)) for n in range(3)]
    await asyncio.sleep(0)
    closing = [asyncio.ensure_future(worker.aclose()) for _ in range(2)]
    await asyncio.sleep(0)
    assert worker.closed
    with pytest.raises(Closed, match="test is closed"):
        await worker.run(abs, 1)
    gate.set()
    await asyncio.gather(*closing, *jobs)
    await worker.aclose()
    assert done == [0, 1, 2]
    assert not worker._thread.is_alive()


async def test_two_that_shut_it_at_once_close_once() -> None:
    worker, seen = Worker("shut"), list[str]()
    await asyncio.gather(
        worker.run(seen.append, "a job"), *(worker.shut(partial(seen.append, "close")) for _ in range(2))
    )
    assert seen == ["a job", "close"]
    assert not worker._thread.is_alive()


async def test_a_job_after_the_first_shut_is_refused() -> None:
    worker = Worker("shut")
    shutting = asyncio.create_task(worker.shut(lambda: None))
    await asyncio.sleep(0)
    with pytest.raises(Closed, match="shut is closed"):
        await worker.run(abs, -1)
    await shutting


async def test_a_cancelled_closing_can_be_waited_for_again() -> None:
    worker, gate = Worker("test"), threading.Event()
    job = asyncio.ensure_future(worker.run(gate.wait))
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(worker.aclose())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert worker._thread.is_alive()
    gate.set()
    assert await job
    await worker.aclose()
    assert not worker._thread.is_alive()


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Without it a cycle of references would be found sooner or later; here it must not arise."""
    gc.disable()
    yield
    gc.enable()


class Held:
    def give(self) -> int:
        return 1

    def fail(self) -> int:
        raise ValueError("with a traceback that refers to self")


@pytest.mark.parametrize("fails", [False, True])
async def test_what_a_job_held_is_let_go(worker: Worker, no_collector: None, fails: bool) -> None:
    held = Held()
    gone = threading.Event()
    weakref.finalize(held, gone.set)
    try:
        await worker.run(held.fail if fails else held.give)
    except ValueError:
        assert fails
    del held
    assert await asyncio.to_thread(gone.wait, 5), "somebody keeps it"


async def test_one_that_was_never_closed_warns_and_ends() -> None:
    worker = Worker("forgotten")
    thread = worker._thread
    await worker.run(abs, 1)
    with pytest.warns(ResourceWarning, match="'forgotten' was never closed"):
        del worker
        gc.collect()
    await asyncio.to_thread(thread.join)


def test_a_loop_that_ended_first_leaves_the_thread_working() -> None:
    worker, gate = Worker("test"), threading.Event()

    async def leave() -> None:
        task = asyncio.ensure_future(worker.run(gate.wait))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    gate.set()

    async def come_back() -> int:
        try:
            return await worker.run(abs, -2)
        finally:
            await worker.aclose()

    assert asyncio.run(come_back()) == 2
