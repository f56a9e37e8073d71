"""The nearest of many rows that arrive block by block, by exact scores."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saga_backends.vector.scoring import Question, Singles, are_tame, as_row, inverse_norms, squared_norms


class Nearest:
    """The ``k`` best of the rows shown so far: highest score first, equal ones by id, then by the scope's place.

    Scores are those of ``saga_core.stores.vector.cosine``. Of each block only the rows that a rough pass in 32 bits
    leaves in question are scored exactly; where lengths are extreme, all of them.
    """

    def __init__(self, asked: array[float], k: int) -> None:
        self._question = Question(asked)
        self._k = k
        wide = as_row(asked).astype(np.float64)
        self._unit = (wide / (float(wide @ wide) ** 0.5 or 1.0)).astype(np.float32)
        # The squared lengths of the rough pass are sums of 32 bits themselves.
        self._margin = self._question.margin + len(asked) * 2.0**-24
        self._best: list[tuple[float, str, int, int]] = []

    def show(self, place: int, ids: Sequence[str], numbers: Sequence[int], rows: Singles) -> None:
        """Take in a block: the vectors ``rows`` of ``ids``. ``numbers`` come back in ``best``."""
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
        """Score, id, the scope's place and the row's number of each."""
        return [(0.0 - minus, item_id, place, number) for minus, item_id, place, number in self._best]

    def _questionable(self, rows: Singles) -> NDArray[np.intp]:
        """Indexes of the rows that could be among the best."""
        with np.errstate(over="ignore", under="ignore"):
            squares = np.einsum("ij,ij->i", rows, rows).astype(np.float64)
        # A row whose square vanished in 32 bits is not a zero row, but a very short one.
        if not are_tame(squares) or rows[squares == 0].any():
            return np.arange(len(rows))
        # Not the product of numpy's linear algebra: for blocks of this size its threads cost more than they save.
        rough = np.einsum("ij,j->i", rows, self._unit) * inverse_norms(squares)
        lowest = -2.0
        if len(self._best) == self._k:
            lowest = -self._best[-1][0]
        if len(rows) > self._k:
            lowest = max(lowest, float(np.partition(rough, len(rows) - self._k)[len(rows) - self._k]))
        return np.flatnonzero(rough >= lowest - self._margin)
