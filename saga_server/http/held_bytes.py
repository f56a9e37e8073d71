"""How many bytes the requests of a key may hold in memory, together with those of all other keys.

A body counts from its first byte until its request ends, because what is read of it is about as large. An answer counts
while its client does not take it. Only a key that holds more than an even part is refused when there are too many, so
that no client fills the memory or locks the others out.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web
from attrs import define, field

from saga_server.http.errors import RequestError

MOST_HELD = 256 << 20
"""Bytes that all keys together may hold."""
_LITTLE = 4 << 20
"""Bytes that a key may hold in any case. The even part is that of the keys which hold more."""


@define(eq=False)
class HeldBytes:
    """The bytes that are held, by key."""

    most: int = MOST_HELD
    _by_owner: dict[str, int] = field(factory=dict, init=False)
    _total: int = field(default=0, init=False)

    def add(self, owner: str, size: int) -> bool:
        """Count ``size`` more bytes, or fewer if it is negative. Return whether the key holds more than it may."""
        self._total += size
        held = self._by_owner.pop(owner, 0) + size
        if held:
            self._by_owner[owner] = held
        if self._total <= self.most or held <= _LITTLE:
            return False
        return held > self.most // sum(each > _LITTLE for each in self._by_owner.values())


@define(eq=False)
class Holding:
    """What one request holds, until the caller says ``now(0)``."""

    among: HeldBytes
    owner: str
    size: int = 0

    def more(self, size: int) -> None:
        """Count ``size`` more bytes. Raises ``RequestError`` (429) if the key holds more than it may."""
        self.size += size
        if self.among.add(self.owner, size):
            raise RequestError(
                f"the server holds more than {self.among.most >> 20} MB of requests and answers, and more than an even "
                "part of them is of this key; send fewer at a time",
                status=429,
                kind="rate_limit_error",
            )

    def now(self, size: int) -> None:
        """Count ``size`` bytes in all, also if the key holds more than it may."""
        self.among.add(self.owner, size - self.size)
        self.size = size


HELD_BYTES: Final = web.AppKey("held_bytes", HeldBytes)
HOLDING: Final = web.RequestKey("holding", Holding)
"""What a request holds."""
