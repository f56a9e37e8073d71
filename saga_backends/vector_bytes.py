"""Vectors as little-endian bytes, the same on any machine."""

from __future__ import annotations

import sys
from array import array


def to_little_endian(vector: array[float]) -> bytes:
    """Return the bytes of an ``array('f')``."""
    if sys.byteorder == "big":
        vector = array("f", vector)
        vector.byteswap()
    return vector.tobytes()


def from_little_endian(raw: bytes) -> array[float]:
    """Return the ``array('f')`` of such bytes. Raises ``ValueError`` if their number is no multiple of four."""
    vector = array("f", raw)
    if sys.byteorder == "big":
        vector.byteswap()
    return vector
