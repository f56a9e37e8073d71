"""What is the same in all graphs of a world: its lore, and by which names lore is tied to entities."""

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
"""Source, type, target and key of an edge: ordered as ``EdgeKey`` is, and compared faster."""

Touching = Mapping[str, Mapping[Identity, Edge]]
"""Node id to the edges at it, by identity."""


def lore_id(name: str) -> str:
    """The node id of a lore entry."""
    return entity_id("lore", name)


def identity_of(edge: Edge) -> Identity:
    """What tells an edge from others."""
    return (edge.source, edge.type, edge.target, edge.key)


@frozen(eq=False)
class LoreGraph:
    """A world's lore as nodes and edges. Made once for a world, and shared by the images of its states."""

    nodes: Mapping[str, Node]
    edges: Mapping[EdgeKey, Edge]
    """Those from entry to entry."""
    anchors: Mapping[tuple[Kind, str], Mapping[tuple[str, str], None]]
    """An entity's kind and folded name to the ties that it has for it, each an edge type and an entry's node id."""
    touching: Touching

    @classmethod
    def of(cls, world: World) -> LoreGraph:
        """The lore of ``world``."""
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
    """Each node that an edge has as an end, and the edges at it."""
    found: dict[str, dict[Identity, Edge]] = {}
    for edge in edges:
        identity = identity_of(edge)
        found.setdefault(edge.source, {})[identity] = edge
        found.setdefault(edge.target, {})[identity] = edge
    return found
