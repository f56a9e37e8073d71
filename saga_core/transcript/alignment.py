"""Alignment: finds which turns of a path a history shows, even if replies were edited, hidden or repeated."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from saga_core.model import Node

Places = Mapping[str, Sequence[int]]
"""The positions of each reply in the history, ascending, by the reply's key."""

_TWINS = 8
"""Maximum positions per reply that are considered, those nearest to the end: a hundred times "Yes." prove little."""

_Chain = tuple[Node, int, "_Chain | None"]


def align(upwards: Iterable[Node], places: Places, end: int, most: int | None = None) -> list[tuple[Node, int]]:
    """Return the longest sequence of turns of a path that the history shows in order before position ``end``.

    Each turn comes with its position, the deepest first. ``upwards`` is the path from its end. This is a longest common
    subsequence by the method of Hunt and Szymanski, among the last eight positions of each reply. So a reply that was
    given twice and edited once is not matched to the wrong position. ``most`` are the positions that can be matched, as
    ``matchable`` counts them: once all of them are, the rest of the path is not read.
    """
    reached: list[int] = []
    """By chain length: the negated position of the chain's last turn. Negated so that the list ascends."""
    chains: list[_Chain] = []
    for node in upwards:
        if not node.reply_key:
            continue
        known = places.get(node.reply_key)
        if known is None:
            continue
        # First position first, so that a chain cannot have two positions of one turn.
        for place in latest(known, end):
            at = bisect_left(reached, -place)
            chain = (node, place, chains[at - 1] if at else None)
            if at == len(reached):
                reached.append(-place)
                chains.append(chain)
            elif -place < reached[at]:
                reached[at] = -place
                chains[at] = chain
        if len(reached) == most:
            break
    found: list[tuple[Node, int]] = []
    last = chains[-1] if chains else None
    while last is not None:
        node, place, last = last
        found.append((node, place))
    return found[::-1]


def matchable(places: Places, end: int) -> int:
    """Return the number of positions before ``end`` that are compared with turns."""
    return sum(len(latest(known, end)) for known in places.values())


def latest(places: Sequence[int], end: int) -> Sequence[int]:
    """Return those of a reply's positions that are compared with turns: the last eight before ``end``, ascending."""
    before = bisect_left(places, end)
    return places[max(0, before - _TWINS) : before]


def edited(path: Sequence[Node], known: Sequence[tuple[int, int]], words: Sequence[str]) -> Iterator[str]:
    """Yield the turns of a path whose reply the history shows in an edited form.

    ``path`` is a part of the path, downwards. ``known`` are the turns that were found, as (index in ``path``, number of
    the reply in the history), the deepest first. ``words`` has the key of the player's words before each reply of the
    history. If there are as many replies as turns between two known turns, they are paired in order. Otherwise they are
    paired by the player's words before the reply.
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
