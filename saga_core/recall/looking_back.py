"""Whether words look back: a question, or words of remembering. Then the past is worth more room than in action."""

from __future__ import annotations

import re

from saga_core.recall.time_words import time_meant

_ASKING = re.compile(
    r"[?？]"
    r"|\b(?:who|whom|whose|what|which|when|where|why|how|remember|recall|remind|reminds|forget|forgot|forgotten|ago|"
    r"earlier|yesterday|formerly|once|promised|before|last (?:time|night|day|week|month|year|summer|winter))\b"
    r"|(?:누구|누가|누굴|무엇|무슨|뭐|뭘|뭔|어디|어딜|언제|어째서|어떻게|어떤|어느|얼마|며칠|몇|기억|떠올|예전|지난|어제|그때|아까|처음|약속"
    r"|옛날|이전|전에|더라|던가)"
)


def looks_back(words: str) -> bool:
    """Whether the player's words ask for something, or speak of the past. Expected in NFC, in any case."""
    return _ASKING.search(words.casefold()) is not None or time_meant(words) is not None
