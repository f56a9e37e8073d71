"""A light English stemmer. It removes inflections and common derivations, and maps irregular story verbs to their base.

It implements a subset of Porter's second algorithm. Stems need not be words, but all forms of a word must share one.
"""

from __future__ import annotations

import re
from functools import lru_cache

_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SHORT = re.compile(r"^[^aeiouy]*[aeiouy][^aeiouywx]$")

_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "am is are was were been",
        "begin": "began begun",
        "break": "broke broken",
        "bring": "brought",
        "buy": "bought",
        "catch": "caught",
        "come": "came",
        "die": "died dying dies",
        "do": "did done does",
        "draw": "drew drawn",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feel": "felt",
        "fight": "fought",
        "find": "found",
        "fly": "flew flown",
        "flee": "fled",
        "forget": "forgot forgotten",
        "give": "gave given",
        "go": "went gone goes",
        "have": "had has",
        "hear": "heard",
        "hide": "hid hidden",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "leave": "left",
        "lie": "lying lied lies",
        "lose": "lost",
        "make": "made",
        "meet": "met",
        "pay": "paid",
        "run": "ran",
        "say": "said",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "sing": "sang sung",
        "sit": "sat",
        "speak": "spoke spoken",
        "stand": "stood",
        "steal": "stole stolen",
        "swear": "swore sworn",
        "take": "took taken",
        "tell": "told",
        "think": "thought",
        "throw": "threw thrown",
        "wear": "wore worn",
        "win": "won",
        "write": "wrote written",
        "man": "men",
        "woman": "women",
        "child": "children",
        "knife": "knives",
        "wolf": "wolves",
        "thief": "thieves",
        "elf": "elves",
        "dwarf": "dwarves",
    }.items()
    for form in forms.split()
}

_DERIVED: tuple[tuple[str, str], ...] = (
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("ization", "ize"),
    ("ational", "ate"),
    ("fully", "ful"),
    ("ously", "ous"),
    ("lessly", "less"),
    ("ation", "ate"),
    ("ness", ""),
    ("ment", ""),
    ("ally", "al"),
    ("ly", ""),
)
_SMALLEST_STEM = 3


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem of a lower-case English word: ``stem("attacked") == stem("attacks")``."""
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    word = word.replace("'", "").replace("’", "")
    if word in _IRREGULAR:
        return _final_y(_IRREGULAR[word])
    if len(word) < 4:
        return word
    return _final_y(_derivation(_past_or_gerund(_plural(word))))


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _past_or_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if len(word) > 4 else word
    for ending in ("ed", "ing"):
        base = word[: -len(ending)]
        if not word.endswith(ending) or len(base) < 2 or not _VOWEL.search(base):
            continue
        if ending == "ed" and base.endswith("i"):
            return base
        if base.endswith(("at", "bl", "iz")):
            return base + "e"
        if _DOUBLED.search(base):
            return base[:-1]
        return base + "e" if _SHORT.match(base) else base
    return word


def _derivation(word: str) -> str:
    for ending, instead in _DERIVED:
        if word.endswith(ending) and len(word) - len(ending) >= _SMALLEST_STEM:
            return word[: -len(ending)] + instead
    return word


def _final_y(word: str) -> str:
    """Replace ``y`` after a consonant by ``i`` and drop a silent ``e``, so that "hurried" matches "hurry" and "forging"
    matches "forge"."""
    if len(word) > 2 and word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    if len(word) > 4 and word.endswith("e") and word[-2] not in "aeiouy":
        return word[:-1]
    return word
