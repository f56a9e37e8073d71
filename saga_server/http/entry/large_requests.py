"""A queue per key for large requests: they are read one at a time, with pauses proportional to the reading time.

Reading a megabyte takes a tenth of a second of CPU time, and all clients share one core. The pauses limit a client
that sends only large requests to a quarter of the core, however many it sends at once. Small requests never wait.
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
_MOST_WAITING = 256 << 20
"""Bytes that may wait in the queue of a key."""


def _now() -> float:
    return asyncio.get_running_loop().time()


@define(eq=False)
class _Key:
    turn: asyncio.Lock = field(factory=asyncio.Lock)
    free_at: float = 0.0
    waiting: int = 0
    """Bytes in the queue, including the request that is being read."""


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

    async def enter(self, owner: str, size: int) -> Share:
        """Wait until a request of ``size`` bytes may be read. Raises ``RequestError`` (429) if the queue is full."""
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

        def end(spent: float) -> None:
            key.waiting -= size
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
