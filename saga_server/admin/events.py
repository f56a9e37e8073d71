"""``GET /api/events``: a live stream of events of this server and of the other servers, as server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from aiohttp import web
from attrs import define, field

from saga_core.counters import Counters
from saga_server.http import RequestError, merge_events

KEPT = 256
"""The queue length of a listener. If it is full, the oldest event is dropped, and the listener is told the number."""
LISTENERS = 32
OF_ONE = 8
"""Listeners that one player may have, so that the others have room."""
PULSE_SECONDS = 15.0
"""Seconds without an event after which a keep-alive is sent, so that a client that went away is noticed."""


@define(eq=False)
class Listening:
    """One listener's queue."""

    session: str | None = None
    """If set, only events of this session, and events without a session, are queued."""
    player: str = ""
    """The owner id of a player; empty for an administrator."""
    sees: Callable[[str], Awaitable[bool]] | None = None
    """Whether the listener may see a session. Set for players, who also get no events without a session."""
    is_hidden: Callable[[str], bool] = lambda _: False
    """A quick check whether a session is certainly not the listener's. Its events then take no room in the queue."""
    may_listen: Callable[[], bool] = lambda: True
    """Whether the key is still valid."""
    dropped: int = 0
    over: bool = field(default=False, init=False)
    _waiting: deque[tuple[str | None, bytes]] = field(factory=lambda: deque[tuple[str | None, bytes]](), init=False)
    """The session and the text of each event. The session is None if another server has already checked ``sees``."""
    _news: asyncio.Event = field(factory=asyncio.Event, init=False)

    def take(self, event: str, about: Mapping[str, Any]) -> None:
        """Queue an event, unless it is filtered out."""
        if self.session is not None and about.get("session") not in (None, self.session):
            return
        session = about.get("session") or ""
        if self.sees is not None and (not session or self.is_hidden(session)):
            return
        self._queue(session, _render(event, about))

    def take_as_it_is(self, event: bytes) -> None:
        """Queue an event that another server sent to this listener."""
        self._queue(None, event)

    def _queue(self, session: str | None, event: bytes) -> None:
        if len(self._waiting) >= KEPT:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append((session, event))
        self._news.set()

    def end(self) -> None:
        """End the stream once the queue is empty."""
        self.over = True
        self._news.set()

    async def next(self) -> bytes:
        """Wait for events and return all of them; a keep-alive after ``PULSE_SECONDS``, empty bytes at the end."""
        if not self._waiting and not self.over:
            self._news.clear()
            try:
                async with asyncio.timeout(PULSE_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                return b": still here\n\n"
        waiting = list(self._waiting)
        self._waiting.clear()
        if self.sees is not None:
            named = {session for session, _ in waiting if session is not None}
            seen = {None, *[session for session in named if await self.sees(session)]}
            waiting = [each for each in waiting if each[0] in seen]
        found = b"".join(text for _, text in waiting)
        if self.dropped:
            found = _render("dropped", {"events": self.dropped}) + found
            self.dropped = 0
        return found


def _render(event: str, about: Mapping[str, Any]) -> bytes:
    data = json.dumps({"at": round(time.time(), 3), **about}, ensure_ascii=False)
    return f"event: {event}\ndata: {data}\n\n".encode("utf-8", "replace")


@define(eq=False)
class Events:
    """The listeners of one engine."""

    counters: Counters
    mask: Callable[[str], str] = str
    """Hides secrets, which a reason may quote."""
    _all: list[Listening] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.counters.listeners.append(self._take)

    def _take(self, event: str, about: Mapping[str, Any]) -> None:
        if "reason" in about and self._all:
            about = {**about, "reason": self.mask(str(about["reason"]))}
        for each in self._all:
            each.take(event, about)

    def __len__(self) -> int:
        return len(self._all)

    async def stream(self, request: web.Request, listening: Listening) -> web.StreamResponse:
        """Stream events until the client goes away, the key becomes invalid, or the server stops.

        Raises ``RequestError`` if there are too many listeners.
        """
        if len(self._all) >= LISTENERS and not self._made_room(listening.player):
            raise RequestError(f"{LISTENERS} listeners are there already", status=503, kind="unavailable_error")
        if listening.player and sum(each.player == listening.player for each in self._all) >= OF_ONE:
            raise RequestError(f"{OF_ONE} listeners of this key are there already", status=429, kind="rate_limit_error")
        response = web.StreamResponse(headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        response.content_type, response.charset = "text/event-stream", "utf-8"
        self._all.append(listening)
        following = asyncio.create_task(merge_events(request, listening.take_as_it_is))
        try:
            await response.prepare(request)
            await response.write(b": listening\n\n")
            while True:
                found = await listening.next()
                if not listening.may_listen() or (listening.over and not found):
                    break
                await response.write(found)
            await response.write_eof()
        except ConnectionError:
            return response  # the client went away
        finally:
            self._all.remove(listening)
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        return response

    def _made_room(self, player: str) -> bool:
        """End the oldest stream of the key that has most, if that is more than one more than ``player`` has: a key
        cannot keep the others from listening."""
        counts = Counter(each.player for each in self._all if not each.over)
        if not counts:
            return False
        crowd, most = counts.most_common(1)[0]
        if most <= counts[player] + 1:
            return False
        next(each for each in self._all if each.player == crowd and not each.over).end()
        return True

    def end(self) -> None:
        """End all streams, which would otherwise keep the server from stopping."""
        for each in self._all:
            each.end()


EVENTS: Final = web.AppKey("events", Events)


async def close_events(app: web.Application) -> None:
    """End all streams. A handler of ``on_shutdown``."""
    app[EVENTS].end()
