"""The exchanges under way: who asks the same follows one that runs, and a server that stops ends them all."""

from __future__ import annotations

import asyncio
from typing import Any

from attrs import define, field

from saga_core import Saga
from saga_core.errors import UpstreamError
from saga_server.http.call import Call
from saga_server.http.exchange import COMMIT_SECONDS, Exchange
from saga_server.process import Metrics
from saga_server.providers import Narrators

Key = tuple[str, str | None, str | None, str, str, bytes]
"""What makes two requests the same: owner, session, world, player, the door and the whole body; of a large one its
SHA-256."""


@define(eq=False)
class Exchanges:
    """The exchanges under way."""

    saga: Saga
    narrators: Narrators
    metrics: Metrics
    keep_alive: float = 0.0
    patience: float = 600.0
    _by_key: dict[Key, Exchange] = field(factory=dict, init=False)
    _recordings: dict[asyncio.Task[Any], tuple[str, str]] = field(factory=dict, init=False)
    _tasks: dict[asyncio.Task[None], Exchange] = field(factory=dict, init=False)
    closing: bool = field(default=False, init=False)
    """Whether no exchange is begun any more."""

    def join(self, key: Key, call: Call) -> Exchange:
        """Follow the exchange that runs for an equal call, or begin one. The caller must ``leave`` it.

        Raises ``UpstreamError`` when the server is shutting down.
        """
        if self.closing:
            raise UpstreamError("the server is shutting down", status=503, kind="unavailable_error", retry_after=5)
        exchange = self._by_key.get(key)
        if exchange is None or exchange.ended or exchange.stopped:
            exchange = Exchange(
                call, self.saga, self.narrators, self.metrics, self._recordings, self.keep_alive, self.patience
            )
            self._by_key[key] = exchange
            task = asyncio.create_task(exchange.run(), name="saga-exchange")
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
        """End the text completions of ``owner``. Whether nobody else's reply is under way."""
        running = list(self._tasks.values())
        for exchange in running:
            if exchange.call.text is not None and exchange.call.owner == owner:
                exchange.stop()
        return all(exchange.stopped for exchange in running)

    async def settle(self) -> None:
        """Wait for those that nobody follows any more and that only record, and for late recordings."""
        while alone := [task for task, exchange in self._tasks.items() if not exchange.heard]:
            await asyncio.wait(alone)
        if self._recordings:
            await asyncio.wait(list(self._recordings))

    def recording(self) -> list[tuple[str, str]]:
        """Session and turn of what is being recorded."""
        return list(self._recordings.values())

    async def aclose(self, seconds: float) -> int:
        """Begin no more; let exchanges finish for so long, then stop them; what was shown is recorded.

        How many exchanges and recordings did not end within ``COMMIT_SECONDS`` behind that, and were given up.
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
