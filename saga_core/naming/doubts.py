"""Characters who may be one person under two names. Names alone do not decide it: a model or the player does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile

from attrs import frozen

from saga_core.language import (
    caseless,
    clean_name,
    every,
    fold_name,
    is_unspaced,
    match_text,
    mentions,
    without_speech,
)
from saga_core.model import ONE_PERSON, Entity, Event, Kind, WorldState, deltas
from saga_core.naming.forms import bare, bare_title, contradicts, is_title, name_words, offices_in, untitled, words_of
from saga_core.naming.titled import core, is_bare_title

_POSSESSIVE = re.compile(r"['’]s\b")
_SENTENCE = re.compile(r"[.!?。！？…\n]")
_BEGINNING, _ENDING = 3, 2
"""The minimum of letters with which a name and its short form begin, and the maximum behind them in the latter."""
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
    here = {state.player, *state.present}
    named = [(each.id, each.names, each.id in here) for each in people]
    for at, (one, names, is_here) in enumerate(named):
        for other, others, is_there in named[:at]:
            if not (is_here and is_there) and any(alike(name, known) for name in names for known in others):
                yield Doubt(other, one) if one == state.player else Doubt(one, other)


def disguise(before: WorldState, after: WorldState, who: str, reply: str) -> Doubt | None:
    """Whether somebody who is new may be one who was here until now: "the stranger" gives his name, or the reply tells
    of Rosa, whom the report calls Cookie. Or a note says of somebody who is not here what she is called.

    ``before`` and ``after`` are the states around the turn in which ``who`` appeared, with this ``reply``.
    """
    people = [each for each in after.of_kind(Kind.CHARACTER) if each.id in before.entities and each.id != after.player]
    known = people[-_COMPARED:]
    names = after.entities[who].names
    notes = [text for _, text in after.notes if any(mentions(text, name) for name in names)]
    absent = (each for each in known if each.id not in after.present)
    if who in after.present and (noted := [each for each in absent if _are_linked(each, after.entities[who], notes)]):
        return Doubt(who, noted[0].id) if len(noted) == 1 else None
    if before.location != after.location or who not in after.present or is_nameless(after.entities[who]):
        return None
    here = frozenset(after.present)
    gone = [after.entities[each] for each in before.present if each not in here and each in after.entities]
    nameless = [each for each in gone if is_nameless(each)]
    if len(nameless) == 1:
        return Doubt(who, nameless[0].id)
    early = told_instead(names, gone, reply)
    return Doubt(who, early.id) if early is not None else None


def _are_linked(one: Entity, other: Entity, notes: Iterable[str]) -> bool:
    """Whether a note has what may say that two are one: "Agnes, formerly Ruta", 박윤호는 박 기자였다."""
    pairs = ((mine, theirs, note) for note in notes for mine in one.names for theirs in other.names)
    return any(
        pattern.search(note)
        for mine, theirs, note in pairs
        if mentions(note, mine) and mentions(note, theirs)
        for pattern in (*_linking(mine, theirs), *_linking(theirs, mine))
    )


@lru_cache(maxsize=256)
def _linking(named: str, other: str) -> tuple[re.Pattern[str], ...]:
    rows = (each.names.linked.replace("NAMED", re.escape(named)) for each in every() if each.names.linked)
    return tuple(re.compile(row.replace("OTHER", re.escape(other)), re.I) for row in rows)


def may_be_here(state: WorldState) -> frozenset[str]:
    """The ids of those of whom it is an open question whether they are somebody who is here."""
    asked = (each.key.split(":")[1:] for each in state.findings if each.rule == ONE_PERSON and not each.verdict)
    here = {state.player, *state.present}
    return frozenset(who for two in asked if here & {*two} for who in two if who not in here)


def told_instead(names: Iterable[str], others: Iterable[Entity], reply: str) -> Entity | None:
    """The only one of ``others`` whom a reply names outside of what is said, if it has none of ``names`` there: it
    tells of Rosa, and the report of Cookie. "Rosa's cat" does not name her."""
    narrated = _POSSESSIVE.sub("s", without_speech(reply))
    if any(mentions(narrated, name) for name in names):
        return None
    told = [each for each in others if any(mentions(narrated, name) for name in _called(each))]
    return told[0] if len(told) == 1 else None


def _called(entity: Entity) -> Iterator[str]:
    """The names of somebody, and their single words in Latin script."""
    for name in entity.names:
        yield name
        words = (word for word in bare(name).split(" ") if len(word) > 2 and word[0].isupper())
        yield from (word for word in words if not is_title(word))


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


def _may_be(one: str, other: str) -> bool:
    """Whether a given name may be short for another: Tam for Tamsin, J. for Julian."""
    short, long = sorted((one.strip("."), other.strip(".")), key=len)
    return long.startswith(short)


def _is_short_for(one: str, other: str) -> bool:
    """Whether one of two given names may be short for the other, by their beginnings: Ben and Benjamin, Tomek and
    Tomasz, but not Marta and Maria."""
    short, long = sorted((one, other), key=len)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(short, long, strict=False)))
    return same >= _BEGINNING and (same == len(short) or (len(short) - same <= _ENDING < len(long) - same))


def _is_anothers(one: str, other: str) -> bool:
    """Whether the first name says whose somebody is, and the second is the owner's: 류진의 어머니, and 류진."""
    for link in name_words("possessives"):
        owner, found, whose = clean_name(one).partition(link)
        # Without a space behind it the letter may be one of a name; in scripts that have none it is a word.
        parted = whose[:1].isspace() or not found or is_unspaced(owner[-1:])
        if owner and found and whose.strip() and parted and whose.strip() not in other:
            mine, theirs = match_text(fold_name(owner)), match_text(fold_name(other))
            if mine == theirs or alike(owner, other):
                return True
    return False


@lru_cache(maxsize=16_384)
def alike(one: str, other: str) -> bool:
    """Whether two names share more than a title, or one is the title of the other alone."""
    if bare_title(one) in offices_in(other) or bare_title(other) in offices_in(one):
        return True
    mine, theirs = words_of(one), words_of(other)
    if contradicts(mine, theirs) or _is_anothers(one, other) or _is_anothers(other, one):
        return False
    if not caseless(one) or not caseless(other):
        named, other_named = untitled(mine), untitled(theirs)
        if len(named) > 1 and len(other_named) > 1 and not (_may_be(named[0], other_named[0])):
            return False  # of one family, with given names of their own
        shared = set(named) & set(other_named)
        is_given = min(len(named), len(other_named)) == 1 and (one[0] + other[0]).isupper()
        if is_given and (bare(one), bare(other)) == (one, other) and _is_short_for(named[0], other_named[0]):
            return True
        return any(len(word) > 1 and not is_title(word) for word in shared)
    short, long = sorted((core(one), core(other)), key=lambda each: len(each.text))
    if not short.text:
        return False
    if len(short.text) > 1:
        return short.text in long.text or match_text(fold_name(one))[:2] == match_text(fold_name(other))[:2]
    return short.titled and long.text.startswith(short.text)
