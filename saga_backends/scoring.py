"""Scores many vectors at once with numpy, with the same results as ``saga_core.stores.vector.cosine``.

There are two passes. The rough pass scores all rows in 32 bits. It is fast, and its error has a known bound. The exact
pass scores the rows that could be among the best in 64 bits. If a 64-bit score is too close to the boundary between two
rounded scores, ``cosine`` itself decides, so results agree to the last digit.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from saga_core.stores.vector import SCORE_DECIMALS, cosine

Singles: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]

_STEP = 10.0**SCORE_DECIMALS
_EDGE = 1e-5
"""A score that is closer than this, in rounding steps, to a rounding boundary is not decided in 64 bits."""

_SMALL, _LARGE = 1e-30, 1e30
"""Between these squared norms, 32-bit products neither overflow nor underflow."""

_BLOCK = 1 << 18
"""How many numbers are multiplied at a time. With more, BLAS uses threads, which cost more CPU than they save."""


def as_row(vector: array[float]) -> Singles:
    """Return an ``array('f')`` as a numpy array, without copying it."""
    return np.frombuffer(vector, dtype=np.float32)


def as_rows(vectors: Sequence[array[float]]) -> Singles:
    """Return vectors of equal dimension as the rows of a new matrix."""
    return np.frombuffer(b"".join(vectors), dtype=np.float32).reshape(len(vectors), -1)


def squared_norms(rows: Singles) -> Doubles:
    """Return the squared length of each row, in 64 bits."""
    wide = rows.astype(np.float64)
    squares: Doubles = np.einsum("ij,ij->i", wide, wide)
    return squares


def are_tame(squares: Doubles) -> bool:
    """Return whether the rough pass works for rows with these squared norms."""
    return bool(np.all((squares == 0) | ((squares > _SMALL) & (squares < _LARGE))))


def inverse_norms(squares: Doubles) -> Singles:
    """Return 1 / length of each row, or 0 for a zero row. Only for tame rows."""
    inverse = np.zeros(len(squares), dtype=np.float32)
    some = squares > 0
    inverse[some] = 1.0 / np.sqrt(squares[some])
    return inverse


class QueryVector:
    """A query vector, prepared for both passes."""

    def __init__(self, vector: array[float]) -> None:
        self._vector = vector
        self._wide = as_row(vector).astype(np.float64)
        self._square = float(self._wide @ self._wide)
        norm = self._square**0.5
        self._unit = (self._wide / norm if norm else self._wide).astype(np.float32)
        error = (len(vector) + 16) * 2.0**-24
        self.margin = 2 * error + 2 / _STEP
        """If the rough scores of two rows differ by more than this, their exact scores have the same order."""

    def rough(self, rows: Singles, inverses: Singles) -> Singles:
        """Return the 32-bit scores of tame ``rows`` as a new array."""
        scores = np.empty(len(rows), dtype=np.float32)
        step = max(1, _BLOCK // max(1, rows.shape[1]))
        for start in range(0, len(rows), step):
            np.dot(rows[start : start + step], self._unit, out=scores[start : start + step])
        scores *= inverses
        return scores

    def exact(self, rows: Singles, squares: Doubles) -> Doubles:
        """Return the scores of ``rows``, whose squared norms are ``squares``, equal to those of ``cosine``."""
        scale = np.sqrt(squares * self._square)
        some = scale > 0
        scores = np.zeros(len(rows))
        np.divide(rows.astype(np.float64) @ self._wide, scale, out=scores, where=some)
        np.minimum(np.maximum(scores, -1.0, out=scores), 1.0, out=scores)  # faster than ``np.clip``
        steps = scores * _STEP
        rounded: Doubles = np.rint(steps) / _STEP + 0.0
        for index in np.flatnonzero(np.abs(np.abs(steps - np.rint(steps)) - 0.5) < _EDGE):
            rounded[index] = cosine(array("f", rows[index].tobytes()), self._vector)
        return rounded


# --- Finds the nearest of many rows that arrive in blocks, by exact scores ----------------------------------------


class Nearest:
    """The ``k`` best rows so far, sorted by descending score, then by id, then by the position of the scope.

    Scores are those of ``saga_core.stores.vector.cosine``. A rough 32-bit pass rules out most rows of a block, and only
    the others are scored exactly. If vectors have extreme lengths, all rows are scored exactly.
    """

    def __init__(self, asked: array[float], k: int) -> None:
        self._question = QueryVector(asked)
        self._k = k
        # The rough pass also computes the squared lengths in 32 bits.
        self._margin = self._question.margin + len(asked) * 2.0**-24
        self._best: list[tuple[float, str, int]] = []

    def show(self, place: int, ids: Sequence[str], rows: Singles) -> None:
        """Add a block with the vectors ``rows`` of ``ids``, from the scope at the position ``place``."""
        if not len(rows):
            return
        chosen = self._questionable(rows)
        near = rows[chosen]
        scores = self._question.exact(near, squared_norms(near))
        self._best += [
            (-score, ids[index], place) for index, score in zip(chosen.tolist(), scores.tolist(), strict=True)
        ]
        self._best.sort()
        del self._best[self._k :]

    @property
    def best(self) -> list[tuple[float, str, int]]:
        """The score, id and scope position of each of the best rows."""
        return [(0.0 - minus, item_id, place) for minus, item_id, place in self._best]

    def _questionable(self, rows: Singles) -> NDArray[np.intp]:
        """Return the indexes of the rows that could be among the best."""
        with np.errstate(over="ignore", under="ignore"):
            squares = np.einsum("ij,ij->i", rows, rows).astype(np.float64)
        # A non-zero row whose square underflows in 32 bits is very short.
        if not are_tame(squares) or rows[squares == 0].any():
            return np.arange(len(rows))
        rough = self._question.rough(rows, inverse_norms(squares))
        lowest = -2.0
        if len(self._best) == self._k:
            lowest = -self._best[-1][0]
        if len(rows) > self._k:
            lowest = max(lowest, float(np.partition(rough, len(rows) - self._k)[len(rows) - self._k]))
        return np.flatnonzero(rough >= lowest - self._margin)
