"""Limits how much of the processor a network takes by requests in tiny parts, which nobody's share counts.

Reading a body in chunks of one byte takes a hundred times as long as reading one in a single part, also before it is
known who sends it.
"""

from __future__ import annotations

from attrs import define, field

_BYTE = 2e-8
"""Seconds of CPU time for each byte that are not counted, so that large requests in large parts are free."""
_SHARE = 0.02
"""The part of a core that the counted time of a network may take. Four hundred requests a second take as much. What
handles the parts takes several times the time that is counted, which is that of the parser."""
_SAVED = 2.5
"""The most seconds of which a network has not taken its part, that it may take at once."""
_LONGEST = 5.0
"""The longest pause in seconds."""


@define(eq=False)
class ReadingPace:
    """Until when each network has taken its part."""

    _until: dict[str, float] = field(factory=dict, init=False)

    def spent(self, network: str, seconds: float, size: int, now: float) -> float:
        """Count the CPU time of parsing ``size`` bytes of a network. Return for how long its connection pauses."""
        if (counted := seconds - size * _BYTE) > 0:
            if len(self._until) > 1_000:
                self._until = {each: until for each, until in self._until.items() if until > now - _SAVED}
            until = max(now - _SAVED, self._until.get(network, 0.0)) + counted / _SHARE
            self._until[network] = min(until, now + _LONGEST)
        return self.left(network, now)

    def left(self, network: str, now: float) -> float:
        """For how long a connection of a network pauses."""
        return max(0.0, self._until.get(network, 0.0) - now)
