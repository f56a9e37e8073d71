"""Vectors of recently embedded texts: swipes and retries ask for the same ones again.

The cache is in memory and bounded. On disk, vectors are in the vector store, under their turn or entry, and are removed
with it. A cache of texts on disk would keep what was forgotten.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b

from attrs import define, field
from cachetools import LRUCache

from saga_core.ports import Mode

Key = tuple[Mode, bytes]


def key_of(text: str, mode: Mode) -> Key:
    """Under what a text is known. Its own words are not kept."""
    return mode, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@define(eq=False)
class RecentVectors:
    """Evicts the least recently used beyond ``limit``."""

    limit: int
    _known: LRUCache[Key, array[float]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._known = LRUCache(self.limit)

    def get(self, key: Key) -> array[float] | None:
        """The vector, if it is known; the caller's own to change."""
        found = self._known.get(key)
        return None if found is None else found[:]

    def put(self, key: Key, vector: array[float]) -> None:
        """Remember a vector."""
        if not self.limit:
            return
        self._known[key] = vector[:]

    def __len__(self) -> int:
        return len(self._known)
