"""What every store has: a description, a health check and an end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from attrs import frozen

from saga_core.capabilities import Capability


@frozen
class Limits:
    """The sizes that a store accepts. Beyond them it raises ``BadInput`` and changes nothing."""

    key_bytes: int = 1_024
    """A StateKV key: its segments in UTF-8, two bytes for the end of each, and one more for each NUL."""
    value_bytes: int = 16 * 1_024 * 1_024
    """A StateKV value, a page, or of one entry the text, the properties or the metadata, in bytes."""
    batch: int = 10_000
    """Entries in one commit, mutation, upsert or get."""
    dimension: int = 4_096
    """Components of a vector."""
    name_chars: int = 256
    """A scope, id, label, type or field name, in characters."""


MINIMUM: Mapping[str, Limits] = {
    "state": Limits(key_bytes=1_024, value_bytes=1_024 * 1_024, batch=2_000),
    "graph": Limits(value_bytes=65_536, batch=256, name_chars=200),
    "vector": Limits(value_bytes=65_536, batch=256, dimension=384, name_chars=200),
    "cache": Limits(value_bytes=1_024 * 1_024, name_chars=200),
}
"""The least that SAGA needs of a store, by kind. What a kind does not write is not looked at: see ``_NEEDED``."""

_NEEDED: Mapping[str, tuple[str, ...]] = {
    "state": ("key_bytes", "value_bytes", "batch"),
    "graph": ("value_bytes", "batch", "name_chars"),
    "vector": ("value_bytes", "batch", "dimension", "name_chars"),
    "cache": ("value_bytes", "name_chars"),
}


def too_small(kind: str, limits: Limits) -> tuple[str, ...]:
    """What is below the ``MINIMUM`` of ``kind``, each with both numbers, such as ``batch: 100, SAGA needs 2000``."""
    least = MINIMUM.get(kind, Limits())
    return tuple(
        f"{name}: {getattr(limits, name)}, SAGA needs {getattr(least, name)}"
        for name in _NEEDED.get(kind, ())
        if getattr(limits, name) < getattr(least, name)
    )


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
    """Where the data lies, for people; empty when only in memory."""
    identity: str = ""
    """Tells this data from all other, however it is reached, where that is more than ``location`` tells."""


@frozen
class Health:
    """A store's answer to ``check``: whether it works, in words, and how much it holds."""

    ok: bool
    detail: str = ""
    bytes: int | None = None
    """Size on disk, when the store can tell."""


class Store(Protocol):
    """The life of a store. A backend's ``open`` function gives one that is ready to use.

    What a call was given belongs to its caller again as soon as it has begun, and what it gave does too.
    """

    @property
    def info(self) -> StoreInfo:
        """Constant while the store is open."""
        ...

    async def check(self, *, thorough: bool = False) -> Health:
        """Read something and say how it went, at once; ``thorough``: read everything that can tell of damage.

        Raises only ``Closed``.
        """
        ...

    async def aclose(self) -> None:
        """Finish what was acknowledged and let go of files and threads. A second call does nothing.

        Every other call after it raises ``Closed``.
        """
        ...


class Compacting(Protocol):
    """``Capability.COMPACTS``."""

    async def compact(self) -> None:
        """Write the files anew, so that no byte of what was deleted is left in them. What is stored stays as it is."""
        ...


class Holding(Protocol):
    """What declares both ``RESIDENT`` and ``SHARED``: it keeps in memory only the scopes that it is told to hold."""

    def hold(self, scope: str) -> None:
        """Nobody else writes to ``scope`` from now on: it may be kept in memory."""
        ...

    def release(self, scope: str) -> None:
        """Others may write to ``scope`` again: it is read from the store."""
        ...
