"""What is kept of servers and leases in the journal's store."""

from __future__ import annotations

import asyncio

from attrs import define, field, frozen

from saga_core import codec


@frozen
class Lease:
    """Who writes a session. ``epoch`` grows whenever somebody takes it, and never comes again."""

    owner: str
    """The server; empty when it was given back."""
    epoch: int


@frozen
class Beat:
    """A server's sign of life: ``count`` grows."""

    count: int
    address: str = ""
    """Where other servers reach it; empty: nowhere."""
    seconds: float = 0.0
    """How long it may be silent, by its own settings."""


NOBODY = Lease("", 0)


def read_lease(raw: bytes | None) -> Lease:
    """The lease that is stored. Raises ``StoreCorrupt``."""
    return NOBODY if raw is None else codec.decode(raw, Lease)


def read_order(raw: bytes | None) -> int:
    """How often a session was written."""
    return 0 if raw is None else int(raw)


def write_order(number: int) -> bytes | None:
    """What ``read_order`` reads; None for a session that was never written."""
    return str(number).encode() if number else None


@define(eq=False)
class Held:
    """A lease that this server holds."""

    raw: bytes
    """As it is stored: the fence."""
    epoch: int
    order: int
    used: float
    """When it was used last, on the loop's clock."""
    busy: int = 0
    """Commits under way."""
    writing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by a commit that others have to see in order."""
