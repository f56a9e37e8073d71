"""The parts that all graphs of a world share: its lore, and the names that connect lore to entities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from attrs import frozen

from saga_core.ids import entity_id
from saga_core.language import fold_name
from saga_core.model import Kind
from saga_core.stores import Edge, EdgeKey, Node, Value
from saga_core.world import World

_NONE: Mapping[str, Value] = MappingProxyType({})

Identity = tuple[str, str, str, str]
"""The source, type, target and key of an edge. Ordered like ``EdgeKey``, but faster to compare."""

Touching = Mapping[str, Mapping[Identity, Edge]]
"""Node id -> its edges, by identity."""


def lore_id(name: str) -> str:
    """Return the node id of a lore entry."""
    return entity_id("lore", name)


def identity_of(edge: Edge) -> Identity:
    """Return the identity of an edge."""
    return (edge.source, edge.type, edge.target, edge.key)


@frozen(eq=False)
class LoreGraph:
    """A world's lore as nodes and edges. It is made once per world and shared by the images of its states."""

    nodes: Mapping[str, Node]
    edges: Mapping[EdgeKey, Edge]
    """The edges between entries."""
    anchors: Mapping[tuple[Kind, str], Mapping[tuple[str, str], None]]
    """Entity kind and folded name -> edges to lore, each as an edge type and the node id of an entry."""
    touching: Touching

    @classmethod
    def of(cls, world: World) -> LoreGraph:
        """Return the lore graph of ``world``."""
        nodes: dict[str, Node] = {}
        for entry in world.lore:
            id_ = lore_id(entry.name)
            about: dict[str, Value] = {"name": entry.name, "lore_type": entry.type, "layer": entry.layer}
            nodes[id_] = Node(id_, "Lore", MappingProxyType(about))  # the scopes of all sessions may share it
        edges: dict[EdgeKey, Edge] = {}
        anchors: dict[tuple[Kind, str], dict[tuple[str, str], None]] = {}

        def anchor(kind: Kind, name: str, type_: str, id_: str) -> None:
            anchors.setdefault((kind, fold_name(name)), {})[type_, id_] = None

        for entry in world.lore:
            id_ = lore_id(entry.name)
            for other in entry.related:
                edge = Edge(id_, "RELATED", lore_id(other), properties=_NONE)
                if edge.target in nodes:
                    edges[edge.identity] = edge
            for place in (*entry.places, *((entry.name,) if entry.type == "location" else ())):
                anchor(Kind.LOCATION, place, "HAS_LORE", id_)
            for item in (*entry.items, *((entry.name,) if entry.type == "item" else ())):
                anchor(Kind.ITEM, item, "ITEM_LORE", id_)
            for who in entry.known_by:
                anchor(Kind.CHARACTER, who, "KNOWS", id_)
        return cls(nodes, edges, anchors, touching(edges.values()))


def touching(edges: Iterable[Edge]) -> dict[str, dict[Identity, Edge]]:
    """Return the edges at each node, by node id."""
    found: dict[str, dict[Identity, Edge]] = {}
    for edge in edges:
        identity = identity_of(edge)
        found.setdefault(edge.source, {})[identity] = edge
        found.setdefault(edge.target, {})[identity] = edge
    return found
