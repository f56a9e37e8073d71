"""Particular sentences: those with a word that few turns have. A talk is full of others: "How was your day?"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from saga_core.language import terms

_RARE, _SELDOM = 0.25, 0.45
"""A term is rare in no more turns than this power of all of them, and seldom in no more than that one: 3 and 10 of
200."""
_ENOUGH = 3
"""Seldom terms that tell as much as a rare one."""


def telling_terms(sentence: str) -> tuple[str, ...]:
    """The terms of a sentence by which it may be particular, each once, those of its longest words first: they are rare
    most often, so that few are looked up. A single syllable or letter is a part of too much else."""
    words = sorted(dict.fromkeys(sentence.split()), key=len, reverse=True)
    return tuple(dict.fromkeys(term for term in terms(" ".join(words)) if len(term) > 1 or term.isdigit()))


class Particular:
    """Whether a sentence tells what is told seldom. Made for one read: what it knows of a term, it keeps."""

    def __init__(self, spread: Callable[[str, int], int], turns: int) -> None:
        """``spread`` says in how many of the ``turns`` a term stands, or any larger number than the one that it is
        given."""
        self._spread = spread
        self._rare = max(1, int(turns**_RARE))
        self._seldom = max(1, int(turns**_SELDOM))
        self._known: dict[str, int] = {}

    def __call__(self, sentence: Sequence[str]) -> bool:
        """``sentence``: its ``telling_terms``."""
        known, rare, seldom = self._known, self._rare, self._seldom
        found = 0
        for term in sentence:
            count = known.get(term)
            if count is None:
                count = known[term] = self._spread(term, seldom)
            if count <= seldom:
                if count <= rare:
                    return True
                found += 1
                if found == _ENOUGH:
                    return True
        return False
