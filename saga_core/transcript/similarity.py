"""Similarity of two texts: whether one is the other with small changes."""

from __future__ import annotations

from saga_core.transcript.identities import identity

INHERIT = 0.8
"""Likeness (0 to 1) from which on a text counts as the other with small changes."""
_COMPARED = 4_000
_ROUNDING = 1e-5
"""Below one character in all that is compared, and above what the library's own rounding loses at the threshold."""


def likeness(one: str, other: str) -> float:
    """How alike two texts are, 0 to 1, decoration left out; 0 for whatever is below ``INHERIT``.

    Twice the length of their longest common subsequence, over both lengths (normalized indel similarity). Of each
    text the first 4,000 characters are compared.
    """
    left, right = identity(one)[:_COMPARED], identity(other)[:_COMPARED]
    if not left and not right:
        return 0.0
    # A hundredth of a second and 7 MB, once: few chats have an edited reply.
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(left, right, score_cutoff=INHERIT - _ROUNDING)


def resembles(one: str, other: str) -> bool:
    """Whether one text is the other with small changes."""
    return likeness(one, other) >= INHERIT
