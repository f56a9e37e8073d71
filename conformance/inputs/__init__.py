"""Inputs: the calls and values that stores are given: samples, values at their edges, random calls."""

from __future__ import annotations

from conformance.inputs.histories import planned, states
from conformance.inputs.sample_calls import samples
from conformance.inputs.sample_stories import empty_view, pages, view
from conformance.inputs.strategies import EXPAND, STRATEGIES
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
    "EXPAND",
    "FIELDS",
    "MARKED",
    "NAMES",
    "NFC",
    "NFD",
    "SCALARS",
    "SEGMENTS",
    "SEPARATORS",
    "STRATEGIES",
    "SURROGATE",
    "TEXTS",
    "TUPLES",
    "empty_view",
    "pages",
    "planned",
    "samples",
    "states",
    "view",
]
