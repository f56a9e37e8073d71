"""Registers the resident layers as backends, for callers that open stores by name.

Options: ``inner`` is the wrapped store, which is closed with the layer. ``limit_mb`` is the memory in megabytes.
"""

from __future__ import annotations

from functools import partial
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


GRAPH = Backend(
    "resident",
    "graph",
    partial(_open, "graph", "saga_backends.resident.graph:ResidentGraph"),
    "the scopes of a graph store in memory, written through",
    warm_up=("saga_backends.digraph",),
)
VECTOR = Backend(
    "resident",
    "vector",
    partial(_open, "vector", "saga_backends.resident.vectors:ResidentVectors"),
    "the scopes of a vector store in memory, written through",
    warm_up=("saga_backends.resident.matrix",),
)
