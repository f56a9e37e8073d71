"""Quiet: who waits for whom."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from saga_core.background import Foreground


async def settled(task: asyncio.Task[None]) -> bool:
    for _ in range(5):
        await asyncio.sleep(0)
    return task.done()


async def test_a_background_call_waits_for_every_narration_of_its_upstream() -> None:
    quiet = Foreground()
    async with AsyncExitStack() as other, AsyncExitStack() as one, AsyncExitStack() as two:
        await other.enter_async_context(quiet.narrating("elsewhere"))
        assert quiet.is_free("here")
        await quiet.wait_until_free("here")
        await one.enter_async_context(quiet.narrating("here"))
        await two.enter_async_context(quiet.narrating("here"))
        assert not quiet.is_free("here")
        task = asyncio.create_task(quiet.wait_until_free("here"))
        assert not await settled(task)
        await one.aclose()
        assert not await settled(task)
        await two.aclose()
        assert await settled(task)


async def test_a_narration_that_has_no_name_may_be_at_any_upstream() -> None:
    quiet = Foreground()
    async with quiet.narrating():
        assert not quiet.is_free("here")
    async with quiet.narrating("here"):
        assert not quiet.is_free("")
        assert quiet.is_free("there")
    assert quiet.is_free("")


async def test_narrations_without_a_pause_between_them_do_not_starve_the_background() -> None:
    quiet = Foreground(narration_patience=0.01)
    first, second = AsyncExitStack(), AsyncExitStack()
    await first.enter_async_context(quiet.narrating("here"))
    task = asyncio.create_task(quiet.wait_until_free("here"))
    assert not await settled(task)
    await second.enter_async_context(quiet.narrating("here"))
    await first.aclose()
    assert not await settled(task)
    await asyncio.wait_for(task, 5)
    assert not quiet.is_free("here")
    await second.aclose()


async def test_one_long_narration_is_waited_for_to_its_end() -> None:
    quiet = Foreground(narration_patience=0.0)
    async with quiet.narrating("here"):
        task = asyncio.create_task(quiet.wait_until_free("here"))
        assert not await settled(task)
    await asyncio.wait_for(task, 5)


async def test_a_narration_that_fails_is_over() -> None:
    quiet = Foreground()
    try:
        async with quiet.narrating("here"):
            raise RuntimeError("upstream is gone")
    except RuntimeError:
        assert quiet.is_free("here")
