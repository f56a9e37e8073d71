"""Limits how long a provider is waited for that sends something, but nothing of a reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from attrs import define, field

from saga_backends.piece_pace import PiecePace
from saga_core.errors import UpstreamError
from saga_core.ports import AdjustedPart, ChatPart, ExtraPart

T = TypeVar("T")

WITHOUT_CONTENT = 3
"""How many times its timeout a provider is waited for while it sends only comments, empty events or white space.

Some providers send such signs of life while a request waits in a queue.
"""
BILL_SECONDS = 10.0
"""Seconds that the token counts are waited for after all choices are complete."""


@define
class Patience:
    """Counts the seconds that a reply was waited for since it last had content.

    Only waiting for the provider counts, not the time in which a client reads what has arrived. ``silent`` builds the
    error for a provider that was waited for too long.
    """

    timeout: float
    silent: Callable[[], UpstreamError]
    complete: bool = False
    """Whether all choices are complete, so that only the token counts may follow."""
    over: bool = field(default=False, init=False)
    """Whether waiting ended before the response did, because all choices were complete."""
    _waited: float = field(default=0.0, init=False)
    _pace: PiecePace = field(factory=PiecePace, init=False)

    @property
    def left(self) -> float:
        """Seconds that the provider may still be waited for."""
        most = min(BILL_SECONDS, self.timeout) if self.complete else WITHOUT_CONTENT * self.timeout
        return most - self._waited

    def heard(self, part: ChatPart) -> None:
        """Note a part of the reply. Fields without a value are no content."""
        if type(part) is AdjustedPart or (isinstance(part, ExtraPart) and not any(part.fields.values())):
            return
        self._waited = 0.0

    def completed(self) -> None:
        """Note that all choices are complete."""
        if not self.complete:
            self.complete, self._waited = True, 0.0

    async def next_of(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """Return the next chunk; None at the end, or if nothing came in time after all choices were complete.

        Raises ``UpstreamError`` if the reply had no content for too long.
        """
        await self._pace.piece()
        try:
            return await self.within(anext(chunks))
        except StopAsyncIteration:
            return None
        except TimeoutError:
            if self.complete:
                self.over = True
                return None
            raise self.silent() from None

    async def within(self, waiting: Awaitable[T]) -> T:
        """Wait for ``waiting`` for as long as is ``left``. Raises ``TimeoutError``."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            async with asyncio.timeout(self.left):
                return await waiting
        finally:
            self._waited += loop.time() - begun
