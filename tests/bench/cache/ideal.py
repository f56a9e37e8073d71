"""The ideal client, which knows the future and pays the least possible price for every token.

It sends the same texts in the best order, with all floating text at the end. A token that was at the same place in a
request of the last hour is read from the cache. A token that a later request will read is written to the cache, for
five minutes if that request comes within them, otherwise for an hour. Every other token costs the input price. Four
breakpoints could not always achieve this. Floating text is never cached, even if it stays the same for some turns.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from tests.bench.cache.rules import Piece, Rates, _chained


@frozen
class Wish:
    """A request as the ideal client arranges it."""

    at: float
    steady: tuple[Piece, ...]
    """The text that other requests may repeat."""
    tail: int
    """Tokens of the rest of the request."""


def ideal_cost(
    wishes: Sequence[Wish],
    rates: Rates,
    minimum: int,
    *,
    lives: tuple[float, float] = (300.0, 3_600.0),
    replies: bool = True,
) -> float:
    """The cost of all requests for the ideal client, in tokens at the input price.

    ``lives`` has the seconds that a short and a long entry live. ``replies`` says if an entry can end with a reply.
    """
    short, life = lives
    chained = [_chained(wish.steady) for wish in wishes]
    last: dict[int, float] = {}
    reads: list[int] = []
    nexts: list[dict[int, float]] = [{} for _ in wishes]
    seen_by: dict[int, int] = {}
    ends = [_end(wish.steady, replies) for wish in wishes]
    for number, (wish, (chain, _)) in enumerate(zip(wishes, chained, strict=True)):
        found = 0
        for at, link in enumerate(chain[: ends[number]]):
            if link in last and wish.at - last[link] <= life:
                found = at + 1
            if link in seen_by:
                nexts[seen_by[link]].setdefault(link, wish.at)
            seen_by[link], last[link] = number, wish.at
        reads.append(found)
    cost = 0.0
    for wish, (chain, tokens), found, after, end in zip(wishes, chained, reads, nexts, ends, strict=True):
        read = tokens[found - 1] if found else 0
        found, read = (found, read) if read >= minimum else (0, 0)
        cacheable = bool(tokens) and tokens[-1] >= minimum
        cost += read * rates.read + wish.tail
        for at in range(found, len(chain)):
            size = tokens[at] - (tokens[at - 1] if at else 0)
            wait = after[chain[at]] - wish.at if chain[at] in after else float("inf")
            price = rates.short if wait <= short else rates.long if wait <= life else 1.0
            price = price if cacheable and at < end else 1.0
            cost += size * price
    return cost


def _end(steady: Sequence[Piece], replies: bool) -> int:
    """The number of leading pieces that an entry can hold."""
    end = len(steady)
    while end and not replies and steady[end - 1].said:
        end -= 1
    return end
