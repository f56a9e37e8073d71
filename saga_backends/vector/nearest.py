"""Finds the nearest of many rows that arrive in blocks, by exact scores."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saga_backends.scoring import Question, Singles, are_tame, as_row, inverse_norms, squared_norms


class Nearest:
    """The ``k`` best rows so far, sorted by descending score, then by id, then by the position of the scope.

    Scores are those of ``saga_core.stores.vector.cosine``. A rough 32-bit pass rules out most rows of a block, and only
    the others are scored exactly. If vectors have extreme lengths, all rows are scored exactly.
    """

    def __init__(self, asked: array[float], k: int) -> None:
        self._question = Question(asked)
        self._k = k
        wide = as_row(asked).astype(np.float64)
        self._unit = (wide / (float(wide @ wide) ** 0.5 or 1.0)).astype(np.float32)
        # The rough pass also computes the squared lengths in 32 bits.
        self._margin = self._question.margin + len(asked) * 2.0**-24
        self._best: list[tuple[float, str, int, int]] = []

    def show(self, place: int, ids: Sequence[str], numbers: Sequence[int], rows: Singles) -> None:
        """Add a block with the vectors ``rows`` of ``ids``. ``best`` returns ``numbers`` for the rows."""
        if not len(rows):
            return
        chosen = self._questionable(rows)
        near = rows[chosen]
        scores = self._question.exact(near, squared_norms(near))
        self._best += [
            (-score, ids[index], place, numbers[index])
            for index, score in zip(chosen.tolist(), scores.tolist(), strict=True)
        ]
        self._best.sort()
        del self._best[self._k :]

    @property
    def best(self) -> list[tuple[float, str, int, int]]:
        """The score, id, scope position and row number of each of the best rows."""
        return [(0.0 - minus, item_id, place, number) for minus, item_id, place, number in self._best]

    def _questionable(self, rows: Singles) -> NDArray[np.intp]:
        """Return the indexes of the rows that could be among the best."""
        with np.errstate(over="ignore", under="ignore"):
            squares = np.einsum("ij,ij->i", rows, rows).astype(np.float64)
        # A non-zero row whose square underflows in 32 bits is very short.
        if not are_tame(squares) or rows[squares == 0].any():
            return np.arange(len(rows))
        # Not numpy's BLAS product, because its threads cost more than they save for blocks of this size.
        rough = np.einsum("ij,j->i", rows, self._unit) * inverse_norms(squares)
        lowest = -2.0
        if len(self._best) == self._k:
            lowest = -self._best[-1][0]
        if len(rows) > self._k:
            lowest = max(lowest, float(np.partition(rough, len(rows) - self._k)[len(rows) - self._k]))
        return np.flatnonzero(rough >= lowest - self._margin)
