"""What a character costs where a text is divided into words: the measure for what other patterns and readers cost.

It is taken beside what it measures, so neither a slow machine nor somebody else's work on it makes anything dear.
"""

from __future__ import annotations

import re
import time

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
