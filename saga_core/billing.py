"""The bill of a turn, compared with the same turn without a cache and without SAGA."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from attrs import evolve, field, frozen

from saga_core.ports import Usage
from saga_core.upstream import SECONDS, ModelFacts

_MILLION = 1_000_000

Purpose = Literal["narration", "extraction", "curation"]
"""The purpose of a call: to narrate, to read the changes of a turn, or to review the story."""
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


@frozen
class Bill:
    """The cost of one call. Tokens are the provider's counts. Dollars are None if the model's prices are unknown."""

    turn: str
    at: float
    model: str
    provider: str
    input: int
    """All tokens of the prompt."""
    read: int
    """The part of the prompt that was read from the cache."""
    written: int
    written_1h: int
    output: int
    added: int
    """The part of the prompt that SAGA added: rules, pages and context."""
    context: int
    """The part of ``added`` that is the volatile context."""
    block: int
    """The part of the output that is the state block."""
    dollars: float | None = None
    uncached: float | None = None
    """The dollars of the same call without a cache."""
    without: float | None = None
    """The dollars of the client's own prompt and the reply's visible text, without a cache and without SAGA."""
    pinned: str = ""
    """Why the pages in the prefix were pinned again for this turn; empty if they were not."""
    pin: str = ""
    """The turn whose pages were in the prefix, so that a restart continues with them."""
    language: str = ""
    """The language of those pages."""
    note: str = ""
    """A description of a problem with the cache; empty if there was none."""
    purpose: Purpose = "narration"
    call: str = ""
    """Identifies a call among several for the same turn; empty for the turn's narration."""


def price(usage: Usage, facts: ModelFacts, *, cached: bool = True) -> float | None:
    """Return the price of a call in US dollars; None if unknown. ``cached=False`` ignores all cache effects."""
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


def priced(bill: Bill, facts: ModelFacts) -> Bill:
    """Return a bill whose price was unknown, at the price that is known now."""
    if bill.dollars is not None or not facts.priced:
        return bill
    usage = Usage(bill.input, bill.output, bill.read, bill.written, bill.written_1h)
    alone = Usage(bill.input - bill.added, bill.output - bill.block)
    return evolve(
        bill,
        dollars=price(usage, facts),
        uncached=price(usage, facts, cached=False),
        without=price(alone, facts, cached=False) if bill.purpose == "narration" else 0.0,
    )


@frozen
class Total:
    """The sum of bills. Dollars include only bills with known prices."""

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
    """Calls whose prices are unknown."""

    @property
    def saved(self) -> float | None:
        """The saved share of the cost without a cache and without SAGA; None if no price is known.

        Calls that only SAGA makes would cost nothing without it.
        """
        return 1.0 - self.dollars / self.without if self.without else None


def add_up(bills: Iterable[Bill]) -> Total:
    """Return the sum of bills."""
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
    """The sum of bills, in total and by purpose."""

    total: Total = field(factory=Total)
    by_purpose: dict[Purpose, Total] = field(factory=dict)
    """A total for each purpose, in the order of ``PURPOSES``, even if it has no calls."""

    @classmethod
    def of(cls, bills: Iterable[Bill]) -> Account:
        """Return the account of ``bills``."""
        found = tuple(bills)
        return cls(
            add_up(found),
            {purpose: add_up(bill for bill in found if bill.purpose == purpose) for purpose in PURPOSES},
        )
