"""Tells names of people from words for what a thing lies in or on: the ground, Mother Tansy's window, your pocket."""

from __future__ import annotations

import re

from saga_core.language import all_of, caseless, mentions, without_speech
from saga_core.model import Kind
from saga_core.naming.forms import bare, is_title
from saga_core.naming.names import Names, last_word

_OWN = re.compile(r"(?:my|your) (?=.)", re.I)
_CLAUSE_END = re.compile("[.,;!?]")
_BESIDE = 4
"""How many words beside a speech may tell who speaks."""


def is_the_players(name: str, names: Names) -> bool:
    """Whether a name means something of the player's and nobody: your pocket, Wren's bag, or a bag that is told so."""
    if is_title(last_word(name)):
        return False
    if _OWN.match(name) or ((owner := owner_of(name)[0]) and names.is_player(owner)):
        return True
    return _is_small(name) and any(mentions(names.evidence.told, f"{own} {bare(name)}") for own in ("my", "your"))


def may_be_somebody(name: str, names: Names) -> bool:
    """Whether an unknown name may be that of a person, and not only of a thing or of a part of a place.

    A title is a person's, and so is the name of whoever speaks. Otherwise, where a script has capitals, a name that
    nothing writes with one is no person's. What belongs to somebody known is a thing, and so is a known thing.
    """
    if is_title(last_word(name)):
        return True
    if names.knows(Kind.ITEM, bare(name)):
        return False
    owner, _ = owner_of(name)
    if owner and (names.find(Kind.CHARACTER, owner) is not None or _is_small(last_word(name))):
        return False
    told = names.evidence.told
    small = _is_small(name) or (bare(name) not in told and bare(name).lower() in told and _is_small(name.lower()))
    return not small or _speaks(bare(name), told)


def owner_of(name: str) -> tuple[str, str]:
    """Whose something is, and what: Mother Tansy and window, for "Mother Tansy's window"; "" if a name does not say."""
    found = (name.partition(mark) for mark in all_of(lambda each: each.names.possessives))
    return next(((head.strip(), thing.strip()) for head, _, thing in found if thing.strip()), ("", name))


def _is_small(name: str) -> bool:
    """Whether a name in a script with capitals has none."""
    return name.islower() and not caseless(name)


def _speaks(name: str, told: str) -> bool:
    """Whether a text has somebody of this name beside what is said: "Come in," says the ferryman."""
    around = without_speech(told, "\x00").split("\x00")
    ahead = (each.split()[-_BESIDE:] for each in around[:-1] if each.rstrip().endswith((",", ":")))
    behind = (_CLAUSE_END.split(each, maxsplit=1)[0].split()[:_BESIDE] for each in around[1:])
    return any(mentions(" ".join(words), name) for words in (*ahead, *behind))
