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
_SENTENCE = r"(?:^|[.!…\n”\"'*)] ?)\s*"
_ASKED_WITHOUT_A_MARK = re.compile(
    # "Would Mara like it", "do you still have the key", "Tell me of the war", "Name the kings of the north".
    rf"{_SENTENCE}(?:(?:and|but|so|or) )?(?:(?:did|does|is|are|was|were|has|had|would|could|should) (?!not\b|be\b)\w"
    r"|(?:do|have) (?:you|we|they|i|any|the|her|his|my|our|their)\b"
    r"|(?:(?:please|now),? )?(?:tell (?:me|us)|(?:name|list) (?:the|all|every|any|some|one|two|three)"
    r"|describe|explain|summari[sz]e|recount|identify)\b)"
    r"|(?:[했었았였있없겠]니|나요|(?<!니)까요?|[는은인]가요?|[는은]지)(?=[.!…]*\s*$)"
    r"|(?:알려|말해|설명해|들려|가르쳐|읊어) ?(?:줘|주게|주세요|주시|주십|다오|달라|봐|보게)"
)


def looks_back(words: str) -> bool:
    """Whether the player's words ask for something, or speak of the past. Expected in NFC, in any case."""
    folded = words.casefold()
    if _ASKING.search(folded) is not None or _ASKED_WITHOUT_A_MARK.search(folded) is not None:
        return True
    return time_meant(words) is not None
