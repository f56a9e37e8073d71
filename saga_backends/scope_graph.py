"""The graph of one scope in memory: nodes by id, and edges in a networkx ``DiGraph``."""

from __future__ import annotations

import asyncio
import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

from saga_backends.footprint import edge_bytes, node_bytes
from saga_core.stores import Direction, Edge, EdgeKey, Mutation, Node, Value

if TYPE_CHECKING:
    from saga_backends.digraph import Digraph

CLASSES = "saga_backends.digraph"
"""The module that imports the classes of networkx."""
_EMPTY: Mapping[str, Any] = {}
_NONE: MappingProxyType[str, Value] = MappingProxyType({})
_Thing = TypeVar("_Thing", Node, Edge)
identity = attrgetter("source", "type", "target", "key")
"""Returns the identity of an edge or of its key as a tuple. It sorts like ``EdgeKey``, but compares faster."""


def sealed(thing: _Thing) -> _Thing:
    """Return ``thing`` with read-only properties. If it has them already, it is returned as it is, to be shared."""
    properties = thing.properties
    if type(properties) is MappingProxyType:
        return thing
    return evolve(thing, properties=MappingProxyType(dict(properties)) if properties else _NONE)


def sealed_mutation(mutation: Mutation) -> Mutation:
    """Return a checked mutation with read-only properties of its own, which its caller cannot change any more."""
    nodes, edges = tuple(map(sealed, mutation.put_nodes)), tuple(map(sealed, mutation.put_edges))
    return evolve(mutation, put_nodes=nodes, put_edges=edges)


async def import_classes() -> None:
    """Import the classes of networkx in a thread, before the first ``ScopeGraph`` is made. Raises ``ImportError``."""
    if CLASSES not in sys.modules:
        await asyncio.to_thread(import_module, CLASSES)


def _attribute(edge: Edge | EdgeKey) -> str | tuple[str, str]:
    """The attribute name under which a networkx edge holds our ``Edge``.

    It is a string if possible, because dicts with string keys are smaller. Few edges have a key.
    """
    return (edge.type, edge.key) if edge.key else edge.type


class ScopeGraph:
    """The graph of one scope. Arguments must have been checked. Returned values are shared and read-only.

    Parallel edges between two nodes are attributes of one networkx edge. A ``MultiDiGraph`` would take one more dict
    for each of them.
    """

    def __init__(self, watermark: str | None = None) -> None:
        from saga_backends.digraph import DiGraph

        self.watermark = watermark
        self.nodes: dict[str, Node] = {}
        self._graph: Digraph = DiGraph()
        """Contains the nodes that have or had edges."""
        self._order: list[str] | None = None
        """The sorted node ids, computed on the first scan."""
        self._near: dict[str, tuple[Edge, ...]] = {}
        """A cache of the edges at each node, in order, filled on demand."""
        self._bytes = 0

    @property
    def size(self) -> int:
        """The estimated memory in bytes."""
        return self._bytes + 1_024

    @property
    def edges(self) -> int:
        """The number of edges, counted one by one."""
        return sum(len(parallel) for _, _, parallel in self._graph.edges(data=True))

    # --- changes --------------------------------------------------------------------------------------------------

    def apply(self, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        for key in mutation.delete_edges:
            self._remove_edge(key)
        for node_id in mutation.delete_nodes:
            self._remove_node(node_id)
        self.add_nodes(mutation.put_nodes)
        self.add_edges(mutation.put_edges)
        if mutation.watermark is not None:
            self.watermark = mutation.watermark

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Add or replace nodes. Their edges are kept."""
        for node in map(sealed, nodes):
            old = self.nodes.get(node.id)
            if old is None:
                self._order = None
            else:
                self._bytes -= node_bytes(old)
            self.nodes[node.id] = node
            self._bytes += node_bytes(node)

    def add_edges(self, edges: Iterable[Edge]) -> None:
        """Add or replace edges, the nodes of which must exist."""
        for edge in map(sealed, edges):
            if not self._graph.has_edge(edge.source, edge.target):
                self._graph.add_edge(edge.source, edge.target)
            parallel = self._parallel(edge)
            old = parallel.get(_attribute(edge))
            if old is not None:
                self._bytes -= edge_bytes(old)
            parallel[_attribute(edge)] = edge
            self._bytes += edge_bytes(edge)
            self._uncache(edge)

    def _remove_node(self, node_id: str) -> None:
        node = self.nodes.pop(node_id, None)
        if node is None:
            return
        self._order = None
        self._bytes -= node_bytes(node)
        for edge in self._touching(node_id):
            self._bytes -= edge_bytes(edge)
            self._uncache(edge)
        if node_id in self._graph:
            self._graph.remove_node(node_id)

    def _remove_edge(self, key: EdgeKey) -> None:
        parallel = self._parallel(key)
        edge = parallel.pop(_attribute(key), None)
        if edge is None:
            return
        if not parallel:
            self._graph.remove_edge(key.source, key.target)
        self._bytes -= edge_bytes(edge)
        self._uncache(key)

    def _parallel(self, edge: Edge | EdgeKey) -> dict[Any, Any]:
        """The edges from the source to the target of ``edge``, by attribute name."""
        return self._graph.get_edge_data(edge.source, edge.target, default={})

    def _uncache(self, edge: Edge | EdgeKey) -> None:
        self._near.pop(edge.source, None)
        self._near.pop(edge.target, None)

    # --- reads ----------------------------------------------------------------------------------------------------

    def get(self, ids: Iterable[str]) -> dict[str, Node]:
        """Return the nodes of ``ids`` that exist."""
        return {node_id: self.nodes[node_id] for node_id in ids if node_id in self.nodes}

    def edges_at(self, node_id: str) -> Sequence[Edge]:
        """The edges at a node, in both directions and in order. A loop is listed once."""
        found = self._near.get(node_id)
        if found is None:
            found = tuple(sorted(self._touching(node_id), key=identity))
            if found:
                self._near[node_id] = found
        return found

    def neighbors(
        self, ids: Iterable[str], types: Sequence[str] | None, direction: Direction, limit: int | None
    ) -> list[Edge]:
        """See ``GraphStore.neighbors``."""
        asked = set(ids)
        found: list[Edge] = []
        for node_id in asked:
            # An edge between two of the given nodes is listed at both, so take it from its source only.
            found += [edge for edge in self.edges_at(node_id) if edge.source == node_id or edge.source not in asked]
        if direction != "both":
            end = attrgetter("source" if direction == "out" else "target")
            found = [edge for edge in found if end(edge) in asked]
        if types is not None:
            found = [edge for edge in found if edge.type in types]
        if len(asked) > 1:
            found.sort(key=identity)
        return found[:limit]

    def scan(self, label: str | None, after: str | None, limit: int) -> list[Node]:
        """See ``GraphStore.scan``."""
        if self._order is None:
            self._order = sorted(self.nodes)
        start = 0 if after is None else bisect_right(self._order, after)
        found: list[Node] = []
        for index in range(start, len(self._order)):
            node = self.nodes[self._order[index]]
            if label is None or node.label == label:
                found.append(node)
                if len(found) == limit:
                    break
        return found

    def expand(self, ids: Iterable[str], hops: int, types: Sequence[str] | None) -> dict[str, int]:
        """See ``NativeExpand.expand``."""
        wanted = frozenset(types) if types is not None else None
        distances = {node_id: 0 for node_id in ids if node_id in self.nodes}
        frontier = list(distances)
        for hop in range(1, hops + 1):
            ends: set[str] = set()
            for node_id in frontier:
                ends.update(self._adjacent(node_id, wanted))
            frontier = sorted(ends.difference(distances))
            distances.update(dict.fromkeys(frontier, hop))
        return distances

    def _adjacent(self, node_id: str, types: frozenset[str] | None) -> Iterable[str]:
        """The nodes that an edge of one of ``types`` connects with a node, with repetitions."""
        inside: Any = self._graph  # the private dicts are read three times as fast as the public views
        for ends in (inside._succ.get(node_id, _EMPTY), inside._pred.get(node_id, _EMPTY)):
            if types is None:
                yield from ends
            else:
                for end, parallel in ends.items():
                    if any(edge.type in types for edge in parallel.values()):
                        yield end

    def _touching(self, node_id: str) -> list[Edge]:
        inside: Any = self._graph
        found = [edge for parallel in inside._succ.get(node_id, _EMPTY).values() for edge in parallel.values()]
        for source, parallel in inside._pred.get(node_id, _EMPTY).items():
            if source != node_id:
                found += parallel.values()
        return found
