"""Similarity of texts: whether one text is the other with small changes."""

from __future__ import annotations

from saga_core.language import caseless_letter
from saga_core.transcript.identities import identity

INHERIT = 0.8
"""Minimum similarity (0 to 1) at which a text counts as the other with small changes."""
SAME_BEGINNING = 0.7
"""The same for two texts with the same first half, if they are written in a script without capitals.

Two English texts are 38 % alike by chance, because they share a few letters. Korean, Japanese and Chinese texts are
14 to 19 % alike. If seven tenths of a text stay, it is 80 % alike in English, but only 73 % in the others.
"""
_LEAST = 24
"""The minimum number of characters of the longer text for ``SAME_BEGINNING``. Short replies often begin alike."""
_COMPARED = 4_000
_ROUNDING = 1e-5
"""Less than one character of the compared text, and more than the library's rounding error at the threshold."""


def likeness(one: str, other: str) -> float:
    """Return the similarity of two texts, 0 to 1, ignoring decoration; 0 if it is too low to count as the same text.

    It is twice the length of their longest common subsequence, divided by the sum of their lengths (normalized indel
    similarity). The first 4,000 characters of each text are compared.
    """
    left, right = identity(one)[:_COMPARED], identity(other)[:_COMPARED]
    if not left and not right:
        return 0.0
    # The import takes 10 ms and 7 MB, and few chats have an edited reply.
    from rapidfuzz.distance import Indel

    least = SAME_BEGINNING if _begin_alike(left, right) else INHERIT
    return Indel.normalized_similarity(left, right, score_cutoff=least - _ROUNDING)


def resembles(one: str, other: str) -> bool:
    """Whether one text is the other with small changes."""
    return likeness(one, other) > 0


def _begin_alike(left: str, right: str) -> bool:
    """Whether half of the longer text begins both, mostly in letters of a script without capitals."""
    longer = max(len(left), len(right))
    half = left[: (longer + 1) // 2]
    if longer < _LEAST or len(half) * 2 < longer or not right.startswith(half):
        return False
    return 2 * sum(map(caseless_letter, half)) >= len(half)
