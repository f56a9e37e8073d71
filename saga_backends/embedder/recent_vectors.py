"""Caches the vectors of recently embedded texts, because swipes and retries embed the same texts again.

The cache is bounded and in memory. On disk, the vector store keeps the vectors of each turn or entry and removes them
with it. A separate cache on disk would keep data about deleted texts.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b

from attrs import define, field
from cachetools import LRUCache

from saga_core.ports import Mode

Key = tuple[Mode, bytes]


def key_of(text: str, mode: Mode) -> Key:
    """Return the cache key of a text. It contains a hash, not the text itself."""
    return mode, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@define(eq=False)
class RecentVectors:
    """A cache of at most ``limit`` vectors, which evicts the least recently used one."""

    limit: int
    _known: LRUCache[Key, array[float]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._known = LRUCache(self.limit)

    def get(self, key: Key) -> array[float] | None:
        """Return a copy of the cached vector, or None."""
        found = self._known.get(key)
        return None if found is None else found[:]

    def put(self, key: Key, vector: array[float]) -> None:
        """Store a copy of the vector."""
        if not self.limit:
            return
        self._known[key] = vector[:]

    def __len__(self) -> int:
        return len(self._known)
