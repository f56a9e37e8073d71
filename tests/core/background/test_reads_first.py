"""Background work gives way to requests that are being read for."""

from __future__ import annotations

import asyncio

from saga_core.background import Foreground


async def test_background_work_waits_for_the_end_of_reading() -> None:
    reads, done = Foreground(read_patience=60.0), list[str]()

    async def behind() -> None:
        await reads.give_way()
        done.append("behind")

    with reads.reading():
        with reads.reading():
            task = asyncio.create_task(behind())
            for _ in range(5):
                await asyncio.sleep(0)
        for _ in range(5):
            await asyncio.sleep(0)
        done.append("read")
    await task
    assert done == ["read", "behind"]


async def test_reading_without_end_holds_nothing_up() -> None:
    reads = Foreground(read_patience=0.001)
    with reads.reading():
        await reads.give_way()
        await reads.give_way()


async def test_a_read_that_fails_is_over() -> None:
    reads = Foreground(read_patience=60.0)
    try:
        with reads.reading():
            raise ZeroDivisionError
    except ZeroDivisionError:
        await reads.give_way()


async def test_without_reads_others_have_their_turn() -> None:
    reads, seen = Foreground(), list[int]()

    async def other() -> None:
        seen.append(1)

    task = asyncio.create_task(other())
    await reads.give_way()
    assert seen == [1]
    await task
