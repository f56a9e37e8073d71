"""Counts of recently counted texts: nearly all of a history was already counted for the previous request."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock

from attrs import define, field
from cachetools import LRUCache

_ENTRIES = 8_192
_SHORT = 4_096


@define(eq=False)
class KnownCounts:
    """Caches the results of ``count`` by fingerprint, so that long texts are not kept alive.

    Several threads may ask: what is long is counted beside the event loop.
    """

    count: Callable[[str], int]
    least: int = 64
    """Texts with fewer characters, such as the lines of a page, are kept with their counts: that is faster."""
    _known: LRUCache[tuple[int, int], int] = field(factory=lambda: LRUCache(_ENTRIES), init=False)
    _lock: Lock = field(factory=Lock, init=False, repr=False)
    _of_short: Callable[[str], int] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._of_short = lru_cache(maxsize=_SHORT)(self.count)

    def of(self, text: str) -> int:
        """The count of ``text``."""
        if len(text) < self.least:
            return self._of_short(text)
        key = (hash(text), len(text))
        with self._lock:
            found = self._known.get(key)
        if found is None:
            found = self.count(text)
            with self._lock:
                self._known[key] = found
        return found
