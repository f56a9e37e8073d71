"""Inputs: sample calls and edge-case values for stores."""

from __future__ import annotations

from conformance.inputs.sample_calls import samples
from conformance.inputs.sample_stories import empty_view, pages, view
from conformance.inputs.values import (
    ALIKE,
    BAD_NAMES,
    BAD_SCALARS,
    FIELDS,
    MARKED,
    NAMES,
    NFC,
    NFD,
    SCALARS,
    SEGMENTS,
    SEPARATORS,
    SURROGATE,
    TEXTS,
    TUPLES,
)

__all__ = [
    "ALIKE",
    "BAD_NAMES",
    "BAD_SCALARS",
    "FIELDS",
    "MARKED",
    "NAMES",
    "NFC",
    "NFD",
    "SCALARS",
    "SEGMENTS",
    "SEPARATORS",
    "SURROGATE",
    "TEXTS",
    "TUPLES",
    "empty_view",
    "pages",
    "samples",
    "view",
]
