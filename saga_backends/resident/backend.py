"""Registers the resident layers as backends, for callers that open stores by name.

Options: ``inner`` is the wrapped store, which is closed with the layer. ``limit_mb`` is the memory in megabytes.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from saga_core.errors import BadInput
from saga_core.registry import Backend, OpenOptions

_LIMIT_MB = 64
_MB = 1_024 * 1_024


async def _open(kind: str, layer: str, options: OpenOptions) -> Any:
    taken = options.take(inner=None, limit_mb=_LIMIT_MB)
    inner, limit_mb = taken["inner"], taken["limit_mb"]
    found = getattr(getattr(inner, "info", None), "kind", None)
    if found != kind:
        raise BadInput(f"options.inner: {inner!r} is no {kind} store; give the open store that is to be wrapped")
    if limit_mb < 1:
        raise BadInput(f"options.limit_mb: {limit_mb} is below 1; without memory use the store itself")
    module, _, name = layer.partition(":")
    return getattr(import_module(module), name)(inner, limit_bytes=limit_mb * _MB)


async def _open_graph(options: OpenOptions) -> Any:
    return await _open("graph", "saga_backends.resident.graph:ResidentGraph", options)


async def _open_vector(options: OpenOptions) -> Any:
    return await _open("vector", "saga_backends.resident.vectors:ResidentVectors", options)


GRAPH = Backend(
    "resident",
    "graph",
    _open_graph,
    "the scopes of a graph store in memory, written through",
    warm_up=("saga_backends.digraph",),
)
VECTOR = Backend(
    "resident",
    "vector",
    _open_vector,
    "the scopes of a vector store in memory, written through",
    warm_up=("saga_backends.resident.matrix",),
)
