"""Quiet: background calls to a model give way to narration at the same upstream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from attrs import define, field

PATIENCE = 30.0
"""Seconds to wait for a quiet moment when every narration that ran at first is over and others run."""


@define(eq=False)
class Quiet:
    """The narrations under way, by the name of their upstream. A narration without a name may be anybody's."""

    patience: float = PATIENCE
    _running: dict[object, str] = field(factory=dict)
    _changed: asyncio.Event = field(factory=asyncio.Event)

    @asynccontextmanager
    async def narrating(self, upstream: str = "") -> AsyncIterator[None]:
        """A narration is under way."""
        token = object()
        self._running[token] = upstream
        try:
            yield
        finally:
            del self._running[token]
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()

    def now(self, upstream: str) -> bool:
        """Whether no narration runs that ``upstream`` could be asked for."""
        return not self._at(upstream)

    def _at(self, upstream: str) -> set[object]:
        return {token for token, name in self._running.items() if not name or not upstream or name == upstream}

    async def wait(self, upstream: str) -> None:
        """Wait until ``now``. Narrations that never leave a pause between them hold nobody up for ever."""
        first = self._at(upstream)
        while first & self._at(upstream):
            await self._changed.wait()
        try:
            async with asyncio.timeout(self.patience):
                while self._at(upstream):
                    await self._changed.wait()
        except TimeoutError:
            return
