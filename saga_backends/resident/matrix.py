"""The vectors of one scope in memory, as a float32 matrix with separate ids, texts and metadata."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from sys import getsizeof
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from saga_backends.footprint import mapping_bytes
from saga_backends.scoring import (
    Doubles,
    QueryVector,
    Singles,
    are_tame,
    as_rows,
    inverse_norms,
    squared_norms,
)
from saga_core.stores import Scalar, VectorItem
from saga_core.stores.filters import Predicate

_FIRST_ROWS = 16
_ROW_OBJECTS = 250
"""Bytes per row besides id, text and metadata, for entries in lists and dicts."""


class Row(NamedTuple):
    """The data of an item besides its vector.

    This is a tuple because tuples are created fastest, and loading a scope creates thousands.
    """

    id: str
    text: str
    metadata: Mapping[str, Scalar]
    size: int


class Matrix:
    """The items of a scope. Rows are replaced in place, and growth is amortised. Deleting copies what is left.

    Arguments must have been checked. Vectors are ``array('f')`` of ``dimension``. Returned metadata is shared and
    read-only.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._vectors: Singles = np.zeros((_FIRST_ROWS, dimension), dtype=np.float32)
        self._squares: Doubles = np.zeros(_FIRST_ROWS)
        self._inverses: Singles = np.zeros(_FIRST_ROWS, dtype=np.float32)
        self._tame = True
        """Whether the rough pass can be used, which requires that no vector is extremely long or short."""
        self._rows: list[Row] = []
        self._places: dict[str, int] = {}
        self._order: list[str] | None = None
        self._row_bytes = 0

    def __len__(self) -> int:
        return len(self._places)

    @property
    def size(self) -> int:
        """The estimated memory in bytes."""
        numbers = self._vectors.nbytes + self._squares.nbytes + self._inverses.nbytes
        return numbers + self._row_bytes + 1_024

    def put(self, items: Sequence[tuple[VectorItem, array[float]]]) -> None:
        """Add or replace items, each with its 32-bit vector. If an id occurs twice, the last item is kept."""
        if not items:
            return
        latest = {item.id: (item, vector) for item, vector in items}
        block = as_rows([vector for _, vector in latest.values()])
        places = np.array([self._put_row(item) for item, _ in latest.values()], dtype=np.intp)
        have, need = len(self._vectors), len(self._rows)
        if need > have:
            self._resize(max(need, have + have // 2), list(range(have)))
        squares = squared_norms(block)
        self._vectors[places] = block
        self._squares[places] = squares
        if self._tame and are_tame(squares):
            self._inverses[places] = inverse_norms(squares)
        else:
            self._settle()

    def _put_row(self, item: VectorItem) -> int:
        """Store the data besides the vector and return the row number for both."""
        metadata = MappingProxyType(dict(item.metadata))
        size = _ROW_OBJECTS + getsizeof(item.id) + getsizeof(item.text) + mapping_bytes(metadata)
        row = Row(item.id, item.text, metadata, size)
        place = self._places.get(item.id)
        if place is None:
            place = self._places[item.id] = len(self._rows)
            self._rows.append(row)
            self._order = None
        else:
            size -= self._rows[place].size
            self._rows[place] = row
        self._row_bytes += size
        return place

    def _resize(self, capacity: int, kept: list[int]) -> None:
        """Make room for ``capacity`` rows, which begin with the rows ``kept``."""
        for name in ("_vectors", "_squares", "_inverses"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), dtype=old.dtype)
            new[: len(kept)] = old[kept]
            setattr(self, name, new)

    def delete(self, ids: Iterable[str]) -> int:
        """Remove the items with these ids. Returns how many existed."""
        gone = {self._places[item_id] for item_id in ids if item_id in self._places}
        if gone:
            kept = [place for place in range(len(self._rows)) if place not in gone]
            self._row_bytes -= sum(self._rows[place].size for place in gone)
            self._rows = [self._rows[place] for place in kept]
            self._places = {row.id: place for place, row in enumerate(self._rows)}
            self._order = None
            self._resize(max(_FIRST_ROWS, len(kept) + len(kept) // 4), kept)
            self._settle()
        return len(gone)

    def _settle(self) -> None:
        """Check whether the rough pass works for the current rows, and prepare it."""
        self._tame = are_tame(self._squares)
        if self._tame:
            self._inverses = inverse_norms(self._squares)

    def matching(self, wanted: Predicate | None) -> list[str]:
        """Return the ids of the items whose metadata passes the filter, in no particular order."""
        if wanted is None:
            return list(self._places)
        return [row.id for row in self._rows if wanted(row.metadata)]

    def get(self, ids: Iterable[str]) -> dict[str, VectorItem]:
        """Return the items of ``ids`` that exist."""
        return {item_id: self._item(self._places[item_id]) for item_id in ids if item_id in self._places}

    def scan(self, after: str | None, limit: int) -> list[VectorItem]:
        """Return up to ``limit`` items after the id ``after``, sorted by id."""
        if self._order is None:
            self._order = sorted(self._places)
        start = 0 if after is None else bisect_right(self._order, after)
        return [self._item(self._places[item_id]) for item_id in self._order[start : start + limit]]

    def _item(self, place: int) -> VectorItem:
        row = self._rows[place]
        return VectorItem(row.id, array("f", self._vectors[place].tobytes()), row.text, row.metadata)

    def best(self, question: QueryVector, k: int, wanted: Predicate | None) -> list[tuple[float, Row]]:
        """Return the ``k`` nearest items that pass the filter, with scores, sorted by descending score, then by id."""
        places = self._candidates(question, k, wanted)
        if not places:
            return []
        chosen = np.array(places, dtype=np.intp)
        scores = question.exact(self._vectors[chosen], self._squares[chosen]).tolist()
        found = [(score, self._rows[place]) for score, place in zip(scores, places, strict=True)]
        found.sort(key=lambda pair: (-pair[0], pair[1].id))
        return found[:k]

    def _candidates(self, question: QueryVector, k: int, wanted: Predicate | None) -> list[int]:
        """Return rows that pass the filter, including the ``k`` nearest."""
        used = len(self._rows)
        if not self._tame or (wanted is None and used <= k):
            return [place for place, row in enumerate(self._rows) if wanted is None or wanted(row.metadata)]
        rough = question.rough(self._vectors[:used], self._inverses[:used])
        if wanted is None:
            threshold = np.partition(rough, used - k)[used - k] - question.margin
            places: list[int] = np.flatnonzero(rough >= threshold).tolist()
            return places
        return self._walk(rough, question.margin, k, wanted)

    def _walk(self, rough: Singles, margin: float, k: int, wanted: Predicate) -> list[int]:
        """Apply the filter to the nearest items first, until no further item can be among the best."""
        threshold = -2.0  # below every score
        places: list[int] = []
        for place in np.argsort(-rough):
            if rough[place] < threshold:
                break
            if wanted(self._rows[place].metadata):
                places.append(int(place))
                if len(places) == k:
                    threshold = float(rough[place]) - margin
        return places
