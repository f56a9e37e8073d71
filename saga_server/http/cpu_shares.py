"""How requests share the processor: a fair share for each key, a queue for large requests, and a limit for each one.

All requests share one event loop, and so one core.

**Fair shares.** Each key has an account, from which the CPU time of its requests is taken, and to which time is
credited at an even rate: one core divided by the number of keys that are in use. If the account is overdrawn and the
loop is busy, the key's next requests wait. This is a token bucket: a key can save up some time, which an ordinary
player never uses up. If only one key is in use, its requests never wait.

**Large requests** of a key are read one at a time, with pauses proportional to the reading time. Reading a megabyte
takes a tenth of a second of CPU time. The pauses limit a client that sends only large requests to a quarter of the
core, however many it sends at once. Small requests never wait.

**The limit** for one request ends work that takes too long, and work that has taken long pauses after each step, so
that it leaves others three quarters of the event loop's time.
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
from saga_server.http.errors import RequestError
from saga_server.process import Helper, TooMuch

T = TypeVar("T")


def _now() -> float:
    return asyncio.get_running_loop().time()


# -- measured work ---------------------------------------------------------------------------------------------


@define(eq=False)
class _Measured:
    """Awaits ``work`` step by step, and measures each step with the CPU clock of the thread.

    A coroutine runs in steps from one ``await`` to the next, and blocks the event loop during each step. A single step
    cannot be interrupted; its length depends on the size of the text.
    """

    work: Coroutine[Any, Any, Any]

    def add(self, seconds: float) -> None:
        """Count the CPU time of a step."""
        raise NotImplementedError

    def pause(self, seconds: float) -> float:
        """Return how long to pause after a step that took ``seconds``. What it raises ends the work."""
        return 0.0

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
                took = time.thread_time() - began
                self.add(took)
            value, thrown = None, None
            try:
                pause_ends = time.monotonic() + self.pause(took)
            except _TooDear as error:
                if waits_for is not None:
                    waits_for.cancel()
                thrown = error
                continue
            try:
                value = yield waits_for
                if (left := pause_ends - time.monotonic()) > 0:
                    yield from asyncio.sleep(left).__await__()
            except BaseException as error:  # noqa: BLE001 - passed on to the work, cancellation included
                thrown = error


# -- fair shares -----------------------------------------------------------------------------------------------

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
class CpuAccount:
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
    _accounts: dict[str, CpuAccount] = field(factory=dict, init=False)
    """The least recently used key first."""

    @load.default
    def _no_load(self) -> Load:
        return Load(self.now)

    async def enter(self, owner: str) -> CpuAccount:
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

    def _used(self, owner: str) -> CpuAccount:
        now = self.now()
        while self._accounts:
            oldest = next(iter(self._accounts))
            if now - self._accounts[oldest].used_at < _IN_USE or self._accounts[oldest].turn.locked():
                break
            del self._accounts[oldest]
        account = self._accounts.pop(owner, None) or CpuAccount(now, self.load)
        self._accounts[owner] = account
        account.save(now, self._share())
        return account

    def _share(self) -> float:
        return max(1.0 / len(self._accounts), _LEAST)


_charged_to: ContextVar[CpuAccount | None] = ContextVar("charged_to", default=None)


async def charged(work: Coroutine[Any, Any, T], account: CpuAccount | None = None) -> T:
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
class _Charged(_Measured):
    account: CpuAccount

    def add(self, seconds: float) -> None:
        """Take the time from the account."""
        self.account.spend(seconds)


FAIR_SHARES: Final = web.AppKey("fair_shares", FairShares)


# -- large requests --------------------------------------------------------------------------------------------

LARGE = 128 * 1_024
"""Size of a body, in bytes as sent, from which on a request is large. A packed request always counts as large."""
LARGE_FILE = 16 * 1_024
"""The same limit for the admin API. It is lower because reading an uploaded file takes more work than a chat."""
_HUGE = 8 << 20
"""Size in bytes from which on a body waits for the helper process, if there is one, and never runs in a thread."""
_PAUSES = 3.0
"""The pause before the next request, as a multiple of the time that the last one took."""
_LONGEST_PAUSE = 5.0
"""The longest pause in seconds for time in which nothing was counted, so that a store that hangs is not charged to the
client."""


@define(eq=False)
class _Key:
    turn: asyncio.Lock = field(factory=asyncio.Lock)
    free_at: float = 0.0
    waiting: int = 0
    """Requests in the queue, including the one that is being read."""


@define(eq=False)
class Share:
    """The place of one large request in its queue. Call ``leave`` when it was read; a second call does nothing."""

    _end: Callable[[float], None] | None
    spent: float = 0.0
    """Seconds of CPU time that reading the request took on the event loop, as far as they were counted."""

    def leave(self) -> None:
        """Let the key's next request begin after its pause."""
        end, self._end = self._end, None
        if end is not None:
            end(self.spent)


@define(eq=False)
class LargeRequests:
    """The queues of large requests, one for each key."""

    now: Callable[[], float] = _now
    _keys: dict[str, _Key] = field(factory=dict, init=False)

    async def enter(self, owner: str) -> Share:
        """Wait until a request may be read."""
        if len(self._keys) > 1_000:
            self._forget()
        key = self._keys.setdefault(owner, _Key())
        key.waiting += 1
        try:
            await key.turn.acquire()
        except BaseException:
            key.waiting -= 1
            raise
        try:
            if (pause := key.free_at - self.now()) > 0:
                await asyncio.sleep(pause)
        except BaseException:
            key.waiting -= 1
            key.turn.release()
            raise
        began = self.now()

        def end(spent: float) -> None:
            key.waiting -= 1
            now = self.now()
            key.free_at = now + min((now - began) * _PAUSES, max(_LONGEST_PAUSE, spent * _PAUSES))
            key.turn.release()

        return Share(end)

    def _forget(self) -> None:
        now = self.now()
        for owner in [owner for owner, key in self._keys.items() if not key.waiting and key.free_at <= now]:
            del self._keys[owner]


LARGE_REQUESTS: Final = web.AppKey("large_requests", LargeRequests)
SHARE: Final = web.RequestKey("share", Share)
"""The place of a large request in its queue."""


def leave(request: web.Request) -> None:
    """Leave the queue of large requests, because the request was read or is dropped."""
    share = request.get(SHARE)
    if share is not None:
        share.leave()


async def in_helper(helper: Helper, work: Callable[..., T], *args: Any) -> T:
    """Return the result of ``work`` on something large, run in the helper process if possible.

    Raises ``RequestError`` (413) if the work takes too much time or memory.
    """
    waits = any(type(arg) is bytes and len(arg) >= _HUGE for arg in args)
    try:
        return await helper.run(work, *args, waits=waits)
    except TooMuch as error:
        raise RequestError(str(error), param="body", status=413) from None


# -- the limit of one request ----------------------------------------------------------------------------------

_UNPACED = 0.015
"""CPU seconds without pauses. An ordinary request takes less in all."""
_PAUSE = 3.0
"""The length of a pause, as a multiple of the step before it."""


class _TooDear(Exception):
    """Thrown into work that exceeds its limit."""


@define(eq=False)
class LimitedWork(_Measured):
    """Await this object to run ``work`` with at most ``seconds`` of CPU time. Raises ``RequestError`` (413) beyond.

    Work that exceeds the limit ends at its next ``await``, as if it had been cancelled.
    """

    seconds: float
    spent: float = field(default=0.0, init=False)
    _ended: bool = field(default=False, init=False)

    def add(self, seconds: float) -> None:
        """Count the CPU time of a step."""
        self.spent += seconds

    def pause(self, seconds: float) -> float:
        """Return the pause after a step, or end the work."""
        if self.spent > self.seconds and not self._ended:
            self._ended = True
            raise _TooDear
        return _PAUSE * seconds if self.spent > _UNPACED else 0.0

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            return (yield from super().__await__())
        except _TooDear:
            raise RequestError(
                f"reading the request took {self.spent:.1f} s of the processor, and may take {self.seconds:g} s "
                "(server.max_cpu_seconds); send fewer or shorter messages",
                param="messages",
                status=413,
            ) from None
