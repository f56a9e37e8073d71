"""Merges several replies into one stream of parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing

from saga_core.ports import AdjustedPart, ChatPart, ChatRequest, Usage, UsagePart


def several(
    request: ChatRequest, reply: Callable[[int], AsyncGenerator[ChatPart, None]]
) -> AsyncGenerator[ChatPart, None]:
    """Yield the parts of as many replies as ``request`` asks for, for an API that gives one reply per request.

    ``reply`` starts the reply with the given index.
    """
    count = choices_of(request)
    return merged([reply(index) for index in range(count)]) if count > 1 else reply(0)


def choices_of(request: ChatRequest) -> int:
    """Return how many replies ``request`` asks for."""
    count = request.params.get("n")
    return count if type(count) is int and count > 1 else 1


async def merged(streams: Sequence[AsyncGenerator[ChatPart, None]]) -> AsyncGenerator[ChatPart, None]:
    """Yield the parts of all ``streams`` as they arrive, with one total usage.

    The other streams are started when the first part of the first one arrives. If a stream fails, all are ended. No
    stream is read faster than the parts are consumed.
    """
    arrived: asyncio.Queue[tuple[int, ChatPart | Exception | None]] = asyncio.Queue(maxsize=1)

    async def pump(number: int) -> None:
        end: Exception | None = None
        try:
            async with aclosing(streams[number]) as parts:
                async for part in parts:
                    await arrived.put((number, part))
        except Exception as error:  # noqa: BLE001 - raised again by the consumer
            end = error
        await arrived.put((number, end))

    tasks = [asyncio.create_task(pump(0))]
    bills: dict[int, Usage] = {}
    running = len(streams)
    try:
        while running:
            number, part = await arrived.get()
            if isinstance(part, Exception):
                raise part
            if len(tasks) == 1 and not isinstance(part, AdjustedPart):
                tasks += [asyncio.create_task(pump(other)) for other in range(1, len(streams))]
            if part is None:
                running -= 1
            elif isinstance(part, UsagePart):
                bills[number] = part.usage
                yield UsagePart(_sum(bills.values()))
            else:
                yield part
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _sum(bills: Iterable[Usage]) -> Usage:
    total = Usage()
    for bill in bills:
        total = Usage(
            total.input + bill.input,
            total.output + bill.output,
            total.cache_read + bill.cache_read,
            total.cache_write + bill.cache_write,
            total.cache_write_1h + bill.cache_write_1h,
        )
    return total
