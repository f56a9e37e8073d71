"""Large requests of one key: read one at a time, with pauses that grow with what reading them took.

A megabyte takes a tenth of a second of the processor, and everybody shares one. So whoever sends nothing but large
requests gets a quarter of it, however many are sent at once. Small requests wait for nothing, whoever sends them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, TypeVar

from aiohttp import web
from attrs import define, field

from saga_server.http.errors import RequestError
from saga_server.process import Helper, TooMuch

T = TypeVar("T")

LARGE = 128 * 1_024
"""Bytes of a body, as it was sent, from which on a request is large. One that is packed is."""
LARGE_FILE = 16 * 1_024
"""Bytes from which on what the admin API is given is: a file, which takes more work to read than a chat does."""
_HUGE = 8 << 20
"""Bytes of a body that is read in another process, and never in a thread beside everybody else's requests."""
_PAUSES = 3.0
"""How long the next one waits, as a multiple of what the last one took."""
_LONGEST_PAUSE = 5.0
"""Seconds: a store that hangs is nobody's fault."""
_MOST_WAITING = 256 << 20
"""Bytes of a key's requests that wait, all together."""


def _now() -> float:
    return asyncio.get_running_loop().time()


@define(eq=False)
class _Key:
    turn: asyncio.Lock = field(factory=asyncio.Lock)
    free_at: float = 0.0
    waiting: int = 0
    """Bytes, also of the one that is read."""


@define(eq=False)
class Share:
    """The turn of one large request. ``leave`` it when it was read; a second time does nothing."""

    _end: Callable[[], None] | None

    def leave(self) -> None:
        """Let the key's next one begin, after its pause."""
        end, self._end = self._end, None
        if end is not None:
            end()


@define(eq=False)
class LargeRequests:
    """The large requests of each key that are read or wait."""

    now: Callable[[], float] = _now
    _keys: dict[str, _Key] = field(factory=dict, init=False)

    async def enter(self, owner: str, size: int) -> Share:
        """Wait for the turn of a request of ``size`` bytes. Raises ``RequestError`` (429) when too much waits."""
        if len(self._keys) > 1_000:
            self._forget()
        key = self._keys.setdefault(owner, _Key())
        if key.waiting and key.waiting + size > _MOST_WAITING:
            raise RequestError(
                f"more than {_MOST_WAITING >> 20} MB of large requests with this key wait to be read; send fewer at a "
                "time",
                status=429,
                kind="rate_limit_error",
            )
        key.waiting += size
        try:
            await key.turn.acquire()
        except BaseException:
            key.waiting -= size
            raise
        try:
            if (pause := key.free_at - self.now()) > 0:
                await asyncio.sleep(pause)
        except BaseException:
            key.waiting -= size
            key.turn.release()
            raise
        began = self.now()

        def end() -> None:
            key.waiting -= size
            now = self.now()
            key.free_at = now + min((now - began) * _PAUSES, _LONGEST_PAUSE)
            key.turn.release()

        return Share(end)

    def _forget(self) -> None:
        now = self.now()
        for owner in [owner for owner, key in self._keys.items() if not key.waiting and key.free_at <= now]:
            del self._keys[owner]


LARGE_REQUESTS: Final = web.AppKey("large_requests", LargeRequests)
SHARE: Final = web.RequestKey("share", Share)
"""Of a large request, until it was read."""


def leave(request: web.Request) -> None:
    """The request was read, or nobody will read it."""
    share = request.get(SHARE)
    if share is not None:
        share.leave()


async def in_helper(helper: Helper, work: Callable[..., T], *args: Any) -> T:
    """What ``work`` makes of something large. Raises ``RequestError`` (413) where that takes too much."""
    waits = any(type(arg) is bytes and len(arg) >= _HUGE for arg in args)
    try:
        return await helper.run(work, *args, waits=waits)
    except TooMuch as error:
        raise RequestError(str(error), param="body", status=413) from None
