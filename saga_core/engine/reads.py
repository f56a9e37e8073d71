"""Reads: who waits for a reply goes before what is done behind it.

A request is read for in some twenty steps of the event loop. Where many sessions are played at once, background work
of the others would come between any two of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import define, field

PATIENCE = 0.1
"""Seconds for which background work gives way at a time: requests without a pause between them do not hold it up."""


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@define(eq=False)
class Reads:
    """The requests that are being read for."""

    patience: float = PATIENCE
    _under_way: int = 0
    _none: asyncio.Event = field(factory=_set)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A request is being read for."""
        self._under_way += 1
        self._none.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._none.set()

    async def give_way(self) -> None:
        """For background work, between two steps of some milliseconds: others have their turn, and requests that are
        being read for come to their end first, unless that takes too long."""
        await asyncio.sleep(0)
        if self._under_way:
            try:
                async with asyncio.timeout(self.patience):
                    await self._none.wait()
            except TimeoutError:
                return
