"""StateKV: an ordered, transactional key-value store. The journal lives in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

from saga_core.stores.lifecycle import Store

Key = tuple[str, ...]
"""One or more non-empty segments. Ordered segment by segment, each by code point: ``("a", "z") < ("ab",)``."""


@frozen
class Batch:
    """Writes that happen together or not at all. A key may stand in one of the two only."""

    puts: Mapping[Key, bytes] = field(factory=dict)
    deletes: frozenset[Key] = frozenset()


class StateKV(Store, Protocol):
    """Bytes under keys. Keys are compared as given: the core brings them to NFC beforehand."""

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """The values of those ``keys`` that exist, read at one moment. A key may be named twice."""
        ...

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """Up to ``limit`` entries whose key begins with the segments of ``prefix``, in key order.

        Segments match whole: the prefix ``("a",)`` finds ``("a",)`` and ``("a", "b")``, never ``("ab",)``. The
        empty prefix is the whole store. ``after`` continues behind that key, which need not exist.
        Each call sees one moment. Raises ``BadInput`` for a limit below 1.
        """
        ...

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """Write ``batch`` all or nothing; on a durable store it is safe on disk when this returns.

        ``expected`` names keys and the values that they must have now (None: absent); when one differs,
        ``Conflict`` is raised and nothing is written. Two commits never both win on the same expectation.
        Deleting what is absent is no error. Raises ``BadInput`` for a malformed key, a key in both puts and
        deletes, or sizes beyond ``info.limits``.
        """
        ...
