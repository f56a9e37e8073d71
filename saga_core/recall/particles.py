"""Korean particles at the end of a word, told fast: recall asks for every word of every text."""

from __future__ import annotations

from functools import lru_cache

from saga_core.text.korean import is_hangul, is_particle

LONGEST = 4
"""Syllables of the longest particle."""

particle = lru_cache(maxsize=4_096)(is_particle)
"""Whether a text is a particle by itself."""


def stems(word: str) -> list[str]:
    """What may be left of a Hangul word when a particle is taken off its end: one syllable or more, shortest first."""
    size = len(word)
    return [
        word[:cut] for cut in range(max(1, size - LONGEST), size) if particle(word[cut:]) and is_hangul(word[cut - 1])
    ]


def stripped(word: str) -> str:
    """A Hangul word without its longest particle, of which at least two syllables stay."""
    size = len(word)
    for cut in range(max(2, size - LONGEST), size):
        if particle(word[cut:]):
            return word[:cut]
    return word
