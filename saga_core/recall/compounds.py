"""Compounds: matches query words that documents spell as one word or as two ("icecream", "ice cream")."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from saga_core.language import folded_terms, function_terms

_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 3
"""Minimum letters of each part. Shorter parts form words by chance."""
_MOST = 48
"""Maximum letters of a word that is split or joined. Splitting takes time with the square of a word's length."""


def compounds(query: str, known: Callable[[str], bool]) -> list[str]:
    """Return the terms to search for in addition to those of ``query``.

    Two adjacent words are joined when the joined term is ``known``. An unknown word is split into two known words; of
    several possible splits the most even one is used. A word or pair that occurs several times counts once. Only ASCII
    words are handled: in scripts without spaces, terms are parts of words anyway.
    """
    found: list[str] = []
    words = [word for word in _WORD.findall(query.casefold()) if _LEAST <= len(word) <= _MOST and word.isascii()]
    function = function_terms()
    whole = {word: tuple(folded_terms(word)) for word in words}
    for word, own in whole.items():
        if len(word) < 2 * _LEAST or any(map(known, own)):
            continue
        ways = sorted(range(_LEAST, len(word) - _LEAST + 1), key=lambda at: abs(2 * at - len(word)))
        for at in ways:
            parts = list(folded_terms(word[:at]))
            if not all(map(known, parts)):
                continue
            parts += folded_terms(word[at:])
            if all(map(known, parts)) and function.isdisjoint(parts):
                found += parts
                break
    content = {word for word, own in whole.items() if function.isdisjoint(own)}
    for one, other in dict.fromkeys(pairwise(words)):
        if one in content and other in content:
            found += filter(known, folded_terms(one + other))
    return found
