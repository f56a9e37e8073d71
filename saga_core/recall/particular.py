"""Particular sentences: those with a word that few turns have. A talk is full of others: "How was your day?"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Protocol
from weakref import ReferenceType, ref

from attrs import define

from saga_core.language import folded_terms

_RARE, _SELDOM = 0.25, 0.45
"""A term is rare in no more turns than this power of all of them, and seldom in no more than that one: 3 and 10 of
200. Three seldom terms tell as much as a rare one."""


@define(eq=False)
class Worded:
    """The terms by which the sentences of a text may be particular, found once for all questions."""

    places: Mapping[str, int]
    """Each term to the sentences that have it, a bit each: bit 0 is the first one."""
    _seldom: AbstractSet[str] = frozenset()
    _rare: AbstractSet[str] = frozenset()
    _found: int | None = None
    _among: ReferenceType[AbstractSet[str]] | None = None

    @staticmethod
    def of(sentences: Iterable[str]) -> Worded:
        """Those of ``sentences``, in lower case. A single syllable or letter is a part of too much else."""
        places: dict[str, int] = {}
        for number, sentence in enumerate(sentences):
            bit = 1 << number
            for term in folded_terms(sentence):
                if len(term) > 1 or term.isdigit():
                    places[term] = places.get(term, 0) | bit
        return Worded(places)

    def beside(self, not_seldom: AbstractSet[str], not_rare: AbstractSet[str]) -> int:
        """The bits of the sentences with three terms that are not among ``not_seldom``, or one that is not among
        ``not_rare`` either. Both only grow: what of the terms was found in them before is not looked at again."""
        if self._among is None or self._among() is not not_seldom:
            self._seldom = self._rare = self.places.keys()
            self._among, self._found = ref(not_seldom), None
        if not self._seldom.isdisjoint(not_seldom):
            self._seldom, self._found = self._seldom - not_seldom, None
        if not self._rare.isdisjoint(not_rare):
            self._rare, self._found = self._rare - not_rare, None
        if self._found is None:
            self._found = _with_enough(self.places, self._seldom, self._rare)
        return self._found


def few(turns: int) -> tuple[int, int]:
    """In how many of ``turns`` a term may stand that is rare, and one that is seldom."""
    return max(1, int(turns**_RARE)), max(1, int(turns**_SELDOM))


class Counted(Protocol):
    """Turns whose terms are counted."""

    @property
    def aside(self) -> bool:
        """Whether ``common`` has more than it should: terms of other turns as well."""
        ...

    def common(self, most: int) -> AbstractSet[str]:
        """All terms that stand in more than ``most`` turns: a set that only grows, or another one."""
        ...

    def spread(self, term: str, most: int) -> int:
        """In how many turns ``term`` stands; when they are more than ``most``, some number above it."""
        ...


class Particular:
    """Which sentences tell what is told seldom. Made for one read: what it knows of a term, it keeps."""

    def __init__(self, counted: Counted, turns: int) -> None:
        """``turns``: how many are ``counted``."""
        self._spread = counted.spread
        self._rare, self._seldom = few(turns)
        self._not_rare, self._not_seldom = counted.common(self._rare), counted.common(self._seldom)
        self._certain = not counted.aside
        self._known: dict[str, int] = {}

    def __call__(self, worded: Worded) -> int:
        """The bits of the sentences that are: those with a rare term or three seldom ones."""
        places = worded.places
        found = worded.beside(self._not_seldom, self._not_rare)
        if self._certain:
            return found
        known, most, rare = self._known, self._seldom, self._rare
        open_ = [term for term, bits in places.items() if bits & ~found]
        for term in open_:
            if term not in known:
                known[term] = self._spread(term, most)
        counted = [term for term in open_ if known[term] <= most]
        return _with_enough(places, counted, [term for term in counted if known[term] <= rare]) | found


def _with_enough(places: Mapping[str, int], seldom: Iterable[str], rare: Iterable[str]) -> int:
    """The bits of the sentences with one of ``rare`` or three of ``seldom``."""
    one = two = three = 0
    for term in seldom:
        bits = places[term]
        three |= two & bits
        two |= one & bits
        one |= bits
    for term in rare:
        three |= places[term]
    return three
