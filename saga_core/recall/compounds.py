"""Compounds: words of a query that its documents write apart, or in one ("icecream", "ice cream")."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from saga_core.language import function_terms, terms

_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 3
"""Letters of each part: shorter ones make words by chance."""


def compounds(query: str, known: Callable[[str], bool]) -> list[str]:
    """Terms to look for besides those of ``query``: two words next to each other as one, if that is ``known``, and of a
    word that is not the two known ones that it is made of. Of several ways to part it, that into the longest parts.

    Only for scripts with spaces and letters that make words one by one: terms of the others are parts of words anyway.
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
