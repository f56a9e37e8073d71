"""Graphs in memory, a networkx ``DiGraph`` a scope. Not durable: the core rebuilds them from the journal.

Parallel edges of two nodes are the attributes of one networkx edge: a ``MultiDiGraph`` takes one more dict for each.
"""

from __future__ import annotations

import asyncio
import importlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from attrs import define, evolve, field

from saga_core.capabilities import Capability
from saga_core.errors import Closed, NotSupported, StoreUnavailable
from saga_core.registry import Backend, OpenOptions
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

if TYPE_CHECKING:
    import networkx

    _Graph: TypeAlias = networkx.DiGraph[str]

_ENGINE = "networkx"
_REMEDY = f"install it: pip install {_ENGINE}"
_NOTHING: Mapping[str, Any] = {}
_NONE: Mapping[str, Value] = MappingProxyType({})
_Thing = TypeVar("_Thing", Node, Edge)
_MUCH = 400
"""Nodes and edges of a mutation from which on it is checked beside the loop."""
_VALUE = "value"
"""The attribute of a networkx node that holds our ``Node``."""
_in_order = attrgetter("source", "type", "target", "key")
"""An edge's identity, which is ordered as ``EdgeKey`` is."""


def _attribute(edge: Edge | EdgeKey) -> str | tuple[str, str]:
    """The attribute of a networkx edge that holds our ``Edge``. Dicts of strings are smaller than others, and few edges
    have a key."""
    return (edge.type, edge.key) if edge.key else edge.type


@define
class _Scope:
    graph: _Graph
    watermark: str | None = None
    order: list[str] | None = None
    """The node ids in order, made when they are scanned."""
    near: dict[str, tuple[Edge, ...]] = field(factory=dict)
    """The edges at a node, in both directions and in order, made when they are asked for."""

    def at(self, node_id: str) -> tuple[Edge, ...]:
        """The edges at a node, in order."""
        found = self.near.get(node_id)
        if found is None:
            found = _touching(self.graph, node_id)
            if found:
                self.near[node_id] = found
        return found

    def put(self, edge: Edge) -> None:
        """Add or replace an edge, whose nodes are there."""
        if not self.graph.has_edge(edge.source, edge.target):
            self.graph.add_edge(edge.source, edge.target)
        self._parallel(edge)[_attribute(edge)] = edge
        self.forget(edge.source, edge.target)

    def remove(self, key: EdgeKey) -> None:
        """Remove an edge, if it is there."""
        parallel = self._parallel(key)
        if parallel.pop(_attribute(key), None) is None:
            return
        if not parallel:
            self.graph.remove_edge(key.source, key.target)
        self.forget(key.source, key.target)

    def _parallel(self, edge: Edge | EdgeKey) -> dict[Any, Any]:
        """The edges from its source to its target, by attribute."""
        return self.graph.get_edge_data(edge.source, edge.target, default={})

    def edges(self) -> int:
        """How many edges there are."""
        return sum(len(parallel) for _, _, parallel in self.graph.edges(data=True))

    def forget(self, *node_ids: str) -> None:
        """The edges at these nodes have changed."""
        for node_id in node_ids:
            self.near.pop(node_id, None)


def _touching(graph: _Graph, node_id: str) -> tuple[Edge, ...]:
    inside: Any = graph  # its views of its own dicts take three times as long to read
    found = [edge for parallel in inside._succ.get(node_id, _NOTHING).values() for edge in parallel.values()]
    for source, parallel in inside._pred.get(node_id, _NOTHING).items():
        if source != node_id:
            found += parallel.values()
    return tuple(sorted(found, key=_in_order))


class NetworkxGraph:
    """A ``GraphStore`` with ``expand``. Each call reads or changes everything at once, without awaiting.

    Returned values are shared; their properties cannot be changed.
    """

    def __init__(self, version: str) -> None:
        self._networkx: Any = None
        self._scopes: dict[str, _Scope] = {}
        self._closed = False
        self._info = StoreInfo(
            kind="graph",
            name="networkx",
            version=version,
            capabilities=frozenset({Capability.RESIDENT, Capability.NATIVE_EXPAND}),
        )

    @property
    def info(self) -> StoreInfo:
        """``RESIDENT`` and ``NATIVE_EXPAND``."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """Counts what is there; edges only when ``thorough``, for they are counted one by one."""
        self._alive()
        counted = f"{len(self._scopes)} scopes, {sum(len(found.graph) for found in self._scopes.values())} nodes"
        if thorough:
            counted += f", {sum(found.edges() for found in self._scopes.values())} edges"
        return Health(ok=True, detail=f"{counted} in memory")

    async def aclose(self) -> None:
        """Let go of the graphs; every other call raises ``Closed`` from here on."""
        self._closed = True
        self._scopes.clear()

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``. Everything that can fail comes before the first change."""
        self._scope(scope)
        puts = [getattr(mutation, name, None) for name in ("put_nodes", "put_edges")]  # whatever was given for one
        if sum(len(part) for part in puts if isinstance(part, tuple)) < _MUCH:
            nodes, edges = self._prepared(mutation)
        else:  # a whole graph, of a new timeline: 15 ms for 2,000
            nodes, edges = await asyncio.to_thread(self._prepared, mutation)
        networkx = await self._engine()
        found = self._scope(scope)
        check_endpoints(mutation, found.graph if found is not None else ())
        if not mutation:
            return
        if found is None:
            found = self._scopes[scope] = _Scope(networkx.DiGraph())
        graph = found.graph
        for key in mutation.delete_edges:
            found.remove(key)
        if mutation.delete_nodes:
            graph.remove_nodes_from(mutation.delete_nodes)
            found.near.clear()
        for node in nodes:
            graph.add_node(node.id, value=node)
        for edge in edges:
            found.put(edge)
        if nodes or mutation.delete_nodes:
            found.order = None
        if mutation.watermark is not None:
            found.watermark = mutation.watermark

    def _prepared(self, mutation: Mutation) -> tuple[list[Node], list[Edge]]:
        """What is put, checked and sealed."""
        check_mutation(mutation, self._info.limits)
        return [_sealed(node) for node in mutation.put_nodes], [_sealed(edge) for edge in mutation.put_edges]

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        known = self._scope(scope)
        check_names("ids", ids, self._info.limits)
        if known is None:
            return {}
        nodes = known.graph.nodes
        return {node_id: nodes[node_id][_VALUE] for node_id in ids if node_id in nodes}

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
            # One that leads from an asked node to another is at both of them.
            found += [edge for edge in known.at(node_id) if edge.source == node_id or edge.source not in asked]
        if direction != "both":
            end = attrgetter("source" if direction == "out" else "target")
            found = [edge for edge in found if end(edge) in asked]
        if types is not None:
            found = [edge for edge in found if edge.type in types]
        if len(asked) > 1:
            found.sort(key=_in_order)
        return found[:limit]

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        found = self._scope(scope)
        check_node_scan(label, after, limit, self._info.limits)
        if found is None:
            return []
        if found.order is None:
            found.order = sorted(found.graph)
        start = 0 if after is None else bisect_right(found.order, after)
        nodes = found.graph.nodes
        result: list[Node] = []
        for index in range(start, len(found.order)):
            node: Node = nodes[found.order[index]][_VALUE]
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
        distances = {node_id: 0 for node_id in ids if node_id in known.graph}
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
        """Not declared: networkx has no query language."""
        self._alive()
        raise NotSupported("graph.networkx has no query language")

    def _scope(self, scope: str) -> _Scope | None:
        self._alive()
        check_scope(scope, self._info.limits)
        return self._scopes.get(scope)

    async def _engine(self) -> Any:
        """The library: 280 modules, a tenth of a second, in a thread, the first time."""
        if self._networkx is None:
            try:
                self._networkx = await asyncio.to_thread(importlib.import_module, _ENGINE)
            except ImportError as error:
                raise StoreUnavailable(f"graph.networkx: {error}; {_REMEDY}") from error
        return self._networkx

    def _alive(self) -> None:
        if self._closed:
            raise Closed("the networkx graph store is closed")


def _sealed(thing: _Thing) -> _Thing:
    """With properties that cannot be changed. What has them already is kept as it is: many scopes share it."""
    properties = thing.properties
    if type(properties) is MappingProxyType:
        return thing
    return evolve(thing, properties=MappingProxyType(dict(properties)) if properties else _NONE)


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
    warm_up=(_ENGINE,),
)
