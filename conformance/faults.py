"""Stores that fail on purpose, for the core's own tests and for an author's.

``faulty(store, …)`` gives a store that passes every call on, except those that a fault is laid on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from attrs import define, field

from saga_core.errors import StoreUnavailable

Act = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]


@define
class Fault:
    """What happens to calls of ``method``: those from the ``first`` on (counted from 1), ``times`` of them or all."""

    method: str
    act: Act
    first: int = 1
    times: int | None = None
    seen: int = field(default=0, init=False)
    """Calls of the method so far."""
    struck: int = field(default=0, init=False)
    """Calls that the fault was laid on."""

    def strikes(self) -> bool:
        """Count a call, and say whether it is one of those."""
        self.seen += 1
        hit = self.seen >= self.first and (self.times is None or self.seen < self.first + self.times)
        self.struck += hit
        return hit


def _error(method: str, error: BaseException | None) -> BaseException:
    return StoreUnavailable(f"{method}: failed on purpose") if error is None else error


def fail_before(method: str, error: BaseException | None = None, *, first: int = 1, times: int | None = None) -> Fault:
    """The call raises, and the store never hears of it."""

    async def act(_passed: Callable[[], Awaitable[Any]]) -> Any:
        raise _error(method, error)

    return Fault(method, act, first, times)


def fail_after(method: str, error: BaseException | None = None, *, first: int = 1, times: int | None = None) -> Fault:
    """The store does it, and the caller is told that it failed."""

    async def act(passed: Callable[[], Awaitable[Any]]) -> Any:
        await passed()
        raise _error(method, error)

    return Fault(method, act, first, times)


def delay(method: str, until: asyncio.Event, *, first: int = 1, times: int | None = None) -> Fault:
    """The store hears of it once ``until`` is set: the test decides when, and waits for no clock."""

    async def act(passed: Callable[[], Awaitable[Any]]) -> Any:
        await until.wait()
        return await passed()

    return Fault(method, act, first, times)


def hang(method: str, *, first: int = 1, times: int | None = None) -> Fault:
    """The call never ends, unless it is cancelled; the store never hears of it."""

    async def act(_passed: Callable[[], Awaitable[Any]]) -> Any:
        return await asyncio.get_running_loop().create_future()

    return Fault(method, act, first, times)


class Faulty:
    """Made by ``faulty``."""

    def __init__(self, store: Any, faults: tuple[Fault, ...]) -> None:
        self.inner = store
        self.faults = faults

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        faults = [fault for fault in self.faults if fault.method == name]
        if not faults:
            return found

        async def call(*args: Any, **options: Any) -> Any:
            for fault in [fault for fault in faults if fault.strikes()][:1]:
                return await fault.act(lambda: found(*args, **options))
            return await found(*args, **options)

        return call


def faulty(store: Any, *faults: Fault) -> Any:
    """``store`` with ``faults``; of several that would strike one call the first does."""
    return Faulty(store, faults)
