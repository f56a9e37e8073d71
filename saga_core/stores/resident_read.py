"""Store reads that avoid creating a task if the answer is available at once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from saga_core.capabilities import Capability

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def answers_at_once(store: object) -> bool:
    """Whether a store's reads almost never wait: it is resident in memory and not shared with other writers."""
    capabilities: frozenset[Capability] = getattr(getattr(store, "info", None), "capabilities", frozenset())
    return Capability.RESIDENT in capabilities and Capability.SHARED not in capabilities


def read_at_hand(ask: Callable[[], Coroutine[Any, Any, T]], name: str, *, at_once: bool) -> asyncio.Future[T]:
    """Return the answer to ``ask``, which must only read. If ``at_once`` is right it is done, else a task ``name``.

    If the read has to wait after all, as the first read of a scope does, it is closed and asked again in a task. There
    it can be cancelled or time out without affecting the caller.
    """
    import asyncio  # half of what importing the protocols would cost

    if at_once:
        running = ask()
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            running.send(None)
        except StopIteration as done:
            answer.set_result(done.value)
            return answer
        except Exception as error:  # noqa: BLE001 - the caller that awaits the answer gets it
            answer.set_exception(error)
            return answer
        running.close()
    return asyncio.create_task(ask(), name=name)
