"""Habits of a narrator, learned from its reports.

Many small models put everything that the player carries under ``items_gained``, in every reply, or the new total of
what was found. Read as gains, six dollars become twelve, then eighteen. Both show in comparison with what the player
carries: an inventory has all of it, and after a loss a total is the exact rest. The signs are counted on the path. A
narrator who stops doing so is believed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from saga_core.model import HABITS, Entity

LISTS, TOTALS, LISTED, REPEATED = HABITS
_SURE = 3
_LEAST = 2
"""So many things at least show that a list is an inventory; one may have been found again."""


@frozen
class Habits:
    """Signs that the narrator's gains are inventories, and that they are totals, at most ``_SURE`` of each."""

    lists: int = 0
    totals: int = 0


def habits_of(player: Entity | None) -> Habits:
    """The habits that the path has shown until now."""
    if player is None:
        return Habits()
    lists, totals = player.get(LISTS), player.get(TOTALS)
    return Habits(lists if isinstance(lists, int) else 0, totals if isinstance(totals, int) else 0)


def absolute_gains(
    gains: Mapping[str, int],
    carried: Mapping[str, int],
    left: Mapping[str, int],
    habits: Habits,
    is_mentioned: Callable[[str], bool],
) -> tuple[frozenset[str], Habits]:
    """The things of ``gains`` whose quantity is what the player has in the end, and the habits after this list.

    ``gains``, ``carried`` and ``left`` are quantities by thing: reported as gained, held before, and reported as given
    away or lost. ``is_mentioned`` tells whether the words of the turn name a thing: what nobody speaks of was not found
    just now.
    """
    stays = {thing: count for thing, count in carried.items() if thing not in left}
    again = frozenset(stays.keys() & gains.keys())
    rest = frozenset(thing for thing, count in left.items() if 0 < gains.get(thing, 0) == carried.get(thing, 0) - count)
    totals = min(_SURE, habits.totals + 1) if rest else habits.totals
    if again and _is_inventory(gains, stays, again, habits.lists, is_mentioned):
        return again | rest, Habits(min(_SURE, habits.lists + 1), totals)
    lists = max(0, habits.lists - 1) if gains and stays else habits.lists
    if totals and any(gains[thing] < stays[thing] for thing in again):
        return rest, Habits(lists, 0)  # a total does not shrink by itself
    return rest | again if totals else rest, Habits(lists, totals)


def _is_inventory(
    gains: Mapping[str, int],
    stays: Mapping[str, int],
    again: frozenset[str],
    seen: int,
    is_mentioned: Callable[[str], bool],
) -> bool:
    if seen:
        return 2 * len(again) >= len(stays) or seen == _SURE
    equal = [thing for thing in again if gains[thing] == stays[thing]]
    if all(map(is_mentioned, again)):
        return False
    # One thing may be missing, or have another name.
    return (len(again) == len(stays) >= _LEAST and bool(equal)) or len(stays) - 1 == len(equal) > _LEAST
