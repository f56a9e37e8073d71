"""The second process of the durability checks: opens a store, makes calls, says each one that ended, never closes."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from conformance.calls import Call, Refused, answer
from saga_core.errors import SagaError


def _say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


async def _live(opener: Callable[[Path], Awaitable[Any]], path: str, calls: list[Call]) -> None:
    try:
        store = await opener(Path(path))
    except SagaError as error:
        _say(type(error).__name__)
        return
    _say("open")
    for made in calls:
        found = await answer(store, made)
        _say(found.error if isinstance(found, Refused) else type(found).__name__.replace("NoneType", "None"))
    # Waits to be killed, or for the end of its input when nobody does; what is open stays open.
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_live(*pickle.loads(Path(sys.argv[1]).read_bytes())))  # written by the suite, a moment ago
