"""Compounds: matches query words that documents spell as one word or as two ("icecream", "ice cream")."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from saga_core.language import function_terms, terms

_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 3
"""Minimum letters of each part. Shorter parts form words by chance."""


def compounds(query: str, known: Callable[[str], bool]) -> list[str]:
    """Return the terms to search for in addition to those of ``query``.

    Two adjacent words are joined when the joined term is ``known``. An unknown word is split into two known words; of
    several possible splits the most even one is used. Only ASCII words are handled: in scripts without spaces, terms
    are parts of words anyway.
    """
    found: list[str] = []
    words = [word for word in _WORD.findall(query.casefold()) if len(word) >= _LEAST and word.isascii()]
    function = function_terms()
    for word in words:
        if len(word) < 2 * _LEAST or any(map(known, terms(word))):
            continue
        ways = sorted(range(_LEAST, len(word) - _LEAST + 1), key=lambda at: abs(2 * at - len(word)))
        for at in ways:
            parts = [*terms(word[:at]), *terms(word[at:])]
            if all(map(known, parts)) and function.isdisjoint(parts):
                found += parts
                break
    for one, other in pairwise(words):
        if function.isdisjoint((*terms(one), *terms(other))):
            found += [term for term in terms(one + other) if known(term)]
    return found
