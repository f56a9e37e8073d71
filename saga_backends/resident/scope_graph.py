"""The graph of one scope in memory, with nodes by id and edges indexed at both ends."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import TypeAlias

from attrs import evolve

from saga_backends.footprint import edge_bytes, node_bytes
from saga_core.stores import Direction, Edge, EdgeKey, Mutation, Node

_Identity: TypeAlias = tuple[str, str, str, str]
"""The source, type, target and key of an edge. It sorts like ``EdgeKey``, but compares faster."""


def _identity(edge: Edge | EdgeKey) -> _Identity:
    return (edge.source, edge.type, edge.target, edge.key)


class ScopeGraph:
    """The graph of one scope. Arguments must have been checked. Returned values are shared and read-only."""

    def __init__(self, watermark: str | None = None) -> None:
        self.watermark = watermark
        self._nodes: dict[str, Node] = {}
        self._out: dict[str, dict[_Identity, Edge]] = {}
        self._in: dict[str, dict[_Identity, Edge]] = {}
        self._order: list[str] | None = None
        self._bytes = 0

    @property
    def size(self) -> int:
        """The estimated memory in bytes."""
        return self._bytes + 1_024

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Add or replace nodes. Their edges are kept."""
        for node in nodes:
            sealed = evolve(node, properties=MappingProxyType(dict(node.properties)))
            old = self._nodes.get(node.id)
            if old is None:
                self._order = None
            else:
                self._bytes -= node_bytes(old)
            self._nodes[node.id] = sealed
            self._bytes += node_bytes(sealed)

    def add_edges(self, edges: Iterable[Edge]) -> None:
        """Add or replace edges, the nodes of which must exist."""
        for edge in edges:
            self._remove_edge(_identity(edge))
            sealed = evolve(edge, properties=MappingProxyType(dict(edge.properties)))
            self._out.setdefault(edge.source, {})[_identity(edge)] = sealed
            self._in.setdefault(edge.target, {})[_identity(edge)] = sealed
            self._bytes += edge_bytes(sealed)

    def apply(self, mutation: Mutation) -> None:
        """See ``GraphStore.apply``. The durable store must have accepted the mutation."""
        for key in mutation.delete_edges:
            self._remove_edge(_identity(key))
        for node_id in mutation.delete_nodes:
            self._remove_node(node_id)
        self.add_nodes(mutation.put_nodes)
        self.add_edges(mutation.put_edges)
        if mutation.watermark is not None:
            self.watermark = mutation.watermark

    def _remove_node(self, node_id: str) -> None:
        node = self._nodes.pop(node_id, None)
        if node is None:
            return
        self._order = None
        self._bytes -= node_bytes(node)
        for identity in [*self._out.get(node_id, ()), *self._in.get(node_id, ())]:
            self._remove_edge(identity)

    def _remove_edge(self, identity: _Identity) -> None:
        source, _, target, _ = identity
        edge = self._out.get(source, {}).pop(identity, None)
        if edge is None:
            return
        del self._in[target][identity]
        if not self._out[source]:
            del self._out[source]
        if not self._in[target]:
            del self._in[target]
        self._bytes -= edge_bytes(edge)

    def get(self, ids: Iterable[str]) -> dict[str, Node]:
        """Return the nodes of ``ids`` that exist."""
        return {node_id: self._nodes[node_id] for node_id in ids if node_id in self._nodes}

    def neighbors(
        self, ids: Iterable[str], types: Sequence[str] | None, direction: Direction, limit: int | None
    ) -> list[Edge]:
        """See ``GraphStore.neighbors``."""
        found: dict[_Identity, Edge] = {}
        for node_id in ids:
            if direction != "in" and node_id in self._out:
                found.update(self._out[node_id])
            if direction != "out" and node_id in self._in:
                found.update(self._in[node_id])
        order = sorted(found if types is None else (identity for identity in found if identity[1] in types))
        return [found[identity] for identity in order[:limit]]

    def scan(self, label: str | None, after: str | None, limit: int) -> list[Node]:
        """See ``GraphStore.scan``."""
        if self._order is None:
            self._order = sorted(self._nodes)
        start = 0 if after is None else bisect_right(self._order, after)
        if label is None:
            return [self._nodes[node_id] for node_id in self._order[start : start + limit]]
        found: list[Node] = []
        for index in range(start, len(self._order)):
            node = self._nodes[self._order[index]]
            if node.label == label:
                found.append(node)
                if len(found) == limit:
                    break
        return found

    def expand(self, ids: Iterable[str], hops: int, types: Sequence[str] | None) -> dict[str, int]:
        """See ``NativeExpand.expand``."""
        distances = {node_id: 0 for node_id in ids if node_id in self._nodes}
        frontier = list(distances)
        for hop in range(1, hops + 1):
            reached = {
                end
                for node_id in frontier
                for source, type_, target, _ in (*self._out.get(node_id, ()), *self._in.get(node_id, ()))
                if types is None or type_ in types
                for end in (source, target)
            }
            frontier = sorted(reached.difference(distances))
            distances.update(dict.fromkeys(frontier, hop))
        return distances
