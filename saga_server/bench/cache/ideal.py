"""The ideal client: one that knows the future, and pays for every token the least that anybody could.

It has the same texts in the best order, everything that floats at the end. A token that stood in an earlier request of
the last hour, at the same place, is read. One that will be read is written, for five minutes when its next reader comes
by then, for an hour otherwise. Every other token is plain. It is more than four breakpoints could always reach. Only
text that floats it never caches, not even while that stays the same for some turns.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from saga_server.bench.cache.rules import Piece, Rates, _chained


@frozen
class Wish:
    """A request as the ideal client arranges it."""

    at: float
    steady: tuple[Piece, ...]
    """What can ever be repeated."""
    tail: int
    """Tokens of all the rest."""


def ideal_cost(
    wishes: Sequence[Wish],
    rates: Rates,
    minimum: int,
    *,
    lives: tuple[float, float] = (300.0, 3_600.0),
    replies: bool = True,
) -> float:
    """Tokens at the input price that the ideal client pays for all requests.

    ``lives``: seconds that a short and a long entry live. ``replies``: whether what the model said can end an entry.
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
    """How many pieces at the beginning can be an entry."""
    end = len(steady)
    while end and not replies and steady[end - 1].said:
        end -= 1
    return end
