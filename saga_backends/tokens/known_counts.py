"""Caches recent token counts, because most of a history was already counted for the previous request."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock

from attrs import define, field

_ENTRIES = 8_192
_SHORT = 4_096


@define(eq=False)
class KnownCounts:
    """Caches the results of ``count`` by fingerprint, so that long texts are not kept alive.

    It may be used from several threads, because long texts are counted off the event loop.
    """

    count: Callable[[str], int]
    least: int = 64
    """Texts with fewer characters, such as the lines of a page, are cached by their text, which is faster."""
    _lately: dict[tuple[int, int], int] = field(factory=dict, init=False)
    _before: dict[tuple[int, int], int] = field(factory=dict, init=False)
    """The entries from before ``_lately`` was started. They are dropped when ``_lately`` is full.

    Two dicts are several times as fast as one that keeps the order of use. Each message of each request is looked up.
    """
    _lock: Lock = field(factory=Lock, init=False, repr=False)
    _of_short: Callable[[str], int] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._of_short = lru_cache(maxsize=_SHORT)(self.count)

    def of(self, text: str) -> int:
        """Return the count of ``text``."""
        if len(text) < self.least:
            return self._of_short(text)
        key = (hash(text), len(text))
        found = self._lately.get(key)
        if found is None:
            found = self._before.get(key)
            if found is None:
                found = self.count(text)
            with self._lock:
                if len(self._lately) >= _ENTRIES // 2:
                    self._before, self._lately = self._lately, {}
                self._lately[key] = found
        return found
