"""Particular sentences: those with a word that few turns have. A talk is full of others: "How was your day?"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from saga_core.language import terms

_RARE, _SELDOM = 0.25, 0.45
"""A term is rare in no more turns than this power of all of them, and seldom in no more than that one: 3 and 10 of
200."""
_ENOUGH = 3
"""Seldom terms that tell as much as a rare one."""


def telling_terms(sentence: str) -> frozenset[str]:
    """The terms of a sentence by which it may be particular. A single syllable or letter is a part of too much else."""
    return frozenset([term for term in terms(sentence) if len(term) > 1 or term.isdigit()])


class Counted(Protocol):
    """Turns whose terms are counted."""

    @property
    def aside(self) -> bool:
        """Whether ``common`` has more than it should: terms of other turns as well."""
        ...

    def common(self, most: int) -> AbstractSet[str]:
        """All terms that stand in more than ``most`` turns."""
        ...

    def spread(self, term: str, most: int) -> int:
        """In how many turns ``term`` stands; when they are more than ``most``, some number above it."""
        ...


class Particular:
    """Which sentences tell what is told seldom. Made for one read: what it knows of a term, it keeps."""

    def __init__(self, counted: Counted, turns: int) -> None:
        """``turns``: how many are ``counted``."""
        self._spread = counted.spread
        self._rare = max(1, int(turns**_RARE))
        self._seldom = max(1, int(turns**_SELDOM))
        self._not_rare, self._not_seldom = counted.common(self._rare), counted.common(self._seldom)
        self._certain = not counted.aside
        self._known: dict[str, int] = {}

    def __call__(self, sentences: Sequence[AbstractSet[str]]) -> list[bool]:
        """Whether each of ``sentences`` is; its ``telling_terms`` stand for each."""
        not_rare, not_seldom = self._not_rare, self._not_seldom
        found = [not each <= not_rare or len(each - not_seldom) >= _ENOUGH for each in sentences]
        if self._certain or False not in found:
            return found
        return [certain or self._counted(each) for certain, each in zip(found, sentences, strict=True)]

    def _counted(self, sentence: Iterable[str]) -> bool:
        """The same, where each term must be counted."""
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
