"""Alignment: which turns of a path a history shows, even if replies were edited, hidden, or given more than once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from saga_core.model import Node

Places = Mapping[str, Sequence[int]]
"""The key of a reply to the places of the history where it stands, ascending."""

_TWINS = 8
"""Places of one reply that are looked at, those nearest to the end: a hundred times "Yes." prove little."""

_Chain = tuple[Node, int, "_Chain | None"]


def align(upwards: Iterable[Node], places: Places, end: int) -> list[tuple[Node, int]]:
    """The most turns of a path that stand before ``end`` in their order, each with its place; the deepest first.

    ``upwards``: the path from its end. The longest common subsequence, by Hunt and Szymanski's method, among the last
    eight places of each reply: one that was said twice, and edited once, must not be taken for its twin, past all that
    stands between them.
    """
    reached: list[int] = []
    """What follows a chain of so many turns stands before this place; negative, so that they ascend."""
    chains: list[_Chain] = []
    for node in upwards:
        if not node.reply_key:
            continue
        known = places.get(node.reply_key)
        if known is None:
            continue
        before = bisect_left(known, end)
        # The foremost first: no two places of one turn may follow each other.
        for place in known[max(0, before - _TWINS) : before]:
            at = bisect_left(reached, -place)
            chain = (node, place, chains[at - 1] if at else None)
            if at == len(reached):
                reached.append(-place)
                chains.append(chain)
            elif -place < reached[at]:
                reached[at] = -place
                chains[at] = chain
    found: list[tuple[Node, int]] = []
    last = chains[-1] if chains else None
    while last is not None:
        node, place, last = last
        found.append((node, place))
    return found[::-1]


def edited(path: Sequence[Node], known: Sequence[tuple[int, int]], words: Sequence[str]) -> Iterator[str]:
    """The turns of a path whose reply the history shows in other words: it was edited where it stands.

    ``path``: a part of it, downwards; ``known``: the turns that were found, as (index in ``path``, number of the reply
    in the history), the deepest first; ``words``: the key of the player's words before each reply of the history.
    Between two turns that are shown, as many replies are those of as many turns; otherwise the words before a reply
    tell whose it is.
    """
    below = len(path), len(words)
    for above in (*known, (-1, -1)):
        turns, replies = range(above[0] + 1, below[0]), range(above[1] + 1, below[1])
        below = above
        if len(turns) == len(replies):
            yield from (path[turn].id for turn in turns if path[turn].parent is not None)
            continue
        said: dict[str, list[int]] = {}
        for turn in turns if replies else ():
            said.setdefault(path[turn].user_key, []).append(turn)
        end = turns.stop
        for reply in reversed(replies):
            alike = said.get(words[reply], ())
            at = bisect_left(alike, end)
            if at:
                end = alike[at - 1]
                yield path[end].id
