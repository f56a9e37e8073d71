"""Checks of what each method of a protocol returns and changes, clause by clause."""

from __future__ import annotations

from conformance.checks.operations import (
    cache,
    confusable,
    curator,
    filters,
    graph,
    graph_reading,
    questions,
    state,
    vector,
    vector_query,
)

__all__ = [
    "cache",
    "confusable",
    "curator",
    "filters",
    "graph",
    "graph_reading",
    "questions",
    "state",
    "vector",
    "vector_query",
]
