"""How alike two texts are: whether one is the other with small changes."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher

from saga_core.journal.transcript import identity

INHERIT = 0.8
"""Likeness (0 to 1) from which on a text counts as the other with small changes."""
_COMPARED = 4_000
_EXACT = 400


def likeness(one: str, other: str) -> float:
    """How alike two texts are, 0 to 1, decoration left out; 0 for whatever is surely below ``INHERIT``.

    The beginning and the end that they share are set aside. A short rest is compared letter by letter. With a long
    one, the texts are compared by their runs of three letters, or two syllables: milliseconds instead of a second.
    """
    # In one order, for the blocks that are found depend on it.
    left, right = sorted((identity(one)[:_COMPARED], identity(other)[:_COMPARED]))
    whole = len(left) + len(right)
    if left == right:
        return 1.0 if whole else 0.0
    shortest = min(len(left), len(right))
    head = next((at for at in range(shortest) if left[at] != right[at]), shortest)
    left_rest, right_rest = left[head:], right[head:]
    shortest -= head
    tail = next((at for at in range(shortest) if left_rest[-1 - at] != right_rest[-1 - at]), shortest)
    left_rest, right_rest = left_rest[: len(left_rest) - tail], right_rest[: len(right_rest) - tail]
    shared = 2 * (head + tail)
    if shared + 2 * min(len(left_rest), len(right_rest)) < INHERIT * whole:
        return 0.0
    if max(len(left_rest), len(right_rest)) > _EXACT:
        return _by_grams(left, right)
    blocks = SequenceMatcher(None, left_rest, right_rest, autojunk=False).get_matching_blocks()
    return (shared + 2 * sum(block.size for block in blocks)) / whole


def resembles(one: str, other: str) -> bool:
    """Whether one text is the other with small changes."""
    return likeness(one, other) >= INHERIT


def _by_grams(left: str, right: str) -> float:
    size = 2 if len(left.encode()) > 1.5 * len(left) else 3
    ours, theirs = _grams(left, size), _grams(right, size)
    common = sum(min(count, theirs[gram]) for gram, count in ours.items() if gram in theirs)
    return 2 * common / (ours.total() + theirs.total())


def _grams(text: str, size: int) -> Counter[str]:
    return Counter(text[at : at + size] for at in range(len(text) - size + 1))
