"""Limits how many pieces of a response are read in a second, because each takes the processor whatever its size.

A response in pieces of one byte would hold up everybody: a piece takes about a tenth of a millisecond.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from attrs import define, field

_AT_ONCE = 4_000
"""Pieces that are read as fast as they come. A long reply has fewer, for a model writes a piece for each token."""
_A_SECOND = 1_000
"""Pieces that are read in each second after that, more than any model writes."""
_TURN = 64
"""Pieces after which others get a turn of the event loop."""


@define
class PiecePace:
    """The pieces of one response."""

    _begun: float = field(factory=monotonic, init=False)
    _pieces: int = field(default=0, init=False)

    async def piece(self) -> None:
        """Note a piece. Waits if there were too many."""
        self._pieces += 1
        if self._pieces % _TURN == 0:
            due = self._begun + (self._pieces - _AT_ONCE) / _A_SECOND
            await asyncio.sleep(max(0.0, due - monotonic()))
