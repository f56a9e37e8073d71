"""The cache book: predicts which prefixes a provider has in its cache.

The provider does not report its entries, but it documents its rules, and the book applies the same rules: an entry is
written at each breakpoint after the longest cached prefix, and is found by looking back from a breakpoint. So the book
knows how much of the next prompt can be read from the cache, and notices if the provider reads less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from saga_core.messages import CacheLifetime
from saga_core.prompt.measure import Measured
from saga_core.upstream import SECONDS, ModelFacts

_ENTRIES = 4_096
_EARLY = 5.0
"""Seconds before its expiry at which an entry counts as expired, to allow for the request's latency."""


@define
class Entry:
    """A prefix in the provider's cache."""

    ttl: CacheLifetime
    expires: float


@frozen
class Outlook:
    """The expected cache reads and writes of a request, in tokens as counted here."""

    read: int = 0
    written: int = 0


@define
class CacheBook:
    """The cache entries of one model in one account that one session's requests created."""

    _entries: dict[int, Entry] = field(factory=dict)

    def entries(self, now: float, most: int) -> list[tuple[int, Entry]]:
        """Return at most ``most`` live entries, those that expire last."""
        living = [(link, entry) for link, entry in self._entries.items() if entry.expires > now]
        return sorted(living, key=lambda pair: (pair[1].expires, pair[0]))[-most:]

    def restore(self, link: int, entry: Entry) -> None:
        """Add a stored entry."""
        self._entries[link] = entry

    def alive(self, link: int, now: float) -> Entry | None:
        """Return the entry of a prefix, or None if there is none or it has expired."""
        found = self._entries.get(link)
        return found if found is not None and found.expires - _EARLY > now else None

    def living(self, chain: Sequence[int], now: float) -> list[int]:
        """Return the positions of a prompt at which a live entry ends, in order."""
        return [at for at, link in enumerate(chain) if self.alive(link, now) is not None]

    def send(self, measured: Measured, marks: Mapping[int, CacheLifetime], facts: ModelFacts, now: float) -> Outlook:
        """Record a request that is sent now with breakpoints at ``marks``, and return its expected reads and writes."""
        found = -1
        for at in marks:
            hit = self._look_back(measured, at, facts.lookback, now)
            if hit >= 0:
                self._refresh(measured.chain[hit], now)
            if self.alive(measured.chain[at], now) is not None:
                self._refresh(measured.chain[at], now)
            found = max(found, hit)
        last = max(marks, default=-1)
        for at, ttl in marks.items():
            if at > found:
                self._entries[measured.chain[at]] = Entry(ttl, now + SECONDS[ttl])
        self._forget(now)
        read = measured.tokens[found] if found >= 0 else 0
        return Outlook(read, measured.tokens[last] - read if last > found else 0)

    def _look_back(self, measured: Measured, at: int, lookback: int, now: float) -> int:
        first = measured.parts[at] - lookback
        while at >= 0 and measured.parts[at] > first:
            if self.alive(measured.chain[at], now) is not None:
                return at
            at -= 1
        return -1

    def _refresh(self, link: int, now: float) -> None:
        entry = self._entries[link]
        entry.expires = now + SECONDS[entry.ttl]

    def _forget(self, now: float) -> None:
        if len(self._entries) > _ENTRIES:
            kept = sorted(self._entries.items(), key=lambda pair: pair[1].expires)[_ENTRIES // 2 :]
            self._entries = {link: entry for link, entry in kept if entry.expires > now}
