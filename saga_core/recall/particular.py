"""Finds particular sentences, which have words that few turns have, unlike "How was your day?"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Protocol
from weakref import ReferenceType, ref

from attrs import define

from saga_core.language import folded_terms

_RARE, _SELDOM = 0.25, 0.45
"""Exponents: a term is rare in at most ``turns ** _RARE`` turns and uncommon in at most ``turns ** _SELDOM``, which is
3 and 10 of 200 turns. Three uncommon terms count as much as one rare term."""


@define(eq=False)
class Worded:
    """The terms of a text's sentences, computed once for all questions."""

    places: Mapping[str, int]
    """The sentences that have each term, as a bit mask. Bit 0 is the first sentence."""
    _seldom: AbstractSet[str] = frozenset()
    _rare: AbstractSet[str] = frozenset()
    _found: int | None = None
    _among: ReferenceType[AbstractSet[str]] | None = None

    @staticmethod
    def of(sentences: Iterable[str]) -> Worded:
        """Return the terms of ``sentences``, which must be in lower case. Single syllables and letters are skipped."""
        places: dict[str, int] = {}
        for number, sentence in enumerate(sentences):
            bit = 1 << number
            for term in folded_terms(sentence):
                if len(term) > 1 or term.isdigit():
                    places[term] = places.get(term, 0) | bit
        return Worded(places)

    def beside(self, not_seldom: AbstractSet[str], not_rare: AbstractSet[str]) -> int:
        """Return the bits of the sentences with three terms outside ``not_seldom`` or one term outside ``not_rare``.

        Both sets only grow, so terms that were found in them before are not checked again.
        """
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
    """Return the maximum number of turns for a rare term and for an uncommon term, given the number of all turns."""
    return max(1, int(turns**_RARE)), max(1, int(turns**_SELDOM))


class Counted(Protocol):
    """A source of term counts over turns."""

    @property
    def aside(self) -> bool:
        """Whether ``common`` also counts other turns, and may have too many terms."""
        ...

    def common(self, most: int) -> AbstractSet[str]:
        """Return all terms that occur in more than ``most`` turns. The same set only grows; otherwise a new set is
        returned."""
        ...

    def spread(self, term: str, most: int) -> int:
        """Return the number of turns with ``term``, or any number above ``most`` if more have it."""
        ...


class Particular:
    """Finds the particular sentences of texts. Made for one read, because it caches the counts of terms."""

    def __init__(self, counted: Counted, turns: int) -> None:
        """``turns`` is the number of turns in ``counted``."""
        self._spread = counted.spread
        self._rare, self._seldom = few(turns)
        self._not_rare, self._not_seldom = counted.common(self._rare), counted.common(self._seldom)
        self._certain = not counted.aside
        self._known: dict[str, int] = {}

    def __call__(self, worded: Worded) -> int:
        """Return the bits of the particular sentences, which have one rare term or three uncommon ones."""
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
    """Return the bits of the sentences with one of ``rare`` or three of ``seldom``."""
    one = two = three = 0
    for term in seldom:
        bits = places[term]
        three |= two & bits
        two |= one & bits
        one |= bits
    for term in rare:
        three |= places[term]
    return three
