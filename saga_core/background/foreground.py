"""Foreground priority: requests of players go before background work.

Two things are protected. Reading a context takes about twenty steps of the event loop, and with many active sessions
the background work of others would run between any two of them. And a background call to a model would take the place
of a narration at the same upstream.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from attrs import define, field

READ_PATIENCE = 0.1
"""Seconds for which work gives way to reads at a time, so that continuous requests do not starve it."""
NARRATION_PATIENCE = 30.0
"""Seconds for which a call waits for a free upstream, after all narrations that ran at first have ended."""


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@define(eq=False)
class Foreground:
    """The reads and narrations in progress."""

    read_patience: float = READ_PATIENCE
    narration_patience: float = NARRATION_PATIENCE
    _reads: int = 0
    _no_reads: asyncio.Event = field(factory=_set)
    _narrations: dict[object, str] = field(factory=dict)
    """A token for each running narration -> its upstream. A narration without a name may run at any upstream."""
    _changed: asyncio.Event = field(factory=asyncio.Event)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Mark that the context of a request is being read."""
        self._reads += 1
        self._no_reads.clear()
        try:
            yield
        finally:
            self._reads -= 1
            if not self._reads:
                self._no_reads.set()

    async def give_way(self) -> None:
        """Let other tasks run and wait for running reads, at most ``read_patience``.

        Background work calls this between two steps of some milliseconds each.
        """
        await asyncio.sleep(0)
        if self._reads:
            try:
                async with asyncio.timeout(self.read_patience):
                    await self._no_reads.wait()
            except TimeoutError:
                return

    @asynccontextmanager
    async def narrating(self, upstream: str = "") -> AsyncIterator[None]:
        """Mark that a narration runs at ``upstream``."""
        token = object()
        self._narrations[token] = upstream
        try:
            yield
        finally:
            del self._narrations[token]
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()

    def is_free(self, upstream: str) -> bool:
        """Whether no narration runs at ``upstream``."""
        return not self._at(upstream)

    def _at(self, upstream: str) -> set[object]:
        return {token for token, name in self._narrations.items() if not name or not upstream or name == upstream}

    async def wait_until_free(self, upstream: str) -> None:
        """Wait until no narration runs at ``upstream``. The wait is bounded even if narrations follow without a gap."""
        first = self._at(upstream)
        while first & self._at(upstream):
            await self._changed.wait()
        try:
            async with asyncio.timeout(self.narration_patience):
                while self._at(upstream):
                    await self._changed.wait()
        except TimeoutError:
            return
