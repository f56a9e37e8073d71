"""The store: checks what it is given, and hands the work to a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from saga_core import BadInput, Capability, Closed, OpenOptions
from saga_core.stores import Batch, Health, Key, StateKV, StoreInfo
from saga_core.stores.validate import check_batch, check_keys, check_scan
from saga_log_state.log import Log

T = TypeVar("T")


class LogState:
    """One thread does everything in order, so that each call is one moment, and a cancelled one is never half done."""

    def __init__(self, log: Log, thread: ThreadPoolExecutor) -> None:
        self._log = log
        self._thread = thread
        self._closed = False
        self.info = StoreInfo("state", "log", "1", frozenset({Capability.DURABLE}), location=str(log.path))

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        self._alive()
        check_keys(keys, self.info.limits)
        wanted = list(keys)
        return await self._run(lambda: {key: self._log.values[key] for key in wanted if key in self._log.values})

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        self._alive()
        check_scan(prefix, after, limit, self.info.limits)

        def found() -> list[tuple[Key, bytes]]:
            keys = sorted(k for k in self._log.values if k[: len(prefix)] == prefix and (after is None or k > after))
            return [(key, self._log.values[key]) for key in keys[:limit]]

        return await self._run(found)

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        own = Batch(dict(batch.puts), frozenset(batch.deletes))
        wanted = dict(expected or {})
        await self._run(lambda: self._log.commit(own, wanted))

    async def check(self, *, thorough: bool = False) -> Health:
        self._alive()
        size = await self._run(lambda: self._log.path.stat().st_size)
        return Health(ok=True, detail=str(self._log.path), bytes=size)

    async def aclose(self) -> None:
        if not self._closed:
            self._closed = True
            self._thread.submit(self._log.close)
        await asyncio.to_thread(self._thread.shutdown)

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._log.path}: is closed")

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


async def open_log(options: OpenOptions) -> StateKV:
    """Read the file, lock it."""
    options.take()
    path = options.path
    if path is None:
        raise BadInput("storage.state.path: the log backend keeps a file; give its path")
    thread = ThreadPoolExecutor(1, "saga-log-state")
    opening = asyncio.get_running_loop().run_in_executor(thread, Log, path)
    try:
        log = await asyncio.shield(opening)
    except BaseException:
        # A cancelled opening may succeed all the same: the file is let go of before anybody can try again.
        opening.add_done_callback(_let_go)
        await asyncio.to_thread(thread.shutdown)
        raise
    return LogState(log, thread)


def _let_go(opening: asyncio.Future[Log]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
