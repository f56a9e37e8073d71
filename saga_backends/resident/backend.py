"""Registers the resident layers as backends, for callers that open stores by name.

Options: ``inner`` is the wrapped store, which is closed with the layer. ``limit_mb`` is the memory in megabytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saga_core.errors import BadInput
from saga_core.registry import Backend, OpenOptions

if TYPE_CHECKING:
    from saga_backends.resident.graph import ResidentGraph
    from saga_backends.resident.vectors import ResidentVectors

_LIMIT_MB = 64
_MB = 1_024 * 1_024


def _inner_and_limit(options: OpenOptions, kind: str) -> tuple[Any, int]:
    taken = options.take(inner=None, limit_mb=_LIMIT_MB)
    inner, limit_mb = taken["inner"], taken["limit_mb"]
    found = getattr(getattr(inner, "info", None), "kind", None)
    if found != kind:
        raise BadInput(f"options.inner: {inner!r} is no {kind} store; give the open store that is to be wrapped")
    if limit_mb < 1:
        raise BadInput(f"options.limit_mb: {limit_mb} is below 1; without memory use the store itself")
    return inner, limit_mb * _MB


async def _open_graph(options: OpenOptions) -> ResidentGraph:
    from saga_backends.resident.graph import ResidentGraph

    inner, limit_bytes = _inner_and_limit(options, "graph")
    return ResidentGraph(inner, limit_bytes=limit_bytes)


async def _open_vector(options: OpenOptions) -> ResidentVectors:
    from saga_backends.resident.vectors import ResidentVectors

    inner, limit_bytes = _inner_and_limit(options, "vector")
    return ResidentVectors(inner, limit_bytes=limit_bytes)


GRAPH = Backend("resident", "graph", _open_graph, "the scopes of a graph store in memory, written through")
VECTOR = Backend(
    "resident",
    "vector",
    _open_vector,
    "the scopes of a vector store in memory, written through",
    warm_up=("saga_backends.vector.matrix",),
)
