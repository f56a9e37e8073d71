"""The stored records of servers and leases."""

from __future__ import annotations

import asyncio

from attrs import define, field, frozen

from saga_core import codec


@frozen
class Lease:
    """The writer of a session. ``epoch`` grows each time the lease is taken, and is never reused."""

    owner: str
    """The server; empty if the lease was returned."""
    epoch: int


@frozen
class Beat:
    """A server's heartbeat, with a growing ``count``."""

    count: int
    address: str = ""
    """The address for other servers; empty if there is none."""
    seconds: float = 0.0
    """How long the server may be silent, by its own settings."""


NOBODY = Lease("", 0)


def read_lease(raw: bytes | None) -> Lease:
    """Decode a stored lease. Raises ``StoreCorrupt``."""
    return NOBODY if raw is None else codec.decode(raw, Lease)


def read_order(raw: bytes | None) -> int:
    """Decode the number of writes of a session."""
    return 0 if raw is None else int(raw)


def write_order(number: int) -> bytes | None:
    """Encode a number for ``read_order``; None for a session that was never written."""
    return str(number).encode() if number else None


@define(eq=False)
class Held:
    """A lease that this server holds."""

    raw: bytes
    """The stored row, which serves as the fence."""
    epoch: int
    order: int
    used: float
    """The time of the last use, on the event loop's clock."""
    busy: int = 0
    """The number of running commits."""
    writing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by a commit that gets an order number."""
