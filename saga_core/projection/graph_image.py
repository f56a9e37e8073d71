"""The graph of a state: nodes and edges as data, readable like a store, and the difference of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

from saga_core.ids import entity_id
from saga_core.model.entities import Kind
from saga_core.model.world_state import WorldState
from saga_core.stores.graph import Direction, Edge, EdgeKey, Mutation, Node, Value
from saga_core.text.normal import fold_name
from saga_core.world.model import World

LABELS = {Kind.CHARACTER: "Character", Kind.LOCATION: "Location", Kind.ITEM: "Item", Kind.EVENT: "Event"}


@frozen
class GraphImage:
    """A graph at rest. ``neighbors`` and ``get`` answer as a ``GraphStore`` would, whatever the scope."""

    nodes: Mapping[str, Node] = field(factory=dict)
    edges: Mapping[EdgeKey, Edge] = field(factory=dict)
    _touching: dict[str, list[Edge]] = field(factory=dict, init=False, eq=False, repr=False)

    def _adjacency(self) -> dict[str, list[Edge]]:
        if not self._touching and self.edges:
            for edge in self.edges.values():
                self._touching.setdefault(edge.source, []).append(edge)
                if edge.target != edge.source:
                    self._touching.setdefault(edge.target, []).append(edge)
        return self._touching

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """Those of ``ids`` that exist."""
        return {id_: self.nodes[id_] for id_ in ids if id_ in self.nodes}

    async def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        """The edges that touch ``ids``, ordered by identity."""
        adjacency, wanted = self._adjacency(), set(ids)
        found: dict[EdgeKey, Edge] = {}
        for id_ in wanted:
            for edge in adjacency.get(id_, ()):
                if types is not None and edge.type not in types:
                    continue
                if (direction != "in" and edge.source == id_) or (direction != "out" and edge.target == id_):
                    found[edge.identity] = edge
        return [found[key] for key in sorted(found)][:limit]


def render_graph(state: WorldState, world: World) -> GraphImage:
    """The graph of ``state``: its entities and their ties, and the world's lore with its own."""
    nodes: dict[str, Node] = {}
    edges: dict[EdgeKey, Edge] = {}

    def tie(source: str, type_: str, target: str, **properties: Value) -> None:
        if source in nodes and target in nodes:
            edge = Edge(source, type_, target, properties=properties)
            edges[edge.identity] = edge

    for entity in state.entities.values():
        properties: dict[str, Value] = {"name": entity.name, **entity.attributes}
        if entity.aliases:
            properties["aliases"] = entity.aliases
        placement = state.whereabouts.get(entity.id)
        if placement:
            properties["location"] = state.name(placement.place)
        nodes[entity.id] = Node(entity.id, LABELS[entity.kind], properties)
    _lore(state, world, nodes)
    for who, placement in state.whereabouts.items():
        tie(who, "LOCATED_AT", placement.place, since_turn=placement.since)
    for owner, hands in state.belongings.items():
        for item, stack in hands.items():
            tie(owner, "OWNS", item, quantity=stack.quantity, equipped=stack.equipped)
    for (source, target), relation in state.relations.items():
        tie(source, "RELATES_TO", target, rel_type=relation.type, strength=relation.strength)
    for source, type_, target in state.links:
        tie(source, type_, target)
    _lore_ties(state, world, tie)
    return GraphImage(nodes, edges)


def lore_id(name: str) -> str:
    """The node id of a lore entry."""
    return entity_id("lore", name)


def _lore(state: WorldState, world: World, nodes: dict[str, Node]) -> None:
    for entry in world.lore:
        id_ = lore_id(entry.name)
        nodes[id_] = Node(id_, "Lore", {"name": entry.name, "lore_type": entry.type, "layer": entry.layer})


def _lore_ties(state: WorldState, world: World, tie: _Tie) -> None:
    by_name: dict[tuple[Kind, str], str] = {}
    for entity in state.entities.values():
        for name in entity.names:
            by_name.setdefault((entity.kind, fold_name(name)), entity.id)
    for entry in world.lore:
        id_ = lore_id(entry.name)
        for other in entry.related:
            tie(id_, "RELATED", lore_id(other))
        for place in (*entry.places, *((entry.name,) if entry.type == "location" else ())):
            tie(by_name.get((Kind.LOCATION, fold_name(place)), ""), "HAS_LORE", id_)
        for item in (*entry.items, *((entry.name,) if entry.type == "item" else ())):
            tie(by_name.get((Kind.ITEM, fold_name(item)), ""), "ITEM_LORE", id_)
        for who in entry.known_by:
            tie(by_name.get((Kind.CHARACTER, fold_name(who)), ""), "KNOWS", id_)


class _Tie(Protocol):
    """The shape of ``tie`` for the type checker."""

    def __call__(self, source: str, type_: str, target: str, **properties: Value) -> None: ...


def difference(old: GraphImage, new: GraphImage, watermark: str) -> Mutation:
    """The smallest mutation that makes ``old`` into ``new`` and marks it with ``watermark``."""
    gone = tuple(sorted(old.nodes.keys() - new.nodes.keys()))
    lost = set(gone)
    return Mutation(
        put_nodes=tuple(node for id_, node in new.nodes.items() if old.nodes.get(id_) != node),
        put_edges=tuple(edge for key, edge in new.edges.items() if old.edges.get(key) != edge),
        delete_nodes=gone,
        delete_edges=tuple(
            sorted(
                key for key in old.edges.keys() - new.edges.keys() if key.source not in lost and key.target not in lost
            )
        ),
        watermark=watermark,
    )
