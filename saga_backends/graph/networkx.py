"""Keeps graphs in memory, one networkx ``DiGraph`` per scope. It is the graph of ``lite``, and the fallback of others.

Nothing is durable: the core rebuilds the graphs from the journal. Parallel edges between two nodes are attributes of
one networkx edge. A ``MultiDiGraph`` would take one more dict for each of them.
"""

from __future__ import annotations

import asyncio
import importlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, evolve, field

from saga_core.capabilities import Capability
from saga_core.errors import Closed, NotSupported, StoreUnavailable
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Direction, Edge, EdgeKey, Health, Mutation, Node, StoreInfo, Value
from saga_core.stores.validate import (
    check_endpoints,
    check_expand,
    check_mutation,
    check_names,
    check_neighbors,
    check_node_scan,
    check_scope,
)

if TYPE_CHECKING:
    from saga_backends.graph.digraph import Digraph

_ENGINE = "networkx"
_CLASS = "saga_backends.graph.digraph"
_REMEDY = "install it: pip install networkx"
_EMPTY: Mapping[str, Any] = {}
_SEALED: MappingProxyType[str, Value] = MappingProxyType({})
_Thing = TypeVar("_Thing", Node, Edge)
_MUCH = 400
"""The number of nodes and edges from which a mutation is checked in a thread."""
_identity = attrgetter("source", "type", "target", "key")
"""Returns the identity of an edge or of its key. Identities sort like ``EdgeKey``."""


def _attribute(edge: Edge | EdgeKey) -> str | tuple[str, str]:
    """The attribute name under which a networkx edge holds our ``Edge``.

    It is a string if possible, because dicts with string keys are smaller. Few edges have a key.
    """
    return (edge.type, edge.key) if edge.key else edge.type


@define
class _Scope:
    """The graph of one scope. Expects checked arguments; what it returns must not be changed."""

    graph: Digraph
    """Contains the nodes that have or had edges."""
    nodes: dict[str, Node] = field(factory=dict, init=False)
    watermark: str | None = field(default=None, init=False)
    _order: list[str] | None = field(default=None, init=False)
    """The sorted node ids, computed on the first scan."""
    _near: dict[str, tuple[Edge, ...]] = field(factory=dict, init=False)
    """A cache of the edges at each node, filled on demand."""

    def edges_at(self, node_id: str) -> Sequence[Edge]:
        """The edges at a node, in both directions and in order. A loop is listed once."""
        found = self._near.get(node_id)
        if found is None:
            found = tuple(sorted(self._touching(node_id), key=_identity))
            if found:
                self._near[node_id] = found
        return found

    def adjacent(self, node_id: str, types: frozenset[str] | None) -> Iterable[str]:
        """The nodes that an edge of one of ``types`` connects with a node, with repetitions."""
        inside: Any = self.graph  # the private dicts are read three times as fast as the public views
        for ends in (inside._succ.get(node_id, _EMPTY), inside._pred.get(node_id, _EMPTY)):
            if types is None:
                yield from ends
            else:
                for end, parallel in ends.items():
                    if any(edge.type in types for edge in parallel.values()):
                        yield end

    def _touching(self, node_id: str) -> list[Edge]:
        inside: Any = self.graph
        found = [edge for parallel in inside._succ.get(node_id, _EMPTY).values() for edge in parallel.values()]
        for source, parallel in inside._pred.get(node_id, _EMPTY).items():
            if source != node_id:
                found += parallel.values()
        return found

    def order(self) -> list[str]:
        """The sorted node ids."""
        if self._order is None:
            self._order = sorted(self.nodes)
        return self._order

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        """Add or replace nodes. Their edges are kept."""
        for node in nodes:
            if node.id not in self.nodes:
                self._order = None
            self.nodes[node.id] = node

    def remove_nodes(self, node_ids: Iterable[str]) -> None:
        """Remove the nodes that exist, together with their edges."""
        for node_id in node_ids:
            if self.nodes.pop(node_id, None) is None:
                continue
            self._order = None
            for edge in self._touching(node_id):
                self._uncache(edge)
            if node_id in self.graph:
                self.graph.remove_node(node_id)

    def put_edge(self, edge: Edge) -> None:
        """Add or replace an edge, both nodes of which exist."""
        if not self.graph.has_edge(edge.source, edge.target):
            self.graph.add_edge(edge.source, edge.target)
        self._parallel(edge)[_attribute(edge)] = edge
        self._uncache(edge)

    def remove_edge(self, key: EdgeKey) -> None:
        """Remove an edge, if it exists."""
        parallel = self._parallel(key)
        if parallel.pop(_attribute(key), None) is None:
            return
        if not parallel:
            self.graph.remove_edge(key.source, key.target)
        self._uncache(key)

    def count_edges(self) -> int:
        """Count the edges one by one."""
        return sum(len(parallel) for _, _, parallel in self.graph.edges(data=True))

    def _parallel(self, edge: Edge | EdgeKey) -> dict[Any, Any]:
        """The edges from the source to the target of ``edge``, by attribute name."""
        return self.graph.get_edge_data(edge.source, edge.target, default={})

    def _uncache(self, edge: Edge | EdgeKey) -> None:
        self._near.pop(edge.source, None)
        self._near.pop(edge.target, None)


class NetworkxGraph:
    """A ``GraphStore`` with ``expand``. Each call reads or changes the graph in one step, without awaiting in between.

    Returned nodes and edges are shared with the store, so their properties are read-only. The first write imports
    networkx, if the background has not done it yet.
    """

    def __init__(self, version: str) -> None:
        self._scopes: dict[str, _Scope] = {}
        self._closed = False
        self._new_graph: type[Digraph] | None = None
        self._info = StoreInfo(
            kind="graph",
            name=_ENGINE,
            version=version,
            capabilities=frozenset({Capability.RESIDENT, Capability.NATIVE_EXPAND}),
        )

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
        new_graph = self._new_graph or await self._import()
        found = self._scope(scope)
        check_endpoints(mutation, found.nodes if found is not None else ())
        if not mutation:
            return
        if found is None:
            found = self._scopes[scope] = _Scope(new_graph())
        for key in mutation.delete_edges:
            found.remove_edge(key)
        found.remove_nodes(mutation.delete_nodes)
        found.put_nodes(nodes)
        for edge in edges:
            found.put_edge(edge)
        if mutation.watermark is not None:
            found.watermark = mutation.watermark

    async def _import(self) -> type[Digraph]:
        try:
            self._new_graph = (await asyncio.to_thread(importlib.import_module, _CLASS)).DiGraph
        except ImportError as error:
            raise StoreUnavailable(f"graph.networkx: {error}; {_REMEDY}") from error
        return self._new_graph

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
            found += [edge for edge in known.edges_at(node_id) if edge.source == node_id or edge.source not in asked]
        if direction != "both":
            end = attrgetter("source" if direction == "out" else "target")
            found = [edge for edge in found if end(edge) in asked]
        if types is not None:
            found = [edge for edge in found if edge.type in types]
        if len(asked) > 1:
            found.sort(key=_identity)
        return found[:limit]

    def touching(self, scope: str, ids: Sequence[str]) -> dict[tuple[str, str, str, str], Edge]:
        """Return the edges that touch ``ids``, by identity, in any order. A walk needs no more, and ``neighbors`` takes
        twice as long for it."""
        known = self._scope(scope)
        if known is None:
            return {}
        return {_identity(edge): edge for node_id in dict.fromkeys(ids) for edge in known.edges_at(node_id)}

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        known = self._scope(scope)
        check_node_scan(label, after, limit, self._info.limits)
        if known is None:
            return []
        order = known.order()
        found: list[Node] = []
        for index in range(0 if after is None else bisect_right(order, after), len(order)):
            node = known.nodes[order[index]]
            if label is None or node.label == label:
                found.append(node)
                if len(found) == limit:
                    break
        return found

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
        wanted = frozenset(types) if types is not None else None
        distances = {node_id: 0 for node_id in ids if node_id in known.nodes}
        frontier = list(distances)
        for hop in range(1, hops + 1):
            ends: set[str] = set()
            for node_id in frontier:
                ends.update(known.adjacent(node_id, wanted))
            frontier = sorted(ends.difference(distances))
            distances.update(dict.fromkeys(frontier, hop))
        return distances

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """Raise ``NotSupported``, because there is no query language."""
        self._alive()
        raise NotSupported("graph.networkx has no query language")

    def _scope(self, scope: str) -> _Scope | None:
        self._alive()
        check_scope(scope, self._info.limits)
        return self._scopes.get(scope)

    def _alive(self) -> None:
        if self._closed:
            raise Closed("the networkx graph store is closed")


def _sealed(thing: _Thing) -> _Thing:
    """Return ``thing`` with read-only properties. If it has them already, it is returned as it is, to be shared."""
    properties = thing.properties
    if type(properties) is MappingProxyType:
        return thing
    return evolve(thing, properties=MappingProxyType(dict(properties)) if properties else _SEALED)


async def _open(options: OpenOptions) -> NetworkxGraph:
    options.take()
    try:
        return NetworkxGraph(version(_ENGINE))
    except PackageNotFoundError as error:
        raise StoreUnavailable(f"graph.networkx: {error}; {_REMEDY}") from error


BACKEND = Backend(
    kind="graph",
    name="networkx",
    open=_open,
    summary="networkx in memory; rebuilt from the journal at start",
    warm_up=(_CLASS,),
)
