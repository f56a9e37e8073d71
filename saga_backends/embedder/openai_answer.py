"""Parses and validates the reply of an embeddings endpoint."""

from __future__ import annotations

import json
import sys
from array import array
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from saga_backends.embedder.unit_vector import BadVector, unit
from saga_core.errors import SagaError


class BadAnswer(SagaError):
    """A reply that cannot be used. The message says why and completes a sentence that begins with "the server"."""


def read_answer(raw: bytes, count: int, dimension: int) -> list[array[float]]:
    """Return the vectors of a reply to ``count`` texts, in the order of the texts and at unit length.

    ``index`` in the reply tells which text a vector belongs to. If all are missing, the vectors are in order. Vectors
    may be lists of numbers, or base64 of little-endian single-precision numbers. Raises ``BadAnswer``.
    """
    try:
        answer = json.loads(raw)
    except ValueError:
        raise BadAnswer("answered with something that is not JSON") from None
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, list) or not all(isinstance(each, Mapping) for each in data):
        raise BadAnswer("answered without a list of vectors under 'data'")
    if len(data) != count:
        raise BadAnswer(f"answered with {len(data)} vectors for {count} texts")
    vectors: list[array[float] | None] = [None] * count
    for place, each in zip(_places(data), data, strict=True):
        try:
            vectors[place] = unit(_numbers(each.get("embedding")), dimension)
        except BadVector as error:
            raise BadAnswer(f"answered with a vector that {error}{_remedy(each, dimension)}") from None
    return [vector for vector in vectors if vector is not None]


def _places(data: list[Mapping[str, Any]]) -> list[int]:
    places = [each.get("index") for each in data]
    if all(place is None for place in places):
        return list(range(len(data)))
    # Servers that omit default values leave out the index 0.
    found = [0 if place is None else place for place in places]
    if any(type(place) is not int for place in found) or sorted(found) != list(range(len(data))):
        raise BadAnswer(f"numbered its vectors {str(places)[:60]}, not 0 to {len(data) - 1}")
    return found


def _numbers(given: Any) -> array[float]:
    if isinstance(given, str):
        try:
            found = array("f", b64decode(given, validate=True))
        except ValueError:
            raise BadVector("is no base64 of single-precision numbers") from None
        if sys.byteorder == "big":
            found.byteswap()
        return found
    if not isinstance(given, list) or not all(type(value) in (int, float) for value in given):
        raise BadVector("is no list of numbers")
    try:
        return array("d", given)
    except OverflowError:
        raise BadVector("has components that are not finite (NaN or infinity)") from None


def _remedy(each: Mapping[str, Any], dimension: int) -> str:
    given = each.get("embedding")
    try:
        count = len(_numbers(given))
    except BadVector:
        return ""
    return f"; set recall.options.dimension: {count}" if count != dimension else ""
