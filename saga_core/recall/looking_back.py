"""Whether words look back: a question, or words of remembering. Then the past is worth more room than in action."""

from __future__ import annotations

import re
from functools import cache

from saga_core.language import Language, languages_in
from saga_core.recall.time_words import time_meant


@cache
def _asking(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What asks for something or speaks of the past; and questions without a mark. Made when they are first needed."""
    return (
        re.compile("|".join((r"[?？]", *(each.past.asking for each in languages)))),
        re.compile("|".join(each.past.asking_unmarked for each in languages)),
    )


def looks_back(words: str) -> bool:
    """Whether the player's words ask for something, or speak of the past. Expected in NFC, in any case."""
    folded = words.casefold()
    if any(pattern.search(folded) is not None for pattern in _asking(languages_in(words))):
        return True
    return time_meant(words) is not None
