"""The cache book: what a provider should have in its cache of the prompts that were sent to it.

The provider never says what it keeps, but it documents how it decides, and the book decides the same way: an entry is
written at each breakpoint beyond what was found, and found by looking back from a breakpoint. So the book knows how
much of the next prompt can be read from the cache, and notices when the provider reads less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from saga_core.messages import CacheLifetime
from saga_core.prompt.measure import Measured
from saga_core.upstream import SECONDS, ModelFacts

_ENTRIES = 4_096
_EARLY = 5.0
"""Seconds by which an entry is taken for dead before it is: the request still has to travel."""


@define
class Entry:
    """A prefix in the provider's cache."""

    ttl: CacheLifetime
    expires: float


@frozen
class Outlook:
    """What one request should read and write, in tokens as counted here."""

    read: int = 0
    written: int = 0


@define
class CacheBook:
    """The cache entries of one model in one account, as far as one session made them."""

    _entries: dict[int, Entry] = field(factory=dict)

    def entries(self, now: float, most: int) -> list[tuple[int, Entry]]:
        """The live entries, at most so many: those that live longest."""
        living = [(link, entry) for link, entry in self._entries.items() if entry.expires > now]
        return sorted(living, key=lambda pair: (pair[1].expires, pair[0]))[-most:]

    def restore(self, link: int, entry: Entry) -> None:
        """Take in an entry that was noted before."""
        self._entries[link] = entry

    def alive(self, link: int, now: float) -> Entry | None:
        """The entry for a prefix, if it still lives."""
        found = self._entries.get(link)
        return found if found is not None and found.expires - _EARLY > now else None

    def living(self, chain: Sequence[int], now: float) -> list[int]:
        """The positions of a prompt that end a living entry, in order."""
        return [at for at, link in enumerate(chain) if self.alive(link, now) is not None]

    def send(self, measured: Measured, marks: Mapping[int, CacheLifetime], facts: ModelFacts, now: float) -> Outlook:
        """Take note of a request that goes out now with breakpoints at ``marks``."""
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
