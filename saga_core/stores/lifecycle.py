"""The common interface of all stores: a description, a health check and a close method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from attrs import frozen

from saga_core.capabilities import Capability


@frozen
class Limits:
    """The sizes that a store accepts. Larger input raises ``BadInput`` and changes nothing."""

    key_bytes: int = 1_024
    """A StateKV key: its segments in UTF-8, two bytes for the end of each, and one more for each NUL."""
    value_bytes: int = 16 * 1_024 * 1_024
    """In bytes: a StateKV value, a page, or the text, properties or metadata of one entry."""
    batch: int = 10_000
    """Entries in one commit, mutation, upsert or get."""
    dimension: int = 4_096
    """Components of a vector."""
    name_chars: int = 256
    """The characters of a scope, id, label, type or field name."""


MINIMUM: Mapping[str, Limits] = {
    "state": Limits(key_bytes=1_024, value_bytes=1_024 * 1_024, batch=2_000),
    "graph": Limits(value_bytes=65_536, batch=256, name_chars=200),
    "vector": Limits(value_bytes=65_536, batch=256, dimension=384, name_chars=200),
    "cache": Limits(value_bytes=1_024 * 1_024, name_chars=200),
}
"""The limits that SAGA requires of a store, by kind. ``validate.too_small`` compares those that matter to the kind."""


@frozen
class StoreInfo:
    """A store's description of itself."""

    kind: str
    """``state``, ``graph``, ``vector``, ``cache`` or ``curator``."""
    name: str
    """The backend's registered name, such as ``sqlite``."""
    version: str = ""
    """The engine's version, for people."""
    capabilities: frozenset[Capability] = frozenset()
    limits: Limits = Limits()
    location: str = ""
    """Where the data is stored, for people; empty if it is only in memory."""
    identity: str = ""
    """Identifies the data, however it is reached. Set if ``location`` alone does not do that."""


@frozen
class Health:
    """The result of ``check``: whether the store works, a description, and its size."""

    ok: bool
    detail: str = ""
    bytes: int | None = None
    """The size on disk, if the store knows it."""


class Store(Protocol):
    """The lifecycle of a store. A backend's ``open`` function returns a store that is ready to use.

    A store never keeps a reference to its arguments after a call has begun, or to its results.
    """

    @property
    def info(self) -> StoreInfo:
        """The description, constant while the store is open."""
        ...

    async def check(self, *, thorough: bool = False) -> Health:
        """Read something and report at once whether it works. ``thorough``: read everything that can reveal damage.

        Raises only ``Closed``.
        """
        ...

    async def aclose(self) -> None:
        """Finish acknowledged writes and release files and threads. A second call does nothing.

        Every other call afterwards raises ``Closed``.
        """
        ...


class Compacting(Protocol):
    """``Capability.COMPACTS``."""

    async def compact(self) -> None:
        """Rewrite the files so that they contain no bytes of deleted data. The stored data does not change."""
        ...


class Holding(Protocol):
    """A store that is both ``RESIDENT`` and ``SHARED``. It keeps in memory only the scopes it is told to hold."""

    def hold(self, scope: str) -> None:
        """Allow ``scope`` to be kept in memory, because no other process writes to it from now on."""
        ...

    def release(self, scope: str) -> None:
        """Read ``scope`` from the store again, because other processes may write to it."""
        ...
