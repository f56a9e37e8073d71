"""The oracle of GraphStore, lists of nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define, evolve, field

from conformance.models.refusal import Refusal, points
from saga_core.stores import Edge, Mutation, Node


def _identity(edge: Any) -> list[list[int]]:
    return [points(part) for part in (edge.source, edge.type, edge.target, edge.key)]


@define
class _Scope:
    nodes: list[Node] = field(factory=list)
    edges: list[Edge] = field(factory=list)
    watermark: str | None = None


class GraphModel:
    """Searches all entries on every call."""

    def __init__(self) -> None:
        self.held: dict[str, _Scope] = {}

    def _scope(self, scope: str) -> _Scope:
        return self.held.get(scope) or _Scope()

    def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        old = self._scope(scope)
        gone_edges = [_identity(key) for key in mutation.delete_edges]
        gone_nodes = list(mutation.delete_nodes)
        edges = [edge for edge in old.edges if _identity(edge) not in gone_edges]
        edges = [edge for edge in edges if edge.source not in gone_nodes and edge.target not in gone_nodes]
        nodes = [node for node in old.nodes if node.id not in gone_nodes]
        for node in mutation.put_nodes:
            nodes = [other for other in nodes if other.id != node.id]
            nodes.append(evolve(node, properties=dict(node.properties)))
        for edge in mutation.put_edges:
            if not {edge.source, edge.target} <= {node.id for node in nodes}:
                raise Refusal("BadInput")
            edges = [other for other in edges if _identity(other) != _identity(edge)]
            edges.append(evolve(edge, properties=dict(edge.properties)))
        changes = (mutation.put_nodes, mutation.put_edges, mutation.delete_nodes, mutation.delete_edges)
        if any(len(part) for part in changes) or mutation.watermark is not None:
            watermark = old.watermark if mutation.watermark is None else mutation.watermark
            self.held[scope] = _Scope(nodes, edges, watermark)

    def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        return {node.id: node for node in self._scope(scope).nodes if node.id in ids}

    def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: str = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        """See ``GraphStore.neighbors``."""
        found = []
        for edge in sorted(self._scope(scope).edges, key=_identity):
            leaves = direction != "in" and edge.source in ids
            arrives = direction != "out" and edge.target in ids
            if (leaves or arrives) and (types is None or edge.type in types):
                found.append(edge)
        return found if limit is None else found[:limit]

    def scan(self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000) -> list[Node]:
        """See ``GraphStore.scan``."""
        found = []
        for node in sorted(self._scope(scope).nodes, key=lambda node: points(node.id)):
            if (label is None or node.label == label) and (after is None or points(node.id) > points(after)):
                found.append(node)
        return found[:limit]

    def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``NativeExpand.expand``. Relaxes every edge once for each hop."""
        held = self._scope(scope)
        found = {node.id: 0 for node in held.nodes if node.id in ids}
        for reach in range(1, hops + 1):
            for edge in held.edges:
                if types is not None and edge.type not in types:
                    continue
                for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                    if found.get(one) == reach - 1 and other not in found:
                        found[other] = reach
        return found

    def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        return self._scope(scope).watermark

    def scopes(self) -> list[str]:
        """See ``GraphStore.scopes``."""
        return sorted(self.held, key=points)

    def drop(self, scope: str) -> None:
        """See ``GraphStore.drop``."""
        self.held = {name: held for name, held in self.held.items() if name != scope}

    def snapshot(self) -> object:
        """The whole contents."""
        found = {}
        for name, held in self.held.items():
            edges = sorted(held.edges, key=_identity)
            found[name] = (self.scan(name, limit=len(held.nodes) + 1), edges, held.watermark)
        return found
