"""The fence of view stores: with several servers, a write succeeds only while the journal confirms its writer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from attrs import frozen

from saga_core.stores.state_kv import Key


@frozen
class Fence:
    """A row of the journal that must exist unchanged in the transaction of a write."""

    key: Key
    value: bytes


FenceOf = Callable[[str], Awaitable[Fence | None]]
"""Returns the fence of a scope's writes, or None for a scope that every server may write. Raises ``LeaseLost``."""


class Fenced(Protocol):
    """A view store that declares ``SHARED`` and has the same ``identity`` as the journal's store."""

    def fence(self, fence_of: FenceOf) -> None:
        """Check the fence of its scope in each write from now on.

        A write raises ``LeaseLost`` and changes nothing unless the fence holds in its own transaction, to the end of
        it.
        """
        ...
