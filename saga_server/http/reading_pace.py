"""Limits how much of the processor requests in tiny parts take, which nobody's share counts.

Reading a body in chunks of one byte takes a hundred times as long as reading one in a single part, also before it is
known who sends it. Until then it counts to the network. If that has taken its part, no more than a head is read of its
new connections, so that those who show a key are not held up.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import define, field

_BYTE = 2e-8
"""Seconds of CPU time for each byte that are not counted, so that large requests in large parts are free."""
_SHARE = 0.02
"""The part of a core that the counted time of a key or a network may take. Four hundred requests a second take as much.
What handles the parts takes several times the time that is counted, which is that of the parser."""
_SAVED = 2.5
"""The most seconds of which one has not taken its part, that it may take at once."""
_LONGEST = 5.0
"""The longest pause in seconds."""


@define(eq=False)
class ReadingPace:
    """Until when each key and each network has taken its part."""

    HEAD: ClassVar = 2_048
    """Bytes that are read at once of a new connection of such a network."""
    ALL: ClassVar = 256 * 1_024

    _until: dict[str, float] = field(factory=dict, init=False)

    def spent(self, owner: str, seconds: float, size: int, now: float) -> float:
        """Count the CPU time of parsing ``size`` bytes. Return for how long the connection pauses."""
        if (counted := seconds - size * _BYTE) > 0:
            if len(self._until) > 1_000:
                self._until = {each: until for each, until in self._until.items() if until > now - _SAVED}
            until = max(now - _SAVED, self._until.get(owner, 0.0)) + counted / _SHARE
            self._until[owner] = min(until, now + _LONGEST)
        return self.left(owner, now)

    def left(self, owner: str, now: float) -> float:
        """For how long nothing more is read."""
        return max(0.0, self._until.get(owner, 0.0) - now)
