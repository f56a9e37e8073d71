"""The data for measuring stores: graphs and vectors of a given size, and the changes of one turn."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator

from attrs import define, field

from saga_core.stores import Edge, EdgeKey, Mutation, Node, Value, VectorItem

SCOPE = "bench"
DIMENSION = 256
EDGES_A_NODE = 2
_CHUNK = 500
_LABELS = ("Character", "Location", "Item", "Event", "Concept")
_TYPES = ("RELATES_TO", "LOCATED_AT", "OWNS", "PARTICIPATED_IN", "KNOWS_ABOUT")


def node_id(number: int) -> str:
    """The id of a node."""
    return f"n{number:06}"


def _node(number: int, hp: int = 100) -> Node:
    properties: dict[str, Value] = {
        "name": f"이름 {number}",
        "hp": hp,
        "known": number % 3 == 0,
        "note": f"the {number}th of them",
    }
    return Node(node_id(number), _LABELS[number % len(_LABELS)], properties)


def graph_parts(size: int) -> Iterator[Mutation]:
    """``size`` nodes and twice as many edges, in batches. A node has four edges on average."""
    for start in range(0, size, _CHUNK):
        yield Mutation(put_nodes=tuple(map(_node, range(start, min(size, start + _CHUNK)))))
    drawn = random.Random(size)
    edges: dict[EdgeKey, Edge] = {}
    while len(edges) < EDGES_A_NODE * size:
        source, target = drawn.sample(range(size), 2)
        properties: dict[str, Value] = {"strength": drawn.randint(-5, 5), "kind": "ally"}
        edge = Edge(node_id(source), drawn.choice(_TYPES), node_id(target), properties=properties)
        edges[edge.identity] = edge
    left = list(edges.values())
    for start in range(0, len(left), _CHUNK):
        yield Mutation(put_edges=tuple(left[start : start + _CHUNK]), watermark="t0")


@define
class TurnChanges:
    """Generates the graph changes of one turn after another: wounds, moves and feelings."""

    size: int
    _drawn: random.Random = field(factory=lambda: random.Random(1))
    _place: dict[int, int] = field(factory=dict)
    _turn: int = 0

    def next(self) -> Mutation:
        """The next change: it puts two nodes and three edges, deletes an outdated edge, and sets the watermark."""
        self._turn += 1
        who, other, place = self._drawn.sample(range(self.size), 3)
        left = self._place.get(who)
        self._place[who] = place
        return Mutation(
            put_nodes=(_node(who, self._drawn.randint(1, 100)), _node(other, self._drawn.randint(1, 100))),
            put_edges=(
                Edge(node_id(who), "IS_AT", node_id(place)),
                Edge(node_id(who), "FEELS", node_id(other), properties={"strength": self._turn % 6}),
                Edge(node_id(other), "FEELS", node_id(who), properties={"strength": self._turn % 5}),
            ),
            delete_edges=() if left is None else (EdgeKey(node_id(who), "IS_AT", node_id(left)),),
            watermark=f"t{self._turn}",
        )


def vector(drawn: random.Random) -> array[float]:
    """A random vector."""
    return array("f", (drawn.gauss(0.0, 1.0) for _ in range(DIMENSION)))


def item(number: int, drawn: random.Random) -> VectorItem:
    """The episode of a turn, with a random vector."""
    return VectorItem(f"t{number:06}", vector(drawn), "", {"depth": number})


def vector_parts(size: int) -> Iterator[list[VectorItem]]:
    """``size`` episodes, in batches."""
    drawn = random.Random(size)
    for start in range(0, size, _CHUNK):
        yield [item(number, drawn) for number in range(start, min(size, start + _CHUNK))]
