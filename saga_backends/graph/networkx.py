"""Graphs in memory, a networkx ``MultiDiGraph`` a scope. Not durable: the core rebuilds them from the journal."""

from __future__ import annotations

import asyncio
import importlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from attrs import define, evolve, field

from saga_core.capabilities import Capability
from saga_core.errors import Closed, NotSupported, StoreUnavailable
from saga_core.registry import Backend, OpenOptions
from saga_core.stores.graph import Direction, Edge, EdgeKey, Mutation, Node, Value
from saga_core.stores.lifecycle import Health, StoreInfo
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
    import networkx

    _Graph: TypeAlias = networkx.MultiDiGraph[str]

_ENGINE = "networkx"
_REMEDY = f"install it: pip install {_ENGINE}"
_NOTHING: Mapping[str, Any] = {}
_NONE: Mapping[str, Value] = MappingProxyType({})
_Thing = TypeVar("_Thing", Node, Edge)
_MUCH = 400
"""Nodes and edges of a mutation from which on it is checked beside the loop."""
_VALUE = "value"
"""The attribute of a networkx node or edge that holds our ``Node`` or ``Edge``."""

_Identity: TypeAlias = tuple[str, str, str, str]
"""Source, type, target and key: ordered as ``EdgeKey`` is. A networkx edge key is (type, key)."""


@define
class _Scope:
    graph: _Graph
    watermark: str | None = None
    order: list[str] | None = None
    """The node ids in order, made when they are scanned."""
    near: dict[str, dict[_Identity, Edge]] = field(factory=dict)
    """The edges at a node, in both directions, made when they are asked for."""

    def at(self, node_id: str) -> dict[_Identity, Edge]:
        """The edges at a node; not to be changed."""
        found = self.near.get(node_id)
        if found is None:
            found = _touching(self.graph, node_id)
            if found:
                self.near[node_id] = found
        return found

    def forget(self, *node_ids: str) -> None:
        """The edges at these nodes have changed."""
        for node_id in node_ids:
            self.near.pop(node_id, None)


def _touching(graph: _Graph, node_id: str) -> dict[_Identity, Edge]:
    inside: Any = graph  # its views of its own dicts take three times as long to read
    found: dict[_Identity, Edge] = {}
    for target, parallel in inside._succ.get(node_id, _NOTHING).items():
        for (type_, key), data in parallel.items():
            found[node_id, type_, target, key] = data[_VALUE]
    for source, parallel in inside._pred.get(node_id, _NOTHING).items():
        for (type_, key), data in parallel.items():
            found[source, type_, node_id, key] = data[_VALUE]
    return found


class NetworkxGraph:
    """A ``GraphStore`` with ``expand``. What a call reads or changes, it does in one moment, without awaiting.

    What is given out is shared, with properties that cannot be changed.
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
        """Counts what is there; edges only when ``thorough``, for networkx counts them one by one."""
        self._alive()
        counted = f"{len(self._scopes)} scopes, {sum(len(found.graph) for found in self._scopes.values())} nodes"
        if thorough:
            counted += f", {sum(found.graph.number_of_edges() for found in self._scopes.values())} edges"
        return Health(ok=True, detail=f"{counted} in memory")

    async def aclose(self) -> None:
        """Let go of the graphs; every other call raises ``Closed`` from here on."""
        self._closed = True
        self._scopes.clear()

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``. Everything that can fail comes before the first change."""
        self._scope(scope)
        networkx = await self._engine()
        if len(mutation.put_nodes) + len(mutation.put_edges) < _MUCH:
            nodes, edges = self._prepared(mutation)
        else:  # a whole graph, of a new timeline: 15 ms for 2,000
            nodes, edges = await asyncio.to_thread(self._prepared, mutation)
        found = self._scope(scope)
        check_endpoints(mutation, found.graph if found is not None else ())
        if not mutation:
            return
        if found is None:
            found = self._scopes[scope] = _Scope(networkx.MultiDiGraph())
        graph = found.graph
        for key in mutation.delete_edges:
            _remove_edge(graph, key)
            found.forget(key.source, key.target)
        if mutation.delete_nodes:
            graph.remove_nodes_from(mutation.delete_nodes)
            found.near.clear()
        for node in nodes:
            graph.add_node(node.id, value=node)
        for edge in edges:
            graph.add_edge(edge.source, edge.target, key=(edge.type, edge.key), value=edge)
            found.forget(edge.source, edge.target)
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
        found: dict[_Identity, Edge] = {}
        for node_id in ids:
            found.update(known.at(node_id))
        wanted: Iterable[_Identity] = found
        if direction != "both":
            end, asked = (0 if direction == "out" else 2), set(ids)
            wanted = (identity for identity in found if identity[end] in asked)
        order = sorted(wanted if types is None else (identity for identity in wanted if identity[1] in types))
        return [found[identity] for identity in order[:limit]]

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
                for source, type_, target, _ in known.at(node_id)
                if types is None or type_ in types
                for end in (source, target)
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


def _remove_edge(graph: _Graph, key: EdgeKey) -> None:
    if graph.has_edge(key.source, key.target, (key.type, key.key)):
        graph.remove_edge(key.source, key.target, (key.type, key.key))


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
    late=(_ENGINE,),
)
