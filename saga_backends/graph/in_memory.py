"""Base classes of graph stores in memory, independent of the data structure that holds the edges.

The stores are not durable. The core rebuilds their graphs from the journal.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import TypeVar

from attrs import define, evolve, field

from saga_core.capabilities import Capability
from saga_core.errors import Closed, NotSupported
from saga_core.stores import (
    Direction,
    Edge,
    EdgeKey,
    Health,
    Mutation,
    Node,
    StoreInfo,
    Value,
    check_endpoints,
    check_expand,
    check_mutation,
    check_names,
    check_neighbors,
    check_node_scan,
    check_scope,
)

_NONE: MappingProxyType[str, Value] = MappingProxyType({})
_Thing = TypeVar("_Thing", Node, Edge)
_MUCH = 400
"""The number of nodes and edges from which a mutation is checked in a thread."""
in_order = attrgetter("source", "type", "target", "key")
"""Returns the identity of an edge or of its key. Identities sort like ``EdgeKey``."""


@define
class Scope(ABC):
    """The graph of one scope. Expects checked arguments; what it returns must not be changed."""

    nodes: dict[str, Node] = field(factory=dict, init=False)
    watermark: str | None = field(default=None, init=False)
    order: list[str] | None = field(default=None, init=False)
    """The sorted node ids, computed on the first scan."""

    @abstractmethod
    def at(self, node_id: str) -> Sequence[Edge]:
        """The edges at a node, in both directions and in order."""

    @abstractmethod
    def put(self, edge: Edge) -> None:
        """Add or replace an edge, both nodes of which exist."""

    @abstractmethod
    def remove(self, key: EdgeKey) -> None:
        """Remove an edge, if it exists."""

    @abstractmethod
    def cut_off(self, node_id: str) -> None:
        """Remove all edges of a node that is being removed."""

    @abstractmethod
    def count_edges(self) -> int:
        """Count the edges one by one."""

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        """Add or replace nodes. Their edges are kept."""
        for node in nodes:
            if node.id not in self.nodes:
                self.order = None
            self.nodes[node.id] = node

    def remove_nodes(self, node_ids: Iterable[str]) -> None:
        """Remove the nodes that exist, together with their edges."""
        for node_id in node_ids:
            if self.nodes.pop(node_id, None) is not None:
                self.cut_off(node_id)
                self.order = None


class GraphInMemory(ABC):
    """A ``GraphStore`` with ``expand``. Each call reads or changes the graph in one step, without awaiting in between.

    Returned nodes and edges are shared with the store, so their properties are read-only.
    """

    def __init__(self, name: str, version: str = "") -> None:
        self._scopes: dict[str, Scope] = {}
        self._closed = False
        self._info = StoreInfo(
            kind="graph",
            name=name,
            version=version,
            capabilities=frozenset({Capability.RESIDENT, Capability.NATIVE_EXPAND}),
        )

    @abstractmethod
    async def _get_ready(self) -> None:
        """Load whatever is needed before the first scope is created. Raises ``StoreUnavailable``."""

    @abstractmethod
    def _new_scope(self) -> Scope:
        """Create an empty scope."""

    @property
    def info(self) -> StoreInfo:
        """``RESIDENT`` and ``NATIVE_EXPAND``."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """Count the scopes and nodes. Edges are only counted if ``thorough``, because that takes longer."""
        self._alive()
        counted = f"{len(self._scopes)} scopes, {sum(len(found.nodes) for found in self._scopes.values())} nodes"
        if thorough:
            counted += f", {sum(found.count_edges() for found in self._scopes.values())} edges"
        return Health(ok=True, detail=f"{counted} in memory")

    async def aclose(self) -> None:
        """Release the graphs. All other calls raise ``Closed`` from then on."""
        self._closed = True
        self._scopes.clear()

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``. Everything that can fail is done before the first change."""
        self._scope(scope)
        # The argument may be no mutation at all, which ``check_mutation`` reports.
        puts = [getattr(mutation, name, None) for name in ("put_nodes", "put_edges")]
        if sum(len(part) for part in puts if isinstance(part, tuple)) < _MUCH:
            nodes, edges = self._prepared(mutation)
        else:  # a whole graph, as for a new timeline; 2,000 take 15 ms
            nodes, edges = await asyncio.to_thread(self._prepared, mutation)
        await self._get_ready()
        found = self._scope(scope)
        check_endpoints(mutation, found.nodes if found is not None else ())
        if not mutation:
            return
        if found is None:
            found = self._scopes[scope] = self._new_scope()
        for key in mutation.delete_edges:
            found.remove(key)
        found.remove_nodes(mutation.delete_nodes)
        found.put_nodes(nodes)
        for edge in edges:
            found.put(edge)
        if mutation.watermark is not None:
            found.watermark = mutation.watermark

    def _prepared(self, mutation: Mutation) -> tuple[list[Node], list[Edge]]:
        """Check the mutation, and return its nodes and edges with read-only properties."""
        check_mutation(mutation, self._info.limits)
        return [_sealed(node) for node in mutation.put_nodes], [_sealed(edge) for edge in mutation.put_edges]

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        known = self._scope(scope)
        check_names("ids", ids, self._info.limits)
        if known is None:
            return {}
        return {node_id: known.nodes[node_id] for node_id in ids if node_id in known.nodes}

    async def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        """See ``GraphStore.neighbors``."""
        known = self._scope(scope)
        check_neighbors(ids, types, direction, limit, self._info.limits)
        if known is None:
            return []
        asked = set(ids)
        found: list[Edge] = []
        for node_id in asked:
            # An edge between two of the given nodes is listed at both, so take it from its source only.
            found += [edge for edge in known.at(node_id) if edge.source == node_id or edge.source not in asked]
        if direction != "both":
            end = attrgetter("source" if direction == "out" else "target")
            found = [edge for edge in found if end(edge) in asked]
        if types is not None:
            found = [edge for edge in found if edge.type in types]
        if len(asked) > 1:
            found.sort(key=in_order)
        return found[:limit]

    def touching(self, scope: str, ids: Sequence[str]) -> dict[tuple[str, str, str, str], Edge]:
        """Return the edges that touch ``ids``, by identity, in any order. A walk needs no more, and ``neighbors`` takes
        twice as long for it."""
        known = self._scope(scope)
        if known is None:
            return {}
        return {in_order(edge): edge for node_id in dict.fromkeys(ids) for edge in known.at(node_id)}

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        found = self._scope(scope)
        check_node_scan(label, after, limit, self._info.limits)
        if found is None:
            return []
        if found.order is None:
            found.order = sorted(found.nodes)
        start = 0 if after is None else bisect_right(found.order, after)
        result: list[Node] = []
        for index in range(start, len(found.order)):
            node = found.nodes[found.order[index]]
            if label is None or node.label == label:
                result.append(node)
                if len(result) == limit:
                    break
        return result

    async def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        known = self._scope(scope)
        return None if known is None else known.watermark

    async def scopes(self) -> list[str]:
        """See ``GraphStore.scopes``."""
        self._alive()
        return sorted(self._scopes)

    async def drop(self, scope: str) -> None:
        """See ``GraphStore.drop``."""
        self._scope(scope)
        self._scopes.pop(scope, None)

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``NativeExpand.expand``."""
        known = self._scope(scope)
        check_expand(ids, hops, types, self._info.limits)
        if known is None:
            return {}
        distances = {node_id: 0 for node_id in ids if node_id in known.nodes}
        frontier = list(distances)
        for hop in range(1, hops + 1):
            ends = {
                end
                for node_id in frontier
                for edge in known.at(node_id)
                if types is None or edge.type in types
                for end in (edge.source, edge.target)
            }
            frontier = sorted(ends.difference(distances))
            distances.update(dict.fromkeys(frontier, hop))
        return distances

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """Raise ``NotSupported``, because there is no query language."""
        self._alive()
        raise NotSupported(f"graph.{self._info.name} has no query language")

    def _scope(self, scope: str) -> Scope | None:
        self._alive()
        check_scope(scope, self._info.limits)
        return self._scopes.get(scope)

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"the {self._info.name} graph store is closed")


def _sealed(thing: _Thing) -> _Thing:
    """Return ``thing`` with read-only properties. If it has them already, it is returned as it is, to be shared."""
    properties = thing.properties
    if type(properties) is MappingProxyType:
        return thing
    return evolve(thing, properties=MappingProxyType(dict(properties)) if properties else _NONE)
