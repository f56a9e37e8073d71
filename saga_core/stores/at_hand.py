"""Asking stores: an answer that is at hand costs no task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from saga_core.capabilities import Capability

T = TypeVar("T")


def answers_at_once(store: object) -> bool:
    """Whether a store's reads wait for nothing, nearly always: it is in memory, and nobody else writes it."""
    capabilities: frozenset[Capability] = getattr(getattr(store, "info", None), "capabilities", frozenset())
    return Capability.RESIDENT in capabilities and Capability.SHARED not in capabilities


def read_at_hand(ask: Callable[[], Coroutine[Any, Any, T]], name: str, *, at_once: bool) -> asyncio.Future[T]:
    """The answer to ``ask``, which only reads: done already if ``at_once`` is right, else a task of that name.

    What waits after all, as the first read of a scope does, is given up and asked again in the task: there it may be
    cancelled or have a timeout without touching whoever asks.
    """
    if at_once:
        running = ask()
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            running.send(None)
        except StopIteration as done:
            answer.set_result(done.value)
            return answer
        except Exception as error:  # noqa: BLE001 - whoever takes the answer is told
            answer.set_exception(error)
            return answer
        running.close()
    return asyncio.create_task(ask(), name=name)
