"""StateKV: an ordered, transactional key-value store. It holds the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

from saga_core.stores.lifecycle import Store

Key = tuple[str, ...]
"""One or more non-empty segments, ordered segment by segment by code point: ``("a", "z") < ("ab",)``."""


@frozen
class Batch:
    """Writes that apply together or not at all. A key may be in only one of the two."""

    puts: Mapping[Key, bytes] = field(factory=dict)
    deletes: frozenset[Key] = frozenset()


class StateKV(Store, Protocol):
    """Bytes under keys. Keys are compared as given; the core normalises them to NFC beforehand."""

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """Return the values of the ``keys`` that exist, from one snapshot. A key may be given twice."""
        ...

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """Return up to ``limit`` entries whose key begins with the segments of ``prefix``, in key order.

        Only whole segments match: the prefix ``("a",)`` finds ``("a",)`` and ``("a", "b")``, never ``("ab",)``. The
        empty prefix matches all keys. ``after`` continues after that key, which need not exist. Each call reads one
        snapshot. Raises ``BadInput`` for a limit below 1.
        """
        ...

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """Write all of ``batch`` or nothing. A durable store has it safely on disk when this returns.

        ``expected`` maps keys to the values that they must have now (None: absent). If one differs, ``Conflict`` is
        raised and nothing is written. Two commits never both succeed on the same expectation. Deleting something absent
        is not an error. Raises ``BadInput`` for a malformed key, a key in both puts and deletes, or sizes beyond
        ``info.limits``.
        """
        ...
