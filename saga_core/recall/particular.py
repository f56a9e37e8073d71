"""Particular sentences: those with a word that few turns have. A talk is full of others: "How was your day?"."""

from __future__ import annotations

from collections.abc import Callable

from saga_core.language import terms

_RARE, _SELDOM = 0.25, 0.45
"""A term is rare in no more turns than this power of all of them, and seldom in no more than that one: 3 and 10 of
200."""
_ENOUGH = 3
"""Seldom terms that tell as much as a rare one."""


class Particular:
    """Whether a sentence tells what is told seldom. Made for one read: what it knows of a word, it keeps."""

    def __init__(self, spread: Callable[[str, int], int], turns: int) -> None:
        """``spread`` says in how many of the ``turns`` a term stands, or any larger number than the one that it is
        given."""
        self._spread = spread
        self._rare = max(1, int(turns**_RARE))
        self._seldom = max(1, int(turns**_SELDOM))
        self._known: dict[str, tuple[str, ...] | None] = {}

    def __call__(self, sentence: str) -> bool:
        """``sentence`` in lower case."""
        known = self._known
        seldom: set[str] = set()
        # Long words are rare most often, so that few are looked up.
        for word in sorted(set(sentence.split()), key=len, reverse=True):
            if word not in known:
                known[word] = self._seldom_in(word)
            found = known[word]
            if found is None:
                return True
            seldom.update(found)
            if len(seldom) >= _ENOUGH:
                return True
        return False

    def _seldom_in(self, word: str) -> tuple[str, ...] | None:
        """The word's terms that are told seldom; None when one is rare."""
        found: list[str] = []
        for term in terms(word):
            if len(term) == 1 and not term.isdigit():  # a syllable or a letter: part of too much else
                continue
            count = self._spread(term, self._seldom)
            if count <= self._rare:
                return None
            if count <= self._seldom:
                found.append(term)
        return tuple(found)
