"""The oracle of StateKV, an unordered list of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.models.refusal import Refusal, points
from saga_core.stores import Batch, Key


def _order(entry: tuple[Key, bytes]) -> list[list[int]]:
    return [points(segment) for segment in entry[0]]


class StateModel:
    """Searches all entries on every call."""

    def __init__(self) -> None:
        self.entries: list[tuple[Key, bytes]] = []

    def _value(self, wanted: Key) -> bytes | None:
        for key, value in self.entries:
            if key == wanted:
                return value
        return None

    def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        return {key: value for key, value in self.entries if key in keys}

    def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        found = []
        for entry in sorted(self.entries, key=_order):
            begins = list(entry[0])[: len(prefix)] == list(prefix)
            if begins and (after is None or _order(entry) > _order((after, b""))):
                found.append(entry)
        return found[:limit]

    def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``."""
        for key in expected or {}:
            if self._value(key) != (expected or {})[key]:
                raise Refusal("Conflict", key)
        written = [*batch.deletes, *batch.puts]
        kept = [entry for entry in self.entries if entry[0] not in written]
        self.entries = kept + [(key, bytes(value)) for key, value in batch.puts.items()]

    def snapshot(self) -> object:
        """The whole contents."""
        return self.scan((), limit=len(self.entries) + 1)
