"""Similarity of texts: whether one text is the other with small changes."""

from __future__ import annotations

from saga_core.transcript.identities import identity

INHERIT = 0.8
"""Minimum similarity (0 to 1) at which a text counts as the other with small changes."""
_COMPARED = 4_000
_ROUNDING = 1e-5
"""Less than one character of the compared text, and more than the library's rounding error at the threshold."""


def likeness(one: str, other: str) -> float:
    """Return the similarity of two texts, 0 to 1, ignoring decoration; 0 for anything below ``INHERIT``.

    It is twice the length of their longest common subsequence, divided by the sum of their lengths (normalized indel
    similarity). The first 4,000 characters of each text are compared.
    """
    left, right = identity(one)[:_COMPARED], identity(other)[:_COMPARED]
    if not left and not right:
        return 0.0
    # The import takes 10 ms and 7 MB, and few chats have an edited reply.
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(left, right, score_cutoff=INHERIT - _ROUNDING)


def resembles(one: str, other: str) -> bool:
    """Whether one text is the other with small changes."""
    return likeness(one, other) >= INHERIT
