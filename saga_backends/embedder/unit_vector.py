"""Checks the vectors that a model returns, and normalises them to unit length."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from math import isfinite

from saga_core.errors import SagaError


class BadVector(SagaError):
    """A model gave something that is no vector of a text: the message says what."""


def unit(values: Iterable[float], dimension: int) -> array[float]:
    """``values`` at unit length, as ``array('f')``.

    Raises ``BadVector`` for another number of components, for one that is no number or not finite, and for none above
    zero: a model gives no such thing for a text that says something.
    """
    try:
        found = values if isinstance(values, array) else array("d", values)
    except (TypeError, OverflowError):
        raise BadVector("has components that are no numbers") from None
    if len(found) != dimension:
        raise BadVector(f"has {len(found)} components, not {dimension}")
    # Products of single-precision numbers stay finite in double precision.
    square = sum(value * value for value in found)
    if not isfinite(square):
        raise BadVector("has components that are not finite (NaN or infinity)")
    if square <= 1e-24:
        raise BadVector("is zero")
    scale = square**-0.5
    return array("f", [value * scale for value in found])


def blank(dimension: int) -> array[float]:
    """The vector of a text that says nothing."""
    return array("f", bytes(4 * dimension))
