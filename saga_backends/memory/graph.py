"""GraphStore in memory, with two dicts per scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field

from saga_backends.memory.lifecycle import MemoryStore
from saga_core.errors import NotSupported
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Direction, Edge, EdgeKey, GraphStore, Limits, Mutation, Node, Value
from saga_core.stores.validate import (
    check_endpoints,
    check_mutation,
    check_names,
    check_neighbors,
    check_node_scan,
    check_scope,
)


@define
class _Scope:
    nodes: dict[str, Node] = field(factory=dict)
    edges: dict[EdgeKey, Edge] = field(factory=dict)
    watermark: str | None = None


_NOTHING = _Scope()


class MemoryGraph(MemoryStore):
    """A graph store in memory. It never awaits, so each call is atomic."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - a frozen value
        super().__init__("graph", limits)
        self._scopes: dict[str, _Scope] = {}

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        found = self._scope(scope)
        check_mutation(mutation, self.info.limits)
        check_endpoints(mutation, found.nodes)
        if not mutation:
            return
        found = self._scopes.setdefault(scope, _Scope())
        for key in mutation.delete_edges:
            found.edges.pop(key, None)
        gone = set(mutation.delete_nodes)
        for node_id in gone:
            found.nodes.pop(node_id, None)
        for key in [key for key in found.edges if key.source in gone or key.target in gone]:
            del found.edges[key]
        for node in mutation.put_nodes:
            found.nodes[node.id] = _own_node(node)
        for edge in mutation.put_edges:
            found.edges[edge.identity] = _own_edge(edge)
        if mutation.watermark is not None:
            found.watermark = mutation.watermark

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        nodes = self._scope(scope).nodes
        check_names("ids", ids, self.info.limits)
        return {node_id: _own_node(nodes[node_id]) for node_id in ids if node_id in nodes}

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
        edges = self._scope(scope).edges
        check_neighbors(ids, types, direction, limit, self.info.limits)
        near, kept = set(ids), None if types is None else set(types)
        found = [
            (key.source, key.type, key.target, key.key)
            for key in edges
            if (kept is None or key.type in kept)
            and ((direction != "in" and key.source in near) or (direction != "out" and key.target in near))
        ]
        return [_own_edge(edges[EdgeKey(*identity)]) for identity in sorted(found)[:limit]]

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        nodes = self._scope(scope).nodes
        check_node_scan(label, after, limit, self.info.limits)
        found = [
            nodes[node_id]
            for node_id in sorted(nodes)
            if (after is None or node_id > after) and (label is None or nodes[node_id].label == label)
        ]
        return [_own_node(node) for node in found[:limit]]

    async def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        return self._scope(scope).watermark

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
        """Raise ``NotSupported``. The core walks over ``neighbors`` instead."""
        self._alive()
        raise NotSupported("graph.memory has no native expand; walk over neighbors")

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """Raise ``NotSupported``, because there is no query language."""
        self._alive()
        raise NotSupported("graph.memory has no query language")

    def _scope(self, scope: str) -> _Scope:
        self._alive()
        check_scope(scope, self.info.limits)
        return self._scopes.get(scope, _NOTHING)


def _own_node(node: Node) -> Node:
    """Return a copy with its own properties."""
    return Node(node.id, node.label, _own(node.properties))


def _own_edge(edge: Edge) -> Edge:
    return Edge(edge.source, edge.type, edge.target, edge.key, _own(edge.properties))


def _own(properties: Mapping[str, Value]) -> Mapping[str, Value]:
    return dict(properties)


async def _open(options: OpenOptions) -> GraphStore:
    options.take()
    return MemoryGraph()


GRAPH = Backend("graph", "memory", _open, "two dicts a scope; nothing survives the process")
