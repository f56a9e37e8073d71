"""Words that tell two of a kind apart: the first floor and the second, the upper half of a book and the lower."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from saga_core.language import clean_name, is_kana, is_unspaced, languages_in, match_text, simplified
from saga_core.naming.forms import fold


@lru_cache(maxsize=16_384)
def told_apart(one: str, other: str) -> bool:
    """Whether two names have different marks of one sort, so that they belong to two of a kind.

    A name that lacks some of the other's marks may still be a shorter form of it.
    """
    mine, theirs = _marks(one), _marks(other)
    return any(_differ(mine[sort], theirs[sort]) for sort in mine.keys() & theirs.keys())


def differ_in_han(one: str, other: str) -> bool:
    """Whether two names of one length differ in a Han character, which is a word and hardly ever a slip."""
    pairs = zip(fold(one), fold(other), strict=False)
    return any(is_unspaced(left + right) and not is_kana(left + right) for left, right in pairs if left != right)


def _differ(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether neither of two runs of marks is the other with some left out."""
    short, long = sorted((one, other), key=len)
    left = iter(long)
    return not all(mark in left for mark in short)


@lru_cache(maxsize=16_384)
def _marks(name: str) -> dict[str, tuple[str, ...]]:
    """The marks in a name by sort, in their order."""
    plain = match_text(clean_name(name))
    found: dict[str, tuple[str, ...]] = {}
    for sort, pattern in (each for language in languages_in(plain) for each in _sorts(language.names.apart)):
        marks = tuple(str(mark.lastindex or mark.group()) for mark in pattern.finditer(plain))
        if marks:
            found[sort] = marks
    return found


@cache
def _sorts(apart: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The sorts of marks of a language, each with its pattern. Han characters are compared in simplified form."""
    return tuple((sort, re.compile(simplified(sort))) for sort in apart)
