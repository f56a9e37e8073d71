"""Korean particles at the end of a word, told fast: recall asks for every word of every text."""

from __future__ import annotations

from saga_core.language.ko.particles import PARTICLES

LONGEST = max(map(len, PARTICLES))
"""Syllables of the longest particle."""

_SIZES: dict[str, tuple[int, ...]] = {
    last: tuple(sorted({len(particle) for particle in PARTICLES if particle[-1] == last}, reverse=True))
    for last in {particle[-1] for particle in PARTICLES}
}
"""The last syllable of a word, and how long the particles are that end so. Most words end otherwise."""


def stripped(word: str) -> str:
    """A Hangul word without its longest particle, of which at least two syllables stay."""
    for size in _SIZES.get(word[-1], ()):
        if len(word) > size + 1 and word[-size:] in PARTICLES:
            return word[:-size]
    return word
