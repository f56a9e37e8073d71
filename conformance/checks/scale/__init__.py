"""Checks of every operation at many sizes, and of stores with many entries."""

from __future__ import annotations

from conformance.checks.scale import (
    scale_cache,
    scale_graph,
    scale_state,
    scale_vector,
    sizes,
    sizes_graph,
    sizes_vector,
)

__all__ = ["scale_cache", "scale_graph", "scale_state", "scale_vector", "sizes", "sizes_graph", "sizes_vector"]
