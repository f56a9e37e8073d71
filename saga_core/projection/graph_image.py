"""The graph of a state: its nodes and edges as data, readable like a store, and the difference of two graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from attrs import define, evolve, field, frozen

from saga_core.ids import entity_id
from saga_core.language import fold_name
from saga_core.model import Entity, Kind, Placement, Relation, Stack, WorldState
from saga_core.stores import Direction, Edge, EdgeKey, Mutation, Node, Value
from saga_core.world import World

K = TypeVar("K")
V = TypeVar("V")
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


_OWN = frozenset({"name", "aliases", "location"})
"""Properties of nodes that no attribute replaces."""
LABELS = {Kind.CHARACTER: "Character", Kind.LOCATION: "Location", Kind.ITEM: "Item", Kind.EVENT: "Event"}


_SEARCHES = 2
"""The calls that search all edges, before an index of them is made. One walk takes two, and most images have only one:
that of a turn from which the player branches off."""

_Cause = Placement | Stack | Relation | None
"""The part of a state that an edge shows; None for an edge without properties."""


@frozen
class _Drawn:
    """Rendered nodes and edges with the objects they were made from. The next image reuses unchanged ones."""

    nodes: dict[str, tuple[Entity, str | None, Node]] = field(factory=dict)
    """Entity id -> the entity, the name of its place, and the node made from both."""
    ties: dict[tuple[str, str, str], tuple[_Cause, EdgeKey, Edge]] = field(factory=dict)
    """Source, type and target -> the cause, the key, and the edge made from them."""


@define(eq=False, repr=False)
class GraphImage:
    """An immutable graph. ``neighbors`` and ``get`` answer as a ``GraphStore`` would, for any scope."""

    _nodes: Mapping[str, Node] | None = field(factory=dict)
    _edges: Mapping[EdgeKey, Edge] | None = field(factory=dict)
    _lore: LoreGraph | None = None
    _drawn: _Drawn | None = None
    """The rendered parts except lore. If set, ``nodes`` and ``edges`` are assembled on demand."""
    _touching: dict[str, dict[Identity, Edge]] = field(factory=dict, init=False)
    _searched: int = field(default=0, init=False)
    """How often all edges were searched instead of indexed."""

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by id."""
        if self._nodes is None:
            drawn, lore = self._of_lore()
            self._nodes = {**{id_: node for id_, (_, _, node) in drawn.nodes.items()}, **lore.nodes}
        return self._nodes

    @property
    def edges(self) -> Mapping[EdgeKey, Edge]:
        """The edges by identity."""
        if self._edges is None:
            drawn, lore = self._of_lore()
            self._edges = {**{key: edge for _, key, edge in drawn.ties.values()}, **lore.edges}
        return self._edges

    def _of_lore(self) -> tuple[_Drawn, LoreGraph]:
        assert self._drawn is not None
        assert self._lore is not None
        return self._drawn, self._lore

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """Return those of ``ids`` that exist."""
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
        """Return the edges that touch ``ids``, ordered by identity."""
        found = self.touching(scope, ids)
        keys: Iterable[Identity] = found
        if types is not None or direction != "both":
            end, wanted = (0 if direction == "out" else 2), set(ids)
            keys = (
                key
                for key in found
                if (types is None or key[1] in types) and (direction == "both" or key[end] in wanted)
            )
        return [found[key] for key in sorted(keys)[:limit]]

    def touching(self, scope: str, ids: Sequence[str]) -> dict[Identity, Edge]:
        """Return the edges that touch ``ids``, by identity, in any order. ``scope`` is not used."""
        found: dict[Identity, Edge] = {}
        indexes = [self._lore.touching] if self._lore is not None else []
        if self._drawn is not None and not self._touching and self._searched < _SEARCHES:
            self._searched += 1
            wanted = set(ids)
            for (source, type_, target), (_, _, edge) in self._drawn.ties.items():
                if source in wanted or target in wanted:
                    found[source, type_, target, edge.key] = edge
        else:
            if not self._touching:
                self._touching.update(touching(self._own_edges()))
            indexes.append(self._touching)
        for id_ in ids:
            for index in indexes:
                if id_ in index:
                    found.update(index[id_])
        return found

    def rest(self) -> None:
        """Drop the caches for fast reads. They are rebuilt by the next read."""
        self._touching.clear()
        if self._drawn is not None:
            self._nodes = self._edges = None

    def _own_edges(self) -> list[Edge]:
        """Return all edges except those from lore to lore."""
        if self._drawn is None:
            return list(self.edges.values())
        return [edge for _, _, edge in self._drawn.ties.values()]


def render_graph(
    state: WorldState, world: World, *, lore: LoreGraph | None = None, near: GraphImage | None = None
) -> GraphImage:
    """Return the graph of ``state``: its entities and their edges, and the world's lore with its edges.

    ``lore`` is the prepared lore of ``world``, if available. ``near`` is the image of another state, ideally one turn
    away; unchanged parts are reused. Neither changes the result.
    """
    lore = lore or LoreGraph.of(world)
    old = near._drawn if near is not None and near._lore is lore and near._drawn is not None else _Drawn()
    drawn = _Drawn()
    _draw_nodes(state, old, drawn)
    _draw_ties(state, lore, old, drawn)
    return GraphImage(None, None, lore, drawn)


def _draw_nodes(state: WorldState, old: _Drawn, new: _Drawn) -> None:
    entities, whereabouts = state.entities, state.whereabouts
    for id_, entity in entities.items():
        placement = whereabouts.get(id_)
        place = state.name(placement.place) if placement is not None else None
        known = old.nodes.get(id_)
        if known is not None and known[0] is entity and known[1] == place:
            new.nodes[id_] = known
            continue
        others = {name: value for name, value in entity.attributes.items() if name not in _OWN}
        properties: dict[str, Value] = {"name": entity.name, **others}
        if entity.aliases:
            properties["aliases"] = entity.aliases
        if place is not None:
            properties["location"] = place
        # Read-only, so that an in-memory graph store can share it.
        new.nodes[id_] = (entity, place, Node(id_, LABELS[entity.kind], MappingProxyType(properties)))


def _draw_ties(state: WorldState, lore: LoreGraph, old: _Drawn, new: _Drawn) -> None:
    def tie(source: str, type_: str, target: str, cause: _Cause = None) -> None:
        for end in (source, target):
            if end not in new.nodes and end not in lore.nodes:
                return
        known = old.ties.get((source, type_, target))
        if known is None or known[0] is not cause:
            edge = Edge(source, type_, target, properties=_properties(cause))
            known = (cause, edge.identity, edge)
        new.ties[source, type_, target] = known

    for who, placement in state.whereabouts.items():
        tie(who, "LOCATED_AT", placement.place, placement)
    for owner, hands in state.belongings.items():
        for item, stack in hands.items():
            tie(owner, "OWNS", item, stack)
    for (source, target), relation in state.relations.items():
        tie(source, "RELATES_TO", target, relation)
    for source, type_, target in state.links:
        tie(source, type_, target)
    named: set[tuple[Kind, str]] = set()
    for entity in state.entities.values():
        for name in entity.names:
            key = (entity.kind, fold_name(name))
            if key not in named:  # if two entities have the same name, lore refers to the first
                named.add(key)
                for type_, id_ in lore.anchors.get(key, ()):
                    tie(entity.id, type_, id_)


def _properties(cause: _Cause) -> Mapping[str, Value]:
    if isinstance(cause, Placement):
        return MappingProxyType({"since_turn": cause.since})
    if isinstance(cause, Stack):
        return MappingProxyType({"quantity": cause.quantity, "equipped": cause.equipped})
    if isinstance(cause, Relation):
        return MappingProxyType({"rel_type": cause.type, "strength": cause.strength})
    return _NONE


def difference(old: GraphImage, new: GraphImage, watermark: str) -> Mutation:
    """Return the smallest mutation that turns ``old`` into ``new`` and sets the watermark."""
    if old._lore is not None and old._lore is new._lore and old._drawn is not None and new._drawn is not None:
        # Lore and the edges among it are the same in both.
        was, now = old._drawn, new._drawn
        put_nodes, absent = _moved(was.nodes, now.nodes), was.nodes.keys() - now.nodes.keys()
        put_edges = _moved(was.ties, now.ties)
        missing = {key for identity, (_, key, _) in was.ties.items() if identity not in now.ties}
    else:
        put_nodes = tuple(node for id_, node in new.nodes.items() if old.nodes.get(id_) != node)
        absent = set(old.nodes) - set(new.nodes)
        put_edges = tuple(edge for key, edge in new.edges.items() if old.edges.get(key) != edge)
        missing = set(old.edges) - set(new.edges)
    return Mutation(
        put_nodes=put_nodes,
        put_edges=put_edges,
        delete_nodes=tuple(sorted(absent)),
        delete_edges=tuple(sorted(key for key in missing if key.source not in absent and key.target not in absent)),
        watermark=watermark,
    )


def portions(image: GraphImage, watermark: str, most: int) -> list[Mutation]:
    """Return mutations of at most ``most`` nodes and edges that fill an empty scope with ``image``, in order.

    Only the last one sets the watermark. A scope left incomplete by a crash has none and is rendered again.
    """
    nodes, edges = list(image.nodes.values()), list(image.edges.values())
    parts = [Mutation(put_nodes=tuple(nodes[at : at + most])) for at in range(0, len(nodes), most)]
    parts += [Mutation(put_edges=tuple(edges[at : at + most])) for at in range(0, len(edges), most)]
    if parts and len(image.nodes) + len(image.edges) <= most:
        parts = [Mutation(tuple(nodes), tuple(edges))]
    return [*parts[:-1], evolve(parts[-1] if parts else Mutation(), watermark=watermark)]


def _moved(old: Mapping[K, tuple[Any, Any, V]], new: Mapping[K, tuple[Any, Any, V]]) -> tuple[V, ...]:
    """Return what is new or changed in ``new``. The last part of each value is what was drawn."""
    puts = []
    for key, (*_, drawn) in new.items():
        known = old.get(key)
        if known is None or (known[2] is not drawn and known[2] != drawn):
            puts.append(drawn)
    return tuple(puts)
