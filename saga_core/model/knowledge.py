"""Who knows what happened at which turn.

Those who were there know it, unless they slept, and everybody whom a later turn names as told, from that turn on. A
turn may also have a set audience: some characters only (with nobody, the narrator alone), or everybody. Where it is not
known who was there, nobody is taken for ignorant.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from saga_core.model.tree import TurnNode

if TYPE_CHECKING:  # a draft holds a state, which holds what is defined here
    from saga_core.model.deltas import AudienceSet
    from saga_core.model.draft import Draft

ALSO, EXCEPT, ONLY, EVERYBODY, PRESENT = "also", "except", "only", "everybody", "present"
AUDIENCES = (ALSO, EXCEPT, ONLY, EVERYBODY, PRESENT)
MAX_AUDIENCES = 512
"""Turns with an audience of their own that a state keeps. Beyond this limit the oldest are dropped."""


@frozen
class Hearing:
    """Since which turn (depth) somebody knows something, and the id of who told it; empty if nobody did."""

    since: int
    by: str = ""


@frozen
class Audience:
    """Who knows what happened at one turn, if that is not just those who were there."""

    base: str = PRESENT
    """``present``, ``only`` or ``everybody``."""
    only: tuple[str, ...] = ()
    """The ids of those who know it, with ``only``."""
    told: Mapping[str, Hearing] = field(factory=dict)
    """Id of a character -> when and from whom the character heard of it."""
    missed: tuple[str, ...] = ()
    """The ids of those who do not know it by being there: they slept, or were a voice on the radio."""


def set_audience(draft: Draft, event: AudienceSet) -> None:
    """Apply an event to a draft. Turn 0 is the turn of the event itself."""
    depth = event.turn or draft.depth
    if depth > draft.depth or event.audience not in AUDIENCES:
        draft.problem(f"turn {depth} ({event.audience}) is no turn whose audience is known")
        return
    audiences = draft.map("audiences")
    old: Audience = audiences.get(depth, Audience())
    merged, present = draft.view("merged"), draft.view("present")
    who = tuple(dict.fromkeys(each for each in event.who if each in merged or draft.entity(each) is not None))
    if event.audience == ALSO:
        new = {each: Hearing(draft.depth, event.by) for each in who if each not in old.told}
        audiences[depth] = evolve(old, told={**old.told, **new})
    elif event.audience == EXCEPT:
        # Under the other name too, unless that one was there.
        whole = (one for each in who if (one := merged.get(each)) and one not in present)
        audiences[depth] = evolve(old, missed=tuple(dict.fromkeys((*old.missed, *who, *whole))))
    elif event.audience == PRESENT:
        audiences.pop(depth, None)
    else:
        audiences[depth] = Audience(event.audience, who if event.audience == ONLY else ())
    for oldest in sorted(audiences)[:-MAX_AUDIENCES]:
        del audiences[oldest]


def hearing(
    node: TurnNode, audiences: Mapping[int, Audience], ids: Collection[str], assumed: int | None = None
) -> Hearing | None:
    """Return since when the character with these ``ids`` knows what happened at a turn, or None if it does not.

    ``ids`` are the character's id and those of the entities that were merged into it: what one of them knows, it knows.
    ``assumed`` is the depth from which the character is taken to be there, because nobody reports it; see
    ``assumed_from``.
    """
    audience = audiences.get(node.depth)
    if audience is not None:
        told = [audience.told[each] for each in ids if each in audience.told]
        if told:
            return min(told, key=lambda each: each.since)
        if audience.base == EVERYBODY:
            return Hearing(node.depth)
        if audience.base == ONLY:
            return Hearing(node.depth) if any(each in ids for each in audience.only) else None
        awake = frozenset(ids).difference(audience.missed)
        if ids and not awake:
            return None
        ids = awake
    there = node.members
    if node.parent is None or there is None:
        return Hearing(node.depth)
    if assumed is not None and node.depth >= assumed:
        return Hearing(node.depth)
    return None if there.isdisjoint(ids) else Hearing(node.depth)


def assumed_from(met: Collection[str], audiences: Mapping[int, Audience], ids: Collection[str]) -> int | None:
    """Return the depth from which a character is taken to be there, because reports never list it; None if they do.

    That is the turn in which it first spoke, and the beginning if reports list nobody at all. ``met`` are the ids of
    all who were ever listed.
    """
    if not met:
        return 0
    if any(who in met or any(who in each.missed for each in audiences.values()) for who in ids):
        return None
    spoken = (
        depth for depth, each in audiences.items() for who in ids if who in each.told and each.told[who].since == depth
    )
    return min(spoken, default=None)
