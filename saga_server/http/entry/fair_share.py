"""A fair share of the event loop for each key, so that many small requests with one key do not delay the others.

All requests share one event loop, and so one core. Each key has an account, from which the CPU time of its requests is
taken, and to which time is credited at an even rate: one core divided by the number of keys that are in use. If the
account is overdrawn and the loop is busy, the key's next requests wait. This is a token bucket: a key can save up some
time, which an ordinary player never uses up. If only one key is in use, its requests never wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from math import exp
from typing import Any, Final, TypeVar

from aiohttp import web
from attrs import define, field

from saga_core.counters import Counters

T = TypeVar("T")

_SAVED = 0.2
"""The most CPU seconds that a key can save up."""
_OVERDRAWN = 0.1
"""The most CPU seconds that a key can owe. Large requests, which owe more, have pauses of their own."""
_LEAST = 0.05
"""The least share of a core that is credited to a key, however many are in use: some four turns a second."""
_BESIDE = 2.0
"""What is taken from the account, as a multiple of the measured time. A turn causes about as much work again that is
not measured: its views, and the stores' threads."""
_BUSY = 0.5
"""The share of a core, taken by all requests together, from which on the loop is busy. Below, nobody has to wait."""
_WINDOW = 1.0
"""The time constant of the load in seconds: older CPU time counts for exponentially less."""
_SHORTEST, _LONGEST = 0.001, 0.1
"""The shortest and the longest wait in seconds before a key looks again whether it has to wait."""
_IN_USE = 10.0
"""Seconds since its last request for which a key counts as in use."""


def _now() -> float:
    return asyncio.get_running_loop().time()


@define(eq=False)
class Load:
    """The share of a core that all requests took lately, with the work that they cause beside it."""

    now: Callable[[], float]
    _share: float = field(default=0.0, init=False)
    _at: float = field(default=0.0, init=False)

    def add(self, seconds: float) -> None:
        """Count CPU time."""
        self._share = self.read() + seconds / _WINDOW

    def read(self) -> float:
        """Return the share."""
        now = self.now()
        self._share *= exp((self._at - now) / _WINDOW)
        self._at = now
        return self._share


@define(eq=False)
class Account:
    """The account of one key."""

    used_at: float
    load: Load
    """That of all keys."""
    credit: float = _SAVED
    """CPU seconds. It can be negative."""
    turn: asyncio.Lock = field(factory=asyncio.Lock)

    def spend(self, seconds: float) -> None:
        """Take measured CPU time from the account, with what it causes beside it."""
        self.credit = max(self.credit - seconds * _BESIDE, -_OVERDRAWN)
        self.load.add(seconds * _BESIDE)

    def save(self, now: float, share: float) -> None:
        """Credit ``share`` of the time since the last call."""
        self.credit = min(self.credit + (now - self.used_at) * share, _SAVED)
        self.used_at = now


@define(eq=False)
class FairShares:
    """The accounts of the keys in use."""

    counters: Counters
    now: Callable[[], float] = _now
    load: Load = field(init=False)
    _accounts: dict[str, Account] = field(factory=dict, init=False)
    """The least recently used key first."""

    @load.default
    def _no_load(self) -> Load:
        return Load(self.now)

    async def enter(self, owner: str) -> Account:
        """Return the key's account when it is not overdrawn or the loop is not busy. Requests of one key wait for one
        another.
        """
        account = self._used(owner)
        if not account.turn.locked() and (account.credit >= 0 or self.load.read() < _BUSY):
            return account
        self.counters.add("requests.held_back")
        async with account.turn:
            while (owed := -account.credit) > 0 and self.load.read() >= _BUSY:
                await asyncio.sleep(min(max(owed / self._share(), _SHORTEST), _LONGEST))
                account.save(self.now(), self._share())
        return account

    def _used(self, owner: str) -> Account:
        now = self.now()
        while self._accounts:
            oldest = next(iter(self._accounts))
            if now - self._accounts[oldest].used_at < _IN_USE or self._accounts[oldest].turn.locked():
                break
            del self._accounts[oldest]
        account = self._accounts.pop(owner, None) or Account(now, self.load)
        self._accounts[owner] = account
        account.save(now, self._share())
        return account

    def _share(self) -> float:
        return max(1.0 / len(self._accounts), _LEAST)


_charged_to: ContextVar[Account | None] = ContextVar("charged_to", default=None)


async def charged(work: Coroutine[Any, Any, T], account: Account | None = None) -> T:
    """Run ``work``, and charge the CPU time of its steps to ``account``, or to that of the request being answered.

    Tasks that ``work`` starts have to be wrapped as well.
    """
    if account is None:
        account = _charged_to.get()
    else:
        _charged_to.set(account)
    if account is None:
        return await work
    result: T = await _Charged(work, account)
    return result


@define(eq=False)
class _Charged:
    work: Coroutine[Any, Any, Any]
    account: Account

    def __await__(self) -> Generator[Any, Any, Any]:
        value: Any = None
        thrown: BaseException | None = None
        while True:
            began = time.thread_time()
            try:
                waits_for = self.work.send(value) if thrown is None else self.work.throw(thrown)
            except StopIteration as end:
                return end.value
            finally:
                self.account.spend(time.thread_time() - began)
            value, thrown = None, None
            try:
                value = yield waits_for
            except BaseException as error:  # noqa: BLE001 - passed on to the work, cancellation included
                thrown = error


FAIR_SHARES: Final = web.AppKey("fair_shares", FairShares)
