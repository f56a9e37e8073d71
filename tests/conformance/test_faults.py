"""Stores that fail on purpose do just that."""

from __future__ import annotations

import asyncio

import pytest

from conformance.faults import delay, fail_after, fail_before, faulty, hang
from saga_backends.memory import MemoryState
from saga_core.errors import StoreError, StoreUnavailable
from saga_core.stores.state_kv import Batch

BATCH = Batch({("a",): b"1"})


async def test_failing_before_changes_nothing() -> None:
    store = faulty(MemoryState(), fail_before("commit"))
    with pytest.raises(StoreUnavailable, match="commit: failed on purpose"):
        await store.commit(BATCH)
    assert await store.scan(()) == []


async def test_failing_after_has_changed_it() -> None:
    store = faulty(MemoryState(), fail_after("commit", StoreError("the disk said no")))
    with pytest.raises(StoreError, match="the disk said no"):
        await store.commit(BATCH)
    assert await store.scan(()) == [(("a",), b"1")]


async def test_only_the_calls_that_it_was_laid_on() -> None:
    fault = fail_before("commit", first=2, times=1)
    store = faulty(MemoryState(), fault)
    await store.commit(BATCH)
    with pytest.raises(StoreUnavailable):
        await store.commit(BATCH)
    await store.commit(BATCH)
    assert (fault.seen, fault.struck) == (3, 1)


async def test_of_two_faults_the_first_strikes() -> None:
    store = faulty(MemoryState(), fail_before("get", times=1), fail_before("get", StoreError("second")))
    with pytest.raises(StoreUnavailable):
        await store.get([])
    with pytest.raises(StoreError, match="second"):
        await store.get([])


async def test_a_delay_waits_for_the_test() -> None:
    go = asyncio.Event()
    store = faulty(MemoryState(), delay("commit", go))
    writing = asyncio.ensure_future(store.commit(BATCH))
    await asyncio.sleep(0)
    assert await store.scan(()) == []
    go.set()
    await writing
    assert await store.scan(()) == [(("a",), b"1")]


async def test_what_hangs_ends_when_it_is_cancelled() -> None:
    store = faulty(MemoryState(), hang("commit"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await store.commit(BATCH)
    assert await store.scan(()) == []
    assert store.info.name == "memory"
