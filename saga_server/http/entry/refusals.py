"""Requests without a key of this server: those of one address are answered no faster than somebody mistypes keys.

A refusal takes about a thousandth of a second: a program that asks a thousand times a second would hold up everybody.
Whoever shows a key is never held up here, also behind a reverse proxy that gives all requests one address.
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
"""Refusals of an address that are answered at once: a page that opens with a wrong key asks for thirty things."""
_A_SECOND = 10.0
"""How many are answered after that."""
_LONGEST = 5.0
"""Seconds that an answer waits. Who asks more than that is not answered."""
_ADDRESSES = 10_000


def _now() -> float:
    return asyncio.get_running_loop().time()


@define(eq=False)
class Refusals:
    """When the next refusal of each address is answered."""

    now: Callable[[], float] = _now
    _free_at: dict[str, float] = field(factory=dict, init=False)
    """By address: the time up to which its refusals are answered already."""
    _unanswered: set[str] = field(factory=set, init=False)
    """Those whose last one was not answered."""

    async def wait(self, address: str | None) -> bool:
        """Wait until ``address`` may be answered; false, at once, when too many of its requests wait already."""
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
    """One of IPv6 has a network of 64 bits for itself."""
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:  # a socket of this machine, or a proxy's word
        return address or ""
    return str(found) if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))
