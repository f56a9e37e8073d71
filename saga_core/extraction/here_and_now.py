"""What a report says of the place and the company as they really are.

"Somebody" and "an unknown thief" are nobody whom the story knows, unless she is there as that.

A remark behind a name may say otherwise. ``Mom's kitchen (dream)`` is no place that the player went to,
``Marcus (over the radio)`` is not with the player and hears what is said, and ``Mina (asleep)`` is there and does not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache

from attrs import evolve

from saga_core.extraction.statuses import status_of
from saga_core.language import any_of, fold_name, is_confided, learns, mentions, sentences_of, tells_deed
from saga_core.model import DEAD, Event, Kind, deltas
from saga_core.naming import Names, is_the_players, may_be_somebody, parts_alone, remarked
from saga_core.state_block import BlockFields, names_nobody, tells_little

_REMARK = re.compile(r"[^()（）\[\]【】\s][\s]*[(（\[【]([^()（）\[\]【】]{1,60})[)）\]】]{1,3}[.。]?\Z")
"""Matches the end of a name with a remark. In ``Joan (the kitchen (dream))`` the innermost remark counts."""
_CLAUSES = re.compile("[;；]")
_KEPT = re.compile(any_of(lambda each: each.story.kept), re.I)


def here_and_now(fields: BlockFields, names: Names) -> BlockFields:
    """``fields`` without places and people of dreams, without people who only speak from elsewhere, and without those
    of whom nobody knows who they are.

    If the place itself is dreamed, so is the company. If only dreamed people are listed as present, the report does
    not say who is really there.
    """
    fields = _of_somebody(fields, names)
    dreamed = fields.location is not None and _says("unreal", fields.location)
    real = [name for name in fields.present or () if not _is_unreal(name, names)]
    present = None if dreamed or (fields.present and not real) else fields.present
    return evolve(
        fields,
        location=None if dreamed else fields.location,
        present=present and _those_here(present, names),
        npc_met=() if dreamed else _those_here(fields.npc_met, names),
        npc_separated=() if dreamed else tuple(name for name in fields.npc_separated if not _is_unreal(name, names)),
        status_changes=tuple(each for each in fields.status_changes if not _is_unreal(each.name, names)),
    )


def _of_somebody(fields: BlockFields, names: Names) -> BlockFields:
    """``fields`` without unknown people. What they give or get has an unknown side, and so has what is taken from the
    ground or laid on a table. A body is somebody."""
    present, met = fields.present, fields.npc_met
    here = tuple(name for name in present or () if names.knows(Kind.CHARACTER, name) or not names_nobody(name))
    come = tuple(name for name in met if names.knows(Kind.CHARACTER, name) or not names_nobody(name))

    def known(name: str) -> bool:
        if not (names_nobody(name) or tells_little(name)):
            return True
        return names.knows(Kind.CHARACTER, name) or name in here or name in come

    listed = (*here, *come, *fields.npc_separated, *(each.name for each in fields.status_changes))
    company = {fold_name(each) for told in listed for each in names.joined(told)}

    def side(name: str | None) -> str | None:
        if not name or fold_name(name) in company or names.find(Kind.CHARACTER, name) is not None:
            return name
        if names.find(Kind.LOCATION, name) is not None:
            return name
        if is_the_players(name, names):
            return None
        return name if known(name) and may_be_somebody(name, names) else ""

    return evolve(
        fields,
        present=None if present and not here else present and here,
        npc_met=come,
        npc_separated=tuple(filter(known, fields.npc_separated)),
        items_gained=tuple(evolve(each, owner=side(each.owner)) for each in fields.items_gained),
        items_lost=tuple(evolve(each, owner=side(each.owner)) for each in fields.items_lost),
        items_transferred=tuple(
            evolve(each, giver=side(each.giver), receiver=side(each.receiver)) for each in fields.items_transferred
        ),
        relationship_changes=tuple(
            each for each in fields.relationship_changes if known(each.source) and known(each.target)
        ),
        status_changes=tuple(
            each
            for each in fields.status_changes
            if known(each.name) or (status_of(each.status) == DEAD and not names_nobody(each.name))
        ),
        counts=tuple(each for each in fields.counts if known(each.subject)),
    )


def hearing_from_elsewhere(fields: BlockFields, names: Names) -> list[str]:
    """The ids of known people who are not with the player and hear what is said: a voice on the radio."""
    told = (name for name in (*(fields.present or ()), *fields.npc_met) if _is_remote(name, names))
    remarks = ((name, found[1]) for name in told if (found := _REMARK.search(name)) is not None)
    return _known(names, (name for name, remark in remarks if _remarks("absent").search(remark) is None))


def noticing_nothing(fields: BlockFields, names: Names) -> list[str]:
    """The ids of people who are with the player and do not notice what happens. A remark says so, or a status that
    somebody had before the turn and still has."""
    told = _known(names, (name for name in fields.present or () if _says("unaware", name)))
    changed = _known(names, (status.name for status in fields.status_changes))
    for who in names.state.present:
        status = str(names.state.entities[who].get("status") or "")
        if who not in changed and _remarks("unaware").fullmatch(status.strip()) is not None:
            told.append(who)
    return told


def left_before_a_secret(fields: BlockFields, names: Names, events: Collection[Event]) -> list[str]:
    """The ids of people who were with the player before a turn that tells a secret, and were left in it.

    They may have been left before it was told, so they count as not having heard it. The report tells otherwise of whom
    the secret itself begins with, and of whom it says that she was told. Whom it only names, it may be about.
    """
    state = names.state
    left = [event.who for event in events if isinstance(event, deltas.Separated) and event.who in state.present]
    told = [text for text in (fields.notes, fields.event_trigger) if text and is_confided(text)]
    informed = {who for event in events if isinstance(event, deltas.AudienceSet) for who in event.who}
    if not left or not (told or informed):
        return []
    moves = any(isinstance(event, deltas.Moved) and event.who == state.player for event in events)
    met = {event.who for event in events if isinstance(event, deltas.Met)}
    met = met if moves else met.difference(state.present)
    clauses = [each.strip() for text in told for part in sentences_of(text) for each in _CLAUSES.split(part)]
    clauses = [each for each in clauses if not _KEPT.search(each)]
    parts = parts_alone(state.entities.values())

    def heard(who: str) -> bool:
        if not told:
            return who in informed or not met
        known = (*state.entities[who].names, *parts.get(who, ()))
        return any(_is_subject(each, name, names) for each in clauses for name in known) or any(
            learns(each, known) for each in clauses
        )

    return [who for who in left if who not in met and not heard(who)]


def _is_subject(clause: str, name: str, names: Names) -> bool:
    """Whether a clause of a secret begins with somebody, or with her beside other people, and tells what she did."""
    head, _, rest = clause.partition(name)
    return (
        mentions(clause, name)
        and tells_deed(f"{name}{rest}", name, confided=True)
        and all(names.find(Kind.CHARACTER, part) for part in names.parts(head))
    )


def moments(fields: BlockFields, names: Names) -> dict[str, str]:
    """What the remarks behind those present say of how they are at the moment, by id: ``Mina (asleep)``."""
    told = ((name, _REMARK.search(name)) for name in fields.present or () if _says("unaware", name))
    return {who: found[1].strip() for name, found in told if found is not None for who in _known(names, (name,))}


def _known(names: Names, told: Iterable[str]) -> list[str]:
    """The ids of the known people among names with a remark."""
    found = (names.find(Kind.CHARACTER, (remarked(name) or (name, ""))[0]) for name in told)
    return [who for who in found if who is not None]


def _those_here(told: Iterable[str], names: Names) -> tuple[str, ...]:
    return tuple(name for name in told if not _is_unreal(name, names) and not _is_remote(name, names))


def _is_unreal(name: str, names: Names) -> bool:
    return _says("unreal", name) and not _is_somebody(name, names)


def _is_remote(name: str, names: Names) -> bool:
    """Whether somebody is only heard or seen from elsewhere. Who was with the player and calls somebody is there."""
    if _is_somebody(name, names):
        return False
    if _says("remote", name):
        return not _is_with_the_player(name, names) or not _says("calling", name)
    return _says("calling", name) and not _is_with_the_player(name, names)


def _is_with_the_player(name: str, names: Names) -> bool:
    return names.find(Kind.CHARACTER, name) in names.state.present


def _is_somebody(name: str, names: Names) -> bool:
    """Whether the remark behind a name is the name of a known character: ``Morpheus (Dream)``."""
    found = _REMARK.search(name)
    return found is not None and names.knows(Kind.CHARACTER, found[1].strip())


def _says(row: str, name: str) -> bool:
    """Whether the remark behind a name is one of this row."""
    found = _REMARK.search(name)
    return found is not None and _remarks(row).fullmatch(found[1].strip()) is not None


@cache
def _remarks(row: str) -> re.Pattern[str]:
    """Matches the remarks of a row of ``StatusWords``, in all languages. Compiled on first use."""
    return re.compile(any_of(lambda each: str(getattr(each.statuses, row))), re.I)
