"""The graph schema as data: five node labels and ten edge types. A new kind is a new entry, not a new protocol."""

from __future__ import annotations

from attrs import frozen

from saga_core.errors import BadInput


@frozen
class NodeType:
    """A label and the usual properties of its nodes."""

    label: str
    properties: tuple[str, ...]


@frozen
class EdgeType:
    """A relation: the labels it connects, its properties, and how much weight a graph walk keeps over it (0 to 1)."""

    type: str
    source: str
    target: str
    properties: tuple[str, ...] = ()
    weight: float = 0.5


@frozen
class GraphSchema:
    """All node and edge types of a graph."""

    nodes: tuple[NodeType, ...]
    edges: tuple[EdgeType, ...]

    def edge(self, type_: str) -> EdgeType:
        """Return the entry of an edge type. Raises ``BadInput`` for an unknown one."""
        for entry in self.edges:
            if entry.type == type_:
                return entry
        raise BadInput(f"edge type {type_!r} is not in the schema; known: {', '.join(e.type for e in self.edges)}")


SCHEMA = GraphSchema(
    nodes=(
        NodeType("Character", ("name", "is_player", "hp", "max_hp", "location", "mood", "status", "traits")),
        NodeType("Location", ("name", "loc_type", "description", "properties")),
        NodeType("Item", ("name", "item_type", "description", "properties")),
        NodeType("Event", ("name", "event_type", "description", "turn")),
        NodeType("Lore", ("name", "lore_type", "layer")),
    ),
    edges=(
        EdgeType("RELATES_TO", "Character", "Character", ("rel_type", "strength"), 0.9),
        EdgeType("LOCATED_AT", "Character", "Location", ("since_turn",), 0.8),
        EdgeType("OWNS", "Character", "Item", ("quantity", "equipped"), 0.7),
        EdgeType("ADJACENT", "Location", "Location", ("direction", "cost", "conditions"), 0.6),
        EdgeType("INVOLVED_IN", "Character", "Event", ("role",), 0.5),
        EdgeType("CAUSED", "Event", "Event", ("description",), 0.4),
        EdgeType("KNOWS", "Character", "Lore", ("confidence",), 0.6),
        EdgeType("RELATED", "Lore", "Lore", ("relation",), 0.4),
        EdgeType("HAS_LORE", "Location", "Lore", (), 0.6),
        EdgeType("ITEM_LORE", "Item", "Lore", ("note",), 0.5),
    ),
)
"""The schema of section 7 of the original research note."""
