"""What sentences tell of debts and deaths."""

from __future__ import annotations

import re
from enum import Flag, auto
from functools import cache, lru_cache

from saga_core.language.language import Language
from saga_core.language.tokens import languages_in

_SENTENCE = re.compile(r"[^;.!?。！？\n]+[.!?。！？]*")


def sentences_of(text: str) -> list[str]:
    """The sentences of a remark; a semicolon parts them too."""
    return _SENTENCE.findall(text)


class Says(Flag):
    """What a sentence tells of debts and deaths."""

    NOTHING = 0
    OWES = auto()
    """There is a debt."""
    SETTLES = auto()
    """One is settled."""
    LEAVES = auto()
    """So much of one is left."""
    DIES = auto()
    """Somebody died."""


@cache
def _patterns(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], ...]:
    told = [each.story for each in languages]
    return tuple(
        re.compile("|".join(patterns), re.I)
        for patterns in (
            [words.still_owed for words in told],
            [words.settled for words in told],
            [words.partly for words in told],
            [words.owed for words in told],
            [words.died for words in told],
        )
    )


@lru_cache(maxsize=1_024)
def telling(text: str) -> tuple[tuple[str, Says], ...]:
    """The sentences that tell of debts and deaths. Asked of the same texts again and again: a page shows those of many
    turns."""
    return tuple((each, says) for each in sentences_of(text) if (says := _says(each)))


def _says(sentence: str) -> Says:
    left, settled, partly, owed, died = _patterns(languages_in(sentence))
    if left.search(sentence) is not None:
        return Says.SETTLES | Says.LEAVES
    if settled.search(sentence) is not None:
        return Says.NOTHING if partly.search(sentence) is not None else Says.SETTLES
    if owed.search(sentence) is not None:
        return Says.OWES
    return Says.DIES if died.search(sentence) is not None else Says.NOTHING
