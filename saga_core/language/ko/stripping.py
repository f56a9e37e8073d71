"""Fast removal of Korean particles from the end of a word. Recall does this for every word of every text."""

from __future__ import annotations

from saga_core.language.ko.particles import PARTICLES

LONGEST = max(map(len, PARTICLES))
"""The number of syllables of the longest particle."""

_SIZES: dict[str, tuple[int, ...]] = {
    last: tuple(sorted({len(particle) for particle in PARTICLES if particle[-1] == last}, reverse=True))
    for last in {particle[-1] for particle in PARTICLES}
}
"""The lengths of the particles that end in a syllable, longest first. Most words end in another syllable."""


def stripped(word: str) -> str:
    """A Hangul word without its longest particle. At least two syllables remain."""
    for size in _SIZES.get(word[-1], ()):
        if len(word) > size + 1 and word[-size:] in PARTICLES:
            return word[:-size]
    return word
