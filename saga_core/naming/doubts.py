"""Characters who may be one person under two names. Names alone do not decide it: a model or the player does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from attrs import frozen

from saga_core.language import caseless, fold_name, match_text
from saga_core.model import ONE_PERSON, Entity, Event, Kind, WorldState, deltas
from saga_core.naming.forms import bare_title, contradicts, is_title, offices_in, untitled, words_of
from saga_core.naming.titled import core, is_bare_title

_COMPARED = 64
"""The latest characters that are compared with one another."""


@frozen
class Doubt:
    """Two characters who may be one person: ``late`` was met after ``early``. Both are ids."""

    late: str
    early: str

    @property
    def key(self) -> str:
        """The key of the finding about the two."""
        return f"{ONE_PERSON}:{self.late}:{self.early}"


def doubts(state: WorldState) -> Iterator[Doubt]:
    """All pairs of characters whose names may mean one person and who are not both here."""
    people = list(state.of_kind(Kind.CHARACTER))[-_COMPARED:]
    player = state.entities.get(state.player)
    if player is not None and player not in people:
        people.insert(0, player)
    for at, late in enumerate(people):
        for early in people[:at]:
            if late.id == state.player:
                late, early = early, late
            if not _both_here(state, late.id, early.id) and any(
                _alike(one, other) for one in late.names for other in early.names
            ):
                yield Doubt(late.id, early.id)


def disguise(before: WorldState, after: WorldState, who: str) -> Doubt | None:
    """Whether somebody who is new may be a nameless one who was here until now: "the stranger" gives his name.

    ``before`` and ``after`` are the states around the turn in which ``who`` appeared.
    """
    if before.location != after.location or who not in after.present or is_nameless(after.entities[who]):
        return None
    here = frozenset(after.present)
    gone = [each for each in before.present if each not in here and each in after.entities]
    nameless = [each for each in gone if is_nameless(after.entities[each])]
    return Doubt(who, nameless[0]) if len(nameless) == 1 else None


def is_nameless(entity: Entity) -> bool:
    """Whether somebody is only described: "hooded woman", 掌门."""
    words = entity.name.split()
    if caseless(entity.name):
        return is_bare_title(entity.name)
    return all(word[:1].islower() for word in words[-1:]) or all(map(is_title, words))


def made_one(state: WorldState, gone: str, into: str) -> Iterator[Event]:
    """The events that make two characters one. Who was only described gets the other's name."""
    yield deltas.Merged(gone, into)
    one, other = state.entities.get(gone), state.entities.get(into)
    if one is None or other is None or other.kind is not Kind.CHARACTER or into == state.player:
        return
    if is_nameless(other) and not is_nameless(one):
        yield deltas.Renamed(into, one.name)


def _both_here(state: WorldState, one: str, other: str) -> bool:
    return all(each == state.player or each in state.present for each in (one, other))


def _may_be(one: str, other: str) -> bool:
    """Whether a given name may be short for another: Tam for Tamsin, J. for Julian."""
    short, long = sorted((one.strip("."), other.strip(".")), key=len)
    return long.startswith(short)


@lru_cache(maxsize=16_384)
def _alike(one: str, other: str) -> bool:
    """Whether two names share more than a title, or one is the title of the other alone."""
    if bare_title(one) in offices_in(other) or bare_title(other) in offices_in(one):
        return True
    mine, theirs = words_of(one), words_of(other)
    if contradicts(mine, theirs):
        return False
    if not caseless(one) or not caseless(other):
        named, other_named = untitled(mine), untitled(theirs)
        if len(named) > 1 and len(other_named) > 1 and not (_may_be(named[0], other_named[0])):
            return False  # of one family, with given names of their own
        shared = set(named) & set(other_named)
        return any(len(word) > 1 and not is_title(word) for word in shared)
    short, long = sorted((core(one), core(other)), key=lambda each: len(each.text))
    if not short.text:
        return False
    if len(short.text) > 1:
        return short.text in long.text or match_text(fold_name(one))[:2] == match_text(fold_name(other))[:2]
    return short.titled and long.text.startswith(short.text)
