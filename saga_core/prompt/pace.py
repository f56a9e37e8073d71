"""The player's pace: how likely the next request comes before a cache entry expires, judged by the latest pauses."""

from __future__ import annotations

from collections.abc import Sequence

_FADE = 0.9
"""What a gap counts beside the one after it."""
_PRIOR_WEIGHT, _PRIOR_LATE = 0.5, 0.1
"""What is believed of a player nobody knows: as much as half a gap, of which one in ten is late."""
_LEAST = 0.005
"""No pace is so steady that nobody ever leaves the table."""
_INSTANT = 1.0
"""Seconds; closer moments are one event: several replies, or turns adopted together."""
_MARGIN = 0.95
"""A gap of nearly the whole lifetime counts as late."""
_REMEMBERED = 48


def chance_between(moments: Sequence[float], short: float, long: float) -> float:
    """The chance that the next request comes later than ``short`` and not later than ``long`` seconds after this one.

    ``moments``: when earlier requests and this one came, in order, seconds since the epoch. Gaps longer than ``long``
    say nothing: no lifetime helps against them.
    """
    late, weight, counted = _PRIOR_WEIGHT * _PRIOR_LATE, _PRIOR_WEIGHT, 1.0
    recent = moments[-_REMEMBERED:]
    for at in range(len(recent) - 1, 0, -1):
        gap = recent[at] - recent[at - 1]
        if gap < _INSTANT or gap > long * _MARGIN:
            continue
        late += counted if gap > short * _MARGIN else 0.0
        weight += counted
        counted *= _FADE
    return max(_LEAST, late / weight)
