"""Checks whether a name occurs in a text as a word of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

from saga_core.language.language import every
from saga_core.language.tokens import match_text

_WORD = re.compile(r"[^\W_]+")


@cache
def particles() -> frozenset[str]:
    """The particles that may be attached to a name, in languages with spaces between words."""
    return frozenset(particle for each in every() for particle in each.grammar.particles)


@cache
def _particles_of_long() -> frozenset[str]:
    return frozenset(particle for each in every() for particle in each.grammar.particles_of_long)


def hangs_on(tail: str, name: str) -> bool:
    """Whether ``tail`` may be a particle attached to ``name``."""
    return tail in particles() or (len(name) > 1 and tail in _particles_of_long())


def mentions(text: str, name: str) -> bool:
    """Whether ``name`` occurs in ``text`` as a word.

    A non-letter must precede the name; a non-letter or a particle that ends the word must follow. In languages without
    spaces, the language of the name decides. 'party' does not mention 'art'; 'Mara가' mentions 'Mara'. Both arguments
    must be in NFC. Case is ignored, and traditional and simplified Han characters are equal.
    """
    return mentions_folded(match_text(text), match_text(name))


def mentions_folded(text: str, name: str) -> bool:
    """``mentions`` for a text and a name that were passed through ``match_text``."""
    stands = standing(name) or _apart
    start = text.find(name) if name else -1
    while start >= 0:
        if stands(text, start, start + len(name)):
            return True
        start = text.find(name, start + 1)
    return False


@lru_cache(maxsize=8_192)
def standing(name: str) -> Callable[[str, int, int], bool] | None:
    """The function that recognizes ``name`` as a word of its own in a language without spaces; else None."""
    if name.isascii():
        return None
    return next((stands for letter, stands in _unspaced() if letter.search(name) is not None), None)


@cache
def _unspaced() -> tuple[tuple[re.Pattern[str], Callable[[str, int, int], bool]], ...]:
    rules = [each.grammar for each in every()]
    return tuple((re.compile(rule.named), rule.stands) for rule in rules if rule.stands is not None)


def _apart(text: str, start: int, end: int) -> bool:
    if start and text[start - 1].isalnum() and text[start].isalnum():
        return False
    tail = _WORD.match(text, end)
    return tail is None or hangs_on(tail.group(), text[start:end])
