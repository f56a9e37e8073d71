"""Detects whether the player's words look back, by a question or by words about the past.

Recall then gets more room in the prompt.
"""

from __future__ import annotations

import re
from functools import cache

from saga_core.language import Language, languages_in
from saga_core.recall.time_words import time_meant

_LOOKED_AT = 4_000
"""Characters at each end of the player's words that are searched."""


@cache
def _asking(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of questions and words about the past, and that of questions without a question mark."""
    return (
        re.compile("|".join((r"[?？]", *(each.past.asking for each in languages)))),
        re.compile("|".join(each.past.asking_unmarked for each in languages)),
    )


@cache
def _other_story(languages: tuple[Language, ...]) -> re.Pattern[str]:
    return re.compile("|".join(each.past.other_story for each in languages))


def without_other_story(words: str) -> str | None:
    """Return the player's words, lower case, without those that name another story ("our last adventure"), or None if
    they name none. ``words`` must be in NFC; case does not matter."""
    folded = words[:_LOOKED_AT].casefold()
    pattern = _other_story(languages_in(folded))
    return pattern.sub(" ", folded) if pattern.search(folded) is not None else None


def looks_back(words: str) -> bool:
    """Whether the player's words ask for something or speak of the past. ``words`` must be in NFC, in any case."""
    if len(words) > 2 * _LOOKED_AT:  # in a very long text, questions are at the beginning or the end
        words = f"{words[:_LOOKED_AT]}\n{words[-_LOOKED_AT:]}"
    folded = words.casefold()
    if any(pattern.search(folded) is not None for pattern in _asking(languages_in(words))):
        return True
    meant = time_meant(words)
    return meant is not None and meant.date is None  # a calendar date may be in the future
