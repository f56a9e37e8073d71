"""Stores that fail on purpose, for the core's tests and for the tests of backend authors.

``faulty(store, …)`` wraps a store and passes every call on, except the calls that a fault applies to.
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
    """A fault of calls to ``method``. Strikes ``times`` calls (None: all) from call ``first`` on, counted from 1."""

    method: str
    act: Act
    first: int = 1
    times: int | None = None
    seen: int = field(default=0, init=False)
    """The number of calls of the method so far."""
    struck: int = field(default=0, init=False)
    """The number of calls that the fault struck."""

    def strikes(self) -> bool:
        """Count a call and return whether the fault strikes it."""
        self.seen += 1
        hit = self.seen >= self.first and (self.times is None or self.seen < self.first + self.times)
        self.struck += hit
        return hit


def _error(method: str, error: BaseException | None) -> BaseException:
    return StoreUnavailable(f"{method}: failed on purpose") if error is None else error


def fail_before(method: str, error: BaseException | None = None, *, first: int = 1, times: int | None = None) -> Fault:
    """The call raises an error, and the store never receives it."""

    async def act(_passed: Callable[[], Awaitable[Any]]) -> Any:
        raise _error(method, error)

    return Fault(method, act, first, times)


def fail_after(method: str, error: BaseException | None = None, *, first: int = 1, times: int | None = None) -> Fault:
    """The store performs the call, but the caller gets an error."""

    async def act(passed: Callable[[], Awaitable[Any]]) -> Any:
        await passed()
        raise _error(method, error)

    return Fault(method, act, first, times)


def delay(method: str, until: asyncio.Event, *, first: int = 1, times: int | None = None) -> Fault:
    """The store receives the call once ``until`` is set. This lets a test decide the moment, without sleeping."""

    async def act(passed: Callable[[], Awaitable[Any]]) -> Any:
        await until.wait()
        return await passed()

    return Fault(method, act, first, times)


def hang(method: str, *, first: int = 1, times: int | None = None) -> Fault:
    """The call never ends unless it is cancelled, and the store never receives it."""

    async def act(_passed: Callable[[], Awaitable[Any]]) -> Any:
        return await asyncio.get_running_loop().create_future()

    return Fault(method, act, first, times)


class Faulty:
    """A store with faults. Made by ``faulty``."""

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
    """``store`` with ``faults``. If several would strike the same call, only the first applies."""
    return Faulty(store, faults)
