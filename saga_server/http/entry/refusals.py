"""Rate limit for refusing requests without a valid key, by client address.

Refusing a request takes about a millisecond, so a program that asks a thousand times a second would block the server.
Requests with a valid key are never delayed, not even behind a reverse proxy that gives all requests one address.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
from collections.abc import Callable

from attrs import define, field

_log = logging.getLogger("saga.http")

_AT_ONCE = 50
"""Refusals that an address gets without delay. A page that opens with a wrong key sends thirty requests."""
_A_SECOND = 10.0
"""Refusals per second after that."""
_LONGEST = 5.0
"""The longest delay of a refusal in seconds. A request that would have to wait longer gets no reply."""
_ADDRESSES = 10_000


def _now() -> float:
    return asyncio.get_running_loop().time()


@define(eq=False)
class Refusals:
    """Delays refusals, by client address."""

    now: Callable[[], float] = _now
    _free_at: dict[str, float] = field(factory=dict, init=False)
    """By address: the time of its last scheduled refusal."""
    _unanswered: set[str] = field(factory=set, init=False)
    """Addresses whose last request got no reply. Each is logged once."""

    async def wait(self, address: str | None) -> bool:
        """Wait until ``address`` may be refused. Return false at once if too many of its requests are waiting."""
        now, whose = self.now(), _whose(address)
        if len(self._free_at) > _ADDRESSES:
            self._free_at = {other: free_at for other, free_at in self._free_at.items() if free_at > now}
            self._unanswered &= self._free_at.keys()
        free_at = max(self._free_at.get(whose, -math.inf), now - _AT_ONCE / _A_SECOND) + 1 / _A_SECOND
        if free_at - now > _LONGEST:
            if whose not in self._unanswered:
                self._unanswered.add(whose)
                _log.warning("%s asks again and again without a key of this server; some of it is not answered", whose)
            return False
        self._free_at[whose] = free_at
        self._unanswered.discard(whose)
        if free_at > now:
            await asyncio.sleep(free_at - now)
        return True


def _whose(address: str | None) -> str:
    """Return the address to count by. An IPv6 client controls a /64 network, so the network is counted."""
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:  # a local socket, or a name that a proxy gives
        return address or ""
    return str(found) if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))
