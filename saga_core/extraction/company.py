"""Finds different names for one character in one report.

If a block lists the complete company, every character met must be in that list, possibly under another name:
``present: [Madam Kesh]`` and ``npc_met: [Adaline Kesh]``. A listed name that is neither known nor met may be a
misspelling of a company member's name, or one that the reply has somebody say of herself: "They call me Tomek." What
stands in parentheses behind a name is another name if the reply says so: ``Bram Oake (Otter)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from saga_core.language import clean_name, is_unspaced, normalized
from saga_core.model import Kind, WorldState
from saga_core.naming import Names, fold, is_full_name, same_name, told_apart, words_of
from saga_core.state_block import BlockFields

_SOUNDS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (("ph", "f"), ("ck|c(?![eiyh])|q(?=u)", "k"), ("(?<=.)h", ""), ("y", "i"), (r"(.)\1+", r"\1"))
)
_SHORTEST = 3
"""The minimum number of letters of a name that may be spelled in two ways."""
_CROWD = 24
"""With more new names than this in one report, none is taken for another spelling: each would be compared with all."""
_LEAST = 5
"""The minimum number of letters of a name for a misspelling to be accepted. Hangul syllables count as their letters."""


def learn_other_names(names: Names, state: WorldState, fields: BlockFields) -> None:
    """Record other names that one report uses for the company, which it lists completely."""
    present, met = fields.present or (), fields.npc_met
    known = {name: names.find(Kind.CHARACTER, name) for name in present}
    there, announced = set(known.values()), set(map(fold, met))
    unknown = [each for each in present if known[each] is None and fold(each) not in announced]
    for name in unknown if len(unknown) <= _CROWD else ():
        missing = (who for who in state.present if who not in there and who in state.entities)
        meant = [who for who in missing if _mistyped(name, state.entities[who].names)]
        if not meant:  # another spelling of a name, wherever its bearer was
            others = (each for each in state.of_kind(Kind.CHARACTER) if each.id not in there)
            meant = [each.id for each in others if any(_spelled_otherwise(name, known) for known in each.names)]
        if len(meant) == 1:
            names.learn(meant[0], name)
    listed = set(map(fold, present))
    new = [each for each in met if fold(each) not in listed and names.find(Kind.CHARACTER, each) is None]
    # A name that matches a known character only by title or family may be the newcomer's: 김 형사, with 김복자 known.
    told = [each for each in present if known[each] is None or names.knows(Kind.CHARACTER, each)] if new else []
    for name in new if len(new) <= _CROWD else ():
        fits = [each for each in told if not names.is_player(each) and _akin(each, name)]
        if len(fits) != 1 or sum(_akin(fits[0], each) for each in new) != 1:
            continue
        bearer = known[fits[0]]
        if bearer is None or not names.is_other(bearer, words_of(clean_name(name))):
            names.learn(names.ensure(Kind.CHARACTER, fits[0]), name)


def _akin(one: str, other: str) -> bool:
    """Whether two names may mean one person: one begins or ends with the other, or only a title differs."""
    left, right = fold(clean_name(one)), fold(clean_name(other))
    if is_unspaced(left) and is_unspaced(right):
        short, long = sorted((left, right), key=len)
        return len(short) < len(long) and (long.startswith(short) or long.endswith(short))
    mine, theirs = words_of(clean_name(one)), words_of(clean_name(other))
    shorter, longer = sorted((mine, theirs), key=len)
    if len(shorter) < len(longer) and shorter in (longer[: len(shorter)], longer[-len(shorter) :]):
        return True
    return same_name(mine, theirs) or same_name(theirs, mine)


def _mistyped(name: str, known: Iterable[str]) -> bool:
    """Whether ``name`` is a known name with one letter of a word mistyped, or one such word of it."""
    words = name.split(" ")
    for theirs in (each.split(" ") for each in known if not told_apart(name, each)):
        if len(words) == len(theirs):
            apart = [pair for pair in zip(words, theirs, strict=True) if fold(pair[0]) != fold(pair[1])]
        else:
            apart = [(one, other) for one in words for other in theirs] if min(len(words), len(theirs)) == 1 else []
        slipped = [pair for pair in apart if _slipped(*pair)]
        if slipped and (len(slipped) == len(apart) or len(words) != len(theirs)):
            return True
    return False


def _spelled_otherwise(one: str, other: str) -> bool:
    """Whether two names in Latin letters are spellings of one: Teo and Theo, Sara and Sarah. ``one`` may be a part."""
    mine, theirs = ([_sound(word) for word in name.split(" ")] for name in (one, other))
    alike = mine == theirs or (len(mine) == 1 and mine[0] in theirs)
    return alike and all(len(sound) >= _SHORTEST for sound in mine)


@lru_cache(maxsize=1_024)
def _sound(word: str) -> str:
    """How a Latin word sounds, roughly; "" for others."""
    plain = fold(word)
    if not (plain.isascii() and plain.isalpha()):
        return ""
    for pattern, sound in _SOUNDS:
        plain = pattern.sub(sound, plain)
    return plain


def _letters(name: str) -> str:
    return normalized("NFD", fold(name))


def _slipped(one: str, other: str) -> bool:
    """Whether two words differ by one letter. False for two full Korean names: sisters may differ by one syllable."""
    mine, theirs = _letters(one), _letters(other)
    if min(len(mine), len(theirs)) < _LEAST or mine[0] != theirs[0] or any(map(str.isdigit, mine + theirs)):
        return False
    if is_full_name(one) and is_full_name(other):
        return False
    from rapidfuzz.distance import OSA  # imported late: few stories need it, and it takes memory

    return bool(OSA.distance(mine, theirs, score_cutoff=1) == 1)
