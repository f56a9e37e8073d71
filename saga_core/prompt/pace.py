"""The player's pace: estimates from recent pauses how likely the next request comes after a cache entry expires."""

from __future__ import annotations

from collections.abc import Sequence

_FADE = 0.9
"""Weight of a gap relative to the gap after it."""
_PRIOR_WEIGHT, _PRIOR_LATE = 0.5, 0.1
"""The prior for an unknown player: the weight of half a gap, with a 10% chance of being late."""
_LEAST = 0.005
"""Minimum chance. Even a steady player pauses at times."""
_INSTANT = 1.0
"""Seconds. Closer moments are one event, such as several replies or turns that were adopted together."""
_MARGIN = 0.95
"""A gap of nearly the whole lifetime counts as late."""
_REMEMBERED = 48


def chance_between(moments: Sequence[float], short: float, long: float) -> float:
    """Return the chance that the next request comes more than ``short`` and at most ``long`` seconds after this one.

    ``moments`` are the times of earlier requests and this one, in order, in seconds since the epoch. Gaps longer than
    ``long`` are ignored, because no lifetime covers them.
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
