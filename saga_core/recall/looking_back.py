"""Whether words look back: a question, or words of remembering. Then the past is worth more room than in action."""

from __future__ import annotations

import re
from functools import cache

from saga_core.language import Language, languages_in
from saga_core.recall.time_words import time_meant

_LOOKED_AT = 4_000
"""Characters at either end of the player's words that are looked through."""


@cache
def _asking(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What asks for something or speaks of the past; and questions without a mark. Made when they are first needed."""
    return (
        re.compile("|".join((r"[?？]", *(each.past.asking for each in languages)))),
        re.compile("|".join(each.past.asking_unmarked for each in languages)),
    )


@cache
def _other_story(languages: tuple[Language, ...]) -> re.Pattern[str]:
    return re.compile("|".join(each.past.other_story for each in languages))


def without_other_story(words: str) -> str | None:
    """The player's words without those that name another story ("our last adventure"); None where they name none.
    Expected in NFC, in any case; given in lower case."""
    folded = words[:_LOOKED_AT].casefold()
    pattern = _other_story(languages_in(folded))
    return pattern.sub(" ", folded) if pattern.search(folded) is not None else None


def looks_back(words: str) -> bool:
    """Whether the player's words ask for something, or speak of the past. Expected in NFC, in any case."""
    if len(words) > 2 * _LOOKED_AT:  # a book: what is asked stands at its beginning or at its end
        words = f"{words[:_LOOKED_AT]}\n{words[-_LOOKED_AT:]}"
    folded = words.casefold()
    if any(pattern.search(folded) is not None for pattern in _asking(languages_in(words))):
        return True
    meant = time_meant(words)
    return meant is not None and meant.date is None  # a day of the calendar may be to come
