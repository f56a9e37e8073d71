"""What a small model's list of those present is worth, and whom the player's own words say she parted from.

Such a model repeats the company that it was told of. When somebody comes, it may list her alone, and it hardly ever
says who left. The player does: "I leave Mara at the mill and walk on alone", "Rusk runs away".
"""

from __future__ import annotations

import re
from functools import lru_cache

from attrs import evolve

from saga_core.language import any_of, every, mentions, sentences_of, staying, without_speech
from saga_core.model import Kind, WorldState
from saga_core.naming import Names, parts_alone
from saga_core.state_block import BlockFields

_ALONE = re.compile(any_of(lambda each: each.story.alone), re.I)
_LONGEST = 240
"""The longest sentence that is looked at, in characters."""
_UNTRUE = re.compile(any_of(lambda each: each.story.untrue), re.I)


def of_small_model(fields: BlockFields, words: str, reply: str, state: WorldState) -> BlockFields:
    """``fields`` without whom the player's ``words`` or the reply say left, and with whom the list may have forgotten.

    A list that names nobody of the company is complete only if the player moves: else it tells who came. Whom the
    story knows is only there if she was there before, or if the turn names her.
    """
    names, called, told = Names(state), _called(state), f"{words}\n{reply}"
    place = state.name(state.location) if state.location is not None and fields.location else ""
    moves = bool(place) and names.find(Kind.LOCATION, fields.location or "") != state.location
    left = parted(words, reply, state, place if moves else "")

    def may_be_here(name: str) -> bool:
        who = names.find(Kind.CHARACTER, name)
        if who is None or who in state.present:
            return who not in left
        return any(mentions(told, each) for each in called.get(who, ()))

    here = tuple(filter(may_be_here, fields.present or ()))
    others = [who for name in here if (who := names.find(Kind.CHARACTER, name)) != state.player]
    complete = any(who in state.present for who in others) or (moves and bool(others))
    return evolve(
        fields,
        present=here if complete else None,
        npc_met=() if complete else here,
        npc_separated=tuple(map(state.name, left)),
    )


def parted(words: str, reply: str, state: WorldState, old_place: str = "") -> tuple[str, ...]:
    """The ids of the company of which the player's words or the reply say that they are no longer with the player.

    ``old_place`` is the place that she leaves in this turn, if she does: who stays there is left.
    """
    said, heard = _sentences(words), _sentences(reply)
    called = _called(state)
    company = {who: called[who] for who in state.present if who in called}
    left = {
        who: None
        for who, names in company.items()
        if any(_parting(names, own=True).search(each) for each in said)
        or any(_parting(names, own=False).search(each) for each in heard)
        or (old_place and any(staying(names, old_place).search(each) for each in said))
    }
    for at, each in enumerate(said):
        if (alone := _ALONE.search(each)) is not None:
            rest = "\n".join((each[alone.end() :], *said[at + 1 :]))  # it names whom the player meets where she goes
            left |= {who: None for who, names in company.items() if not any(mentions(rest, name) for name in names)}
    return tuple(left)


def _sentences(text: str) -> list[str]:
    """The sentences of a text that tell what happens, without what somebody says, and without long ones."""
    told = (each.strip(" *_") for each in sentences_of(without_speech(text)))
    return [each for each in told if len(each) <= _LONGEST and not _UNTRUE.search(each)]


def _called(state: WorldState) -> dict[str, tuple[str, ...]]:
    """The names of each character, and the parts of them that nobody else has."""
    parts = parts_alone(state.entities.values())
    return {each.id: (*each.names, *parts.get(each.id, ())) for each in state.of_kind(Kind.CHARACTER)}


@lru_cache(maxsize=256)
def _parting(names: tuple[str, ...], *, own: bool) -> re.Pattern[str]:
    named = "|".join(re.escape(each) for each in sorted(names, key=len, reverse=True))
    return re.compile("|".join(f"(?:{each.story.parted(named, own)})" for each in every()), re.I)
