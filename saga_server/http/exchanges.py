"""The running exchanges: identical requests share one exchange, and a shutdown ends all of them."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from aiohttp import web
from attrs import define, field

from saga_core import Saga
from saga_core.errors import UpstreamError
from saga_server.http.call import Call
from saga_server.http.entry.fair_share import charged
from saga_server.http.exchange import COMMIT_SECONDS, Exchange
from saga_server.process import Current, Metrics

Key = tuple[str, str | None, str | None, str, str, bytes]
"""Identifies equal requests: owner, session, world, player, API, and the body (for a large body its SHA-256)."""


@define(eq=False)
class Exchanges:
    """The running exchanges."""

    saga: Saga
    current: Current
    metrics: Metrics
    _by_key: dict[Key, Exchange] = field(factory=dict, init=False)
    _recordings: dict[asyncio.Task[Any], tuple[str, str]] = field(factory=dict, init=False)
    _tasks: dict[asyncio.Task[None], Exchange] = field(factory=dict, init=False)
    closing: bool = field(default=False, init=False)
    """Whether new exchanges are refused."""

    def join(self, key: Key, call: Call) -> Exchange:
        """Follow the running exchange of an equal call, or begin a new one. The caller must ``leave`` it.

        Raises ``UpstreamError`` when the server is shutting down.
        """
        if self.closing:
            raise UpstreamError("the server is shutting down", status=503, kind="unavailable_error", retry_after=5)
        exchange = self._by_key.get(key)
        if exchange is None or exchange.ended or exchange.stopped:
            exchange = Exchange(call, self.saga, self.current, self.metrics, self._recordings)
            self._by_key[key] = exchange
            task = asyncio.create_task(charged(exchange.run()), name="saga-exchange")
            self._tasks[task] = exchange
            task.add_done_callback(lambda done: self._over(key, done))
        exchange.join()
        return exchange

    def _over(self, key: Key, task: asyncio.Task[None]) -> None:
        exchange = self._tasks.pop(task)
        if self._by_key.get(key) is exchange:
            del self._by_key[key]

    def __len__(self) -> int:
        return len(self._tasks)

    def stop_texts(self, owner: str) -> bool:
        """Stop the text completions of ``owner``. Return whether no other reply is running."""
        running = list(self._tasks.values())
        for exchange in running:
            if exchange.call.text is not None and exchange.call.owner == owner:
                exchange.stop()
        return all(exchange.stopped for exchange in running)

    async def settle(self) -> None:
        """Wait for exchanges without followers, which only record their turn, and for late recordings."""
        while alone := [task for task, exchange in self._tasks.items() if not exchange.heard]:
            await asyncio.wait(alone)
        if self._recordings:
            await asyncio.wait(list(self._recordings))

    def recording(self) -> list[tuple[str, str]]:
        """The session and turn of each recording in progress."""
        return list(self._recordings.values())

    async def aclose(self, seconds: float) -> int:
        """Refuse new exchanges, let the running ones finish for ``seconds``, then stop them and record what was shown.

        Returns how many exchanges and recordings did not end within another ``COMMIT_SECONDS`` and were cancelled.
        """
        self.closing = True
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=seconds)
        for exchange in self._tasks.values():
            exchange.stop()
        ends = asyncio.get_running_loop().time() + COMMIT_SECONDS
        while working := [*self._tasks, *self._recordings]:
            left = ends - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await asyncio.wait(working, timeout=left)
        for task in working:
            task.cancel()
        return len(working)


EXCHANGES: Final = web.AppKey("exchanges", Exchanges)
