"""The resident layers as registered backends: opened around a store, with a memory limit."""

from __future__ import annotations

from saga_backends.resident.graph import ResidentGraph
from saga_backends.resident.vectors import ResidentVectors
from saga_core.registry import Backend, OpenOptions
from saga_core.stores.graph import GraphStore
from saga_core.stores.vector import VectorStore


async def _open_graph(options: OpenOptions) -> GraphStore:
    taken = options.take(inner=None, limit_mb=64)
    return ResidentGraph(taken["inner"], limit_bytes=taken["limit_mb"] * 1_048_576)


async def _open_vectors(options: OpenOptions) -> VectorStore:
    taken = options.take(inner=None, limit_mb=64)
    return ResidentVectors(taken["inner"], limit_bytes=taken["limit_mb"] * 1_048_576)


GRAPH = Backend("resident", "graph", _open_graph, "a durable graph store, with its scopes in memory")
VECTOR = Backend("resident", "vector", _open_vectors, "a durable vector store, with its scopes in memory")
