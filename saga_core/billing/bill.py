"""The bill of a turn, against the same turn without a cache and without SAGA."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from attrs import field, frozen

from saga_core.ports import Usage
from saga_core.upstream import SECONDS, ModelFacts

_MILLION = 1_000_000

Purpose = Literal["narration", "extraction", "curation"]
"""What a call was made for: to tell the story, to read what a turn changed, to review the story."""
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


@frozen
class Bill:
    """What one call cost. Tokens as the provider counts them, dollars None where the model's prices are not known."""

    turn: str
    at: float
    model: str
    provider: str
    input: int
    """All of the prompt."""
    read: int
    """What of it was read from the cache."""
    written: int
    written_1h: int
    output: int
    added: int
    """What of the prompt came from SAGA: rules, pages and context."""
    context: int
    """What of that was the volatile context."""
    block: int
    """What of the output was the state block."""
    dollars: float | None = None
    uncached: float | None = None
    """The same call without a cache."""
    without: float | None = None
    """The client's own prompt and the reply's visible text, without a cache and without SAGA."""
    pinned: str = ""
    """Why the pages in the prefix were pinned anew for this turn; empty when they were not."""
    pin: str = ""
    """The turn whose pages stood in the prefix, so that a restart goes on with them."""
    language: str = ""
    """Of those pages."""
    note: str = ""
    """What went wrong with the cache, in words; empty when nothing did."""
    purpose: Purpose = "narration"
    call: str = ""
    """Names the call among several that served its turn; empty for the narration that the turn is."""


def price(usage: Usage, facts: ModelFacts, *, cached: bool = True) -> float | None:
    """US dollars of a call; None when the prices are not known. ``cached`` false: as if nothing were in a cache."""
    if facts.input is None or facts.output is None:
        return None
    factor = facts.long_factor if facts.long_from and usage.input > facts.long_from else 1.0
    tokens = float(usage.input)
    if cached:
        by_length = sorted(facts.writes, key=lambda ttl: SECONDS[ttl])
        short, long = (facts.writes[by_length[0]], facts.writes[by_length[-1]]) if by_length else (1.0, 1.0)
        tokens += usage.cache_read * (facts.read - 1.0)
        tokens += (usage.cache_write - usage.cache_write_1h) * (short - 1.0) + usage.cache_write_1h * (long - 1.0)
    return factor * (tokens * facts.input + usage.output * facts.output) / _MILLION


@frozen
class Total:
    """Bills added up. Dollars are of the bills that have them."""

    calls: int = 0
    input: int = 0
    read: int = 0
    written: int = 0
    output: int = 0
    context: int = 0
    dollars: float = 0.0
    uncached: float = 0.0
    without: float = 0.0
    unpriced: int = 0
    """Calls whose prices are not known."""

    @property
    def saved(self) -> float | None:
        """The part of the bill without a cache and without SAGA that was saved; None when nothing is priced.

        Calls that only SAGA makes cost nothing without it.
        """
        return 1.0 - self.dollars / self.without if self.without else None


def add_up(bills: Iterable[Bill]) -> Total:
    """The total of bills."""
    calls = entered = read = written = output = context = unpriced = 0
    dollars = uncached = without = 0.0
    for bill in bills:
        calls += 1
        entered, read, written = entered + bill.input, read + bill.read, written + bill.written
        output, context = output + bill.output, context + bill.context
        if bill.dollars is None:
            unpriced += 1
        else:
            dollars += bill.dollars
            uncached += bill.uncached or 0.0
            without += bill.without or 0.0
    return Total(calls, entered, read, written, output, context, dollars, uncached, without, unpriced)


@frozen
class Account:
    """Bills added up, together and by what the calls were made for."""

    total: Total = field(factory=Total)
    by_purpose: dict[Purpose, Total] = field(factory=dict)
    """A total for each purpose, in the order of ``PURPOSES``, also where nothing was called."""

    @classmethod
    def of(cls, bills: Iterable[Bill]) -> Account:
        """The account of ``bills``."""
        found = tuple(bills)
        return cls(
            add_up(found),
            {purpose: add_up(bill for bill in found if bill.purpose == purpose) for purpose in PURPOSES},
        )
