"""Keeps graphs in memory as adjacency lists. Each node has a sorted list of its edges in both directions.

The graph of a story only needs neighbours, so no graph library is loaded. networkx would take 14 MB.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from attrs import define, field

from saga_backends.graph.in_memory import GraphInMemory, Scope, in_order
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Edge, EdgeKey


@define
class _Lists(Scope):
    _at: dict[str, list[Edge]] = field(factory=dict, init=False)
    """The edges of each node that has any. An edge is listed at both ends, and a loop once."""

    def at(self, node_id: str) -> Sequence[Edge]:
        return self._at.get(node_id, ())

    def put(self, edge: Edge) -> None:
        self._put(edge.source, edge)
        if edge.target != edge.source:
            self._put(edge.target, edge)

    def remove(self, key: EdgeKey) -> None:
        self._remove(key.source, key)
        if key.target != key.source:
            self._remove(key.target, key)

    def cut_off(self, node_id: str) -> None:
        for edge in self._at.pop(node_id, ()):
            self._remove(edge.target if edge.source == node_id else edge.source, edge)

    def count_edges(self) -> int:
        return sum(edge.source == node_id for node_id, edges in self._at.items() for edge in edges)

    def _put(self, node_id: str, edge: Edge) -> None:
        edges = self._at.setdefault(node_id, [])
        index, there = _find(edges, edge)
        if there:
            edges[index] = edge
        else:
            edges.insert(index, edge)

    def _remove(self, node_id: str, edge: Edge | EdgeKey) -> None:
        edges = self._at.get(node_id, [])
        index, there = _find(edges, edge)
        if there:
            del edges[index]
            if not edges:
                del self._at[node_id]


def _find(edges: Sequence[Edge], wanted: Edge | EdgeKey) -> tuple[int, bool]:
    """Return the index where an edge with this identity is or would be inserted, and whether it is there."""
    identity = in_order(wanted)
    index = bisect_left(edges, identity, key=in_order)
    return index, index < len(edges) and in_order(edges[index]) == identity


class AdjacencyGraph(GraphInMemory):
    """A graph store with adjacency lists; see ``GraphInMemory``."""

    def __init__(self) -> None:
        super().__init__("adjacency")

    async def _get_ready(self) -> None:
        pass

    def _new_scope(self) -> Scope:
        return _Lists()


async def _open(options: OpenOptions) -> AdjacencyGraph:
    options.take()
    return AdjacencyGraph()


BACKEND = Backend(
    kind="graph",
    name="adjacency",
    open=_open,
    summary="adjacency lists in memory; rebuilt from the journal at start",
)
