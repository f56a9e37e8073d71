"""Checks the vectors that a model returns and normalises them to unit length."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from math import isfinite

from saga_core.errors import SagaError


class BadVector(SagaError):
    """A model returned an invalid vector. The message says what is wrong with it."""


def unit(values: Iterable[float], dimension: int) -> array[float]:
    """Return ``values`` scaled to unit length, as ``array('f')``.

    Raises ``BadVector`` if the number of components is not ``dimension``, if a component is not a finite number, or if
    the vector is zero. No model returns such a vector for a text that is not blank.
    """
    try:
        found = values if isinstance(values, array) else array("d", values)
    except (TypeError, OverflowError):
        raise BadVector("has components that are no numbers") from None
    if len(found) != dimension:
        raise BadVector(f"has {len(found)} components, not {dimension}")
    # In double precision, the squares of single-precision numbers stay finite.
    square = sum(value * value for value in found)
    if not isfinite(square):
        raise BadVector("has components that are not finite (NaN or infinity)")
    if square <= 1e-24:
        raise BadVector("is zero")
    scale = square**-0.5
    return array("f", [value * scale for value in found])


def blank(dimension: int) -> array[float]:
    """The zero vector, which stands for a blank text."""
    return array("f", bytes(4 * dimension))
