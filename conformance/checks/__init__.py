"""An example for each clause; importing this registers them."""

from __future__ import annotations

from conformance.checks import (
    cache,
    curator,
    durability,
    graph,
    graph_reading,
    lifecycle,
    limits,
    state,
    together,
    vector,
    vector_query,
)

__all__ = [
    "cache",
    "curator",
    "durability",
    "graph",
    "graph_reading",
    "lifecycle",
    "limits",
    "state",
    "together",
    "vector",
    "vector_query",
]
