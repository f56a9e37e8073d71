"""What a character costs where a text is divided into words: the measure for what other patterns and readers cost.

It is taken beside what it measures, so neither a slow machine nor somebody else's work on it makes anything dear.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

ONE = 3.5e-8
"""Seconds of the processor that a character costs on a machine of 2024."""
_RULER = re.compile(r"\w+\b")
_TEXT = "ab " * 5_000


def slowness() -> float:
    """How many times ``ONE`` a character costs now; 1 at least."""
    began = time.thread_time()
    for _ in _RULER.finditer(_TEXT):
        pass
    return max(1.0, (time.thread_time() - began) / len(_TEXT) / ONE)


def times_as_long(short: Callable[[], float], long: Callable[[], float]) -> float:
    """How many times as long a text of four times the length takes: 4 in proportion, 16 by the square.

    Both give seconds. The short text is read four times beside each reading of the long one, so that both take as long
    where all is well, and whatever else the machine does meets them alike. The least of seven is taken: a stretch of
    borrowed time makes one of them large, and what grows is large in all of them.
    """
    return min(4 * long() / sum(short() for _ in range(4)) for _ in range(7))
