"""StateKV in memory, as a dict and a sorted list of its keys."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from itertools import islice

from saga_backends.memory.lifecycle import MemoryStore
from saga_core.errors import Conflict
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Batch, Key, Limits, StateKV
from saga_core.stores.validate import check_batch, check_keys, check_scan


class MemoryState(MemoryStore):
    """A state store in memory. It never awaits, so each call is atomic."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - a frozen value
        super().__init__("state", limits)
        self._values: dict[Key, bytes] = {}
        # Tuples of str compare as the contract requires, segment by segment and by code point.
        self._order: list[Key] = []

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        self._alive()
        check_keys(keys, self.info.limits)
        return {key: self._values[key] for key in keys if key in self._values}

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        self._alive()
        check_scan(prefix, after, limit, self.info.limits)
        start = bisect_left(self._order, prefix)
        if after is not None:
            start = max(start, bisect_right(self._order, after))
        found: list[tuple[Key, bytes]] = []
        for key in islice(self._order, start, None):
            if len(found) == limit or key[: len(prefix)] != prefix:
                break
            found.append((key, self._values[key]))
        return found

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``."""
        self._alive()
        check_batch(batch, expected, self.info.limits)
        for key, wanted in (expected or {}).items():
            if self._values.get(key) != wanted:
                raise Conflict(key)
        for key in batch.deletes:
            if self._values.pop(key, None) is not None:
                del self._order[bisect_left(self._order, key)]
        for key, value in batch.puts.items():
            if key not in self._values:
                insort(self._order, key)
            self._values[key] = value


async def _open(options: OpenOptions) -> StateKV:
    options.take()
    return MemoryState()


STATE = Backend("state", "memory", _open, "a dict; nothing survives the process")
