"""English: stems, who does what, and index terms. A number in words gives the same term as in digits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from saga_core.language.grammar import Grammar, GrammarWords

_WORDS = GrammarWords(__file__)

# -- stems -----------------------------------------------------------------------------------------------------
#
# A light English stemmer. It removes inflections and common derivations, and maps irregular story verbs to their base.
#
# It implements a subset of Porter's second algorithm. Stems need not be words, but all forms of a word must share one.

_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SHORT = re.compile(r"^[^aeiouy]*[aeiouy][^aeiouywx]$")

_IRREGULAR = {form: base for base, forms in _WORDS.table("irregular").items() for form in forms.split()}
_DERIVED = tuple(_WORDS.table("derived").items())
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


# -- who does what ---------------------------------------------------------------------------------------------
#
# Decides by grammar, and by lists of verbs that are no deeds, whether an English sentence says that a character does
# something.
#
# A name must begin a clause, and a verb in the present, the past or the progressive must follow. Sentences about
# earlier events look the same, so verbs that mostly describe those are excluded.

_LIFELESS = "|".join(_WORDS["lifeless"])
_STILL = "|".join(_WORDS["still"])
_CLAUSE = r"(?:^|[,;:]\s|\b(?:and|(?<!one )(?<!all )(?<!body )but|then|while)\s)(?:the\s)?"


def does(sentence: str, names: Sequence[str]) -> bool:
    """Whether a character with one of ``names`` does something in a clause of an English sentence."""
    named = "|".join(map(re.escape, (name for name in names if name.isascii())))
    if not named:
        return False
    begins = rf"{_CLAUSE}(?:\w+\s)?(?:{named})(?:\s\w+ly)?\s"
    return (
        re.search(rf"{begins}(?!(?:{_LIFELESS})\b)[a-z]+(?:[^s\W\d]s|ed)\b", sentence, re.I) is not None
        or re.search(
            rf"{begins}(?:is|was)\s(?:still\s|already\s|now\s)?(?!(?:{_STILL})\b)[a-z]{{2,}}ing\b", sentence, re.I
        )
        is not None
    )


# -- index terms -----------------------------------------------------------------------------------------------

_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred"
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTS.split()) if number > 1}
_NUMBERS |= {word: str(10 * number) for number, word in enumerate(_TENS.split(), 1)}
"""Numbers in words, which become digits. "One" is missing because it has too many other meanings."""
_SHORTEST = 3
"""The minimum length of a word's beginning that few other words share."""


def _terms(run: str) -> tuple[str, ...]:
    return (_NUMBERS.get(run) or stem(run),) if run.isascii() else (run,)


_FUNCTION = frozenset(map(stem, _WORDS["function"]))


def _content(run: str) -> tuple[str, ...]:
    found = stem(run)
    if run.startswith(found) or found in _FUNCTION:
        return (found,)
    # The stem of "mercy" is "merci" and that of "waving" is "wave". A text with these words does not contain the stems.
    begun, last = found[:-1], found[-1:]
    if last == "i" and run.startswith(f"{begun}y"):
        return (f"{begun}y",)
    if last == "e" and len(begun) >= _SHORTEST and run.startswith(begun):
        return (begun,)
    return (found,)


GRAMMAR = Grammar(
    letters="a-zß-öø-ɏ",
    run="[a-zß-öø-ɏ]+(?:['’][a-z]+)?",
    terms=_terms,
    content=_content,
    function=_FUNCTION,
    does=does,
)
