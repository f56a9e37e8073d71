"""What every store has: a description, a health check and an end."""

from __future__ import annotations

from typing import Protocol

from attrs import frozen

from saga_core.capabilities import Capability


@frozen
class Limits:
    """The sizes that a store accepts. Beyond them it raises ``BadInput`` and changes nothing."""

    key_bytes: int = 1_024
    """A StateKV key, all segments together, in UTF-8 bytes."""
    value_bytes: int = 16 * 1_024 * 1_024
    """A StateKV value, a page, or of one entry the text, the properties or the metadata, in bytes."""
    batch: int = 10_000
    """Entries in one commit, mutation, upsert or get."""
    dimension: int = 4_096
    """Components of a vector."""
    name_chars: int = 256
    """A scope, id, label, type or field name, in characters."""


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


@frozen
class Health:
    """A store's answer to ``check``: whether it works, in words, and how much it holds."""

    ok: bool
    detail: str = ""
    bytes: int | None = None
    """Size on disk, when the store can tell."""


class Store(Protocol):
    """The life of a store. A backend's ``open`` function gives one that is ready to use."""

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
