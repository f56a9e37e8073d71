"""The fence of views: what several servers write holds only while the journal says that the writer may."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from attrs import frozen

from saga_core.stores.state_kv import Key


@frozen
class Fence:
    """A row of the journal that must be there as it is, in the transaction of a write."""

    key: Key
    value: bytes


FenceOf = Callable[[str], Awaitable[Fence | None]]
"""The fence of a scope's writes; None for a scope that everybody may write. Raises ``LeaseLost``."""


class Fenced(Protocol):
    """A store of views that declares ``SHARED`` and whose ``identity`` is that of the journal's store."""

    def fence(self, fence_of: FenceOf) -> None:
        """From now on each write asks for the fence of its scope. It raises ``LeaseLost`` and changes nothing unless
        the fence holds in its own transaction, to the end of it.
        """
        ...
