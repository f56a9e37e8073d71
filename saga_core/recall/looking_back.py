"""Whether words look back: a question, or words of remembering. Then the past is worth more room than in action."""

from __future__ import annotations

import re

from saga_core.language import every
from saga_core.recall.time_words import time_meant

_ASKING = re.compile("|".join((r"[?？]", *(each.past.asking for each in every()))))
_ASKED_WITHOUT_A_MARK = re.compile("|".join(each.past.asking_unmarked for each in every()))


def looks_back(words: str) -> bool:
    """Whether the player's words ask for something, or speak of the past. Expected in NFC, in any case."""
    folded = words.casefold()
    if _ASKING.search(folded) is not None or _ASKED_WITHOUT_A_MARK.search(folded) is not None:
        return True
    return time_meant(words) is not None
