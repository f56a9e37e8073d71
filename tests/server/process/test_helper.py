"""The process that reads what is large: where work runs, what it may take, and when it ends."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from saga_core.counters import Counters
from saga_server.http import RequestError, read_json
from saga_server.http.json_body import MAX_NODES
from saga_server.process import Helper, TooMuch, helper_child

pytestmark = pytest.mark.skipif(os.name != "posix", reason="threads do its work there")


@asynccontextmanager
async def helping(seconds: float = 60.0, idle_seconds: float = 60.0) -> AsyncIterator[Helper]:
    """A helper that runs."""
    helper = Helper(seconds, ("saga_server.http.json_body",), idle_seconds)
    try:
        assert await helper.run(os.getpid) == os.getpid(), "until it runs, a thread does its work"
        await until(lambda: helper.process is not None)
        yield helper
    finally:
        await helper.aclose()
        assert helper.process is None


async def until(met: Callable[[], bool]) -> None:
    while not met():  # noqa: ASYNC110 - what a process does sets no event here
        await asyncio.sleep(0.01)


async def test_work_is_done_there_and_in_a_thread_while_it_is_busy() -> None:
    async with helping() as helper:
        assert await helper.run(os.getpid) == helper.process
        long = asyncio.create_task(helper.run(time.sleep, 0.2))
        await asyncio.sleep(0)
        assert await helper.run(os.getpid) == os.getpid()
        assert await helper.run(threading.get_ident) != threading.get_ident()
        await long
        assert await helper.run(os.getpid) == helper.process


async def test_what_is_huge_waits_for_it() -> None:
    helper = Helper(60.0)
    both = await asyncio.gather(helper.run(os.getpid, waits=True), helper.run(os.getpid, waits=True))
    assert set(both) == {helper.process}
    await helper.aclose()
    assert await helper.run(os.getpid, waits=True) == os.getpid(), "where there is none any more, a thread does"


async def test_who_goes_away_leaves_it_busy_until_its_work_is_done() -> None:
    async with helping() as helper:
        long = asyncio.create_task(helper.run(time.sleep, 0.2))
        await asyncio.sleep(0)
        long.cancel()
        await asyncio.gather(long, return_exceptions=True)
        assert await helper.run(os.getpid) == os.getpid()
        await until(lambda: not helper._busy)
        assert await helper.run(os.getpid) == helper.process, "no answer is taken for another's"


async def test_what_takes_too_long_ends_with_its_process() -> None:
    async with helping(seconds=0.1) as helper:
        with pytest.raises(TooMuch, match=r"0\.1 s"):
            await helper.run(time.sleep, 3_600)
        assert helper.process is None
        helper.seconds = 60.0
        assert await helper.run(os.getpid) == os.getpid()
        await until(lambda: helper.process is not None)
        assert await helper.run(os.getpid) == helper.process


async def test_what_takes_too_much_memory_is_refused() -> None:
    async with helping() as helper:
        with pytest.raises(TooMuch, match="2048 MB"):
            await helper.run(bytes, helper_child.MEMORY_BYTES + 1)
        assert await helper.run(os.getpid) == helper.process


async def test_a_refusal_comes_back_as_it_is_and_a_fault_in_words() -> None:
    async with helping() as helper:
        with pytest.raises(RequestError, match="values") as told:
            await helper.run(read_json, b"[" + b"1," * (MAX_NODES + 9) + b"1]")
        assert (told.value.status, told.value.param) == (413, "body")
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            await helper.run(divmod, 1, 0)
        assert await helper.run(read_json, b'{"a": [1, "\\u00e9"]}') == {"a": [1, "é"]}


async def test_it_ends_when_nothing_comes() -> None:
    async with helping(seconds=0.2, idle_seconds=0.0) as helper:
        first = helper.process
        await until(lambda: helper.process is None)
        await helper.run(os.getpid)
        await until(lambda: helper.process is not None)
        assert helper.process != first


async def test_it_ends_with_the_one_who_started_it() -> None:
    async with helping() as helper:
        child = helper._child
        assert child is not None and child.stdin is not None
        child.stdin.close()
        await until(lambda: child.poll() is not None)
        assert child.returncode == 0


async def test_one_that_cannot_be_started_is_done_without_and_told(caplog: pytest.LogCaptureFixture) -> None:
    counters = Counters()
    helper = Helper(1.0, ("saga_server.no_such_module",), counters=counters)
    assert await helper.run(os.getpid) == os.getpid()
    await until(lambda: not helper._starting)
    assert await helper.run(os.getpid) == os.getpid()
    assert await helper.run(os.getpid, waits=True) == os.getpid()
    assert helper.process is None and not helper._starting
    assert counters.counts["large_requests.in_thread"] == 3
    assert "threads read them: it ended before it was ready" in counters.degraded["large_requests"]
    assert "degraded: large_requests" in caplog.text
    await helper.aclose()
