"""Random calls of a GraphStore."""

from __future__ import annotations

from random import Random
from typing import Any

from conformance.calls import Call, call
from conformance.models import Model
from conformance.strategies.call_strategy import CallStrategy, Maker, bare, get_of_ids, of_scope
from conformance.strategies.pools import IDS, SCALARS, chance, scope_of, some
from saga_core.stores import Edge, EdgeKey, Mutation, Node

_TYPES = ("LOCATED_AT", "OWNS", "관계")
_KEYS = ("", "0", "1", "met")
_LABELS = ("Character", "Location", "아이템")


def _properties(random: Random) -> dict[str, Any]:
    names = some(random, ("hp", "이름", "a.b"), 2)
    return {name: random.choice((*SCALARS, (), ("하나", 1, 1.0, None))) for name in names}


def _node(random: Random) -> Node:
    return Node(random.choice(IDS), random.choice(_LABELS), _properties(random))


def _edge(random: Random) -> Edge:
    source, target = random.choice(IDS), random.choice(IDS)
    return Edge(source, random.choice(_TYPES), target, random.choice(_KEYS), _properties(random))


def _apply(random: Random, model: Model) -> Call:
    nodes = tuple(_node(random) for _ in range(random.randint(0, 4)))
    edges = tuple(_edge(random) for _ in range(random.randint(0, 3)))
    if not chance(random, 4):  # add the nodes that the edges need
        ends = sorted({end for edge in edges for end in (edge.source, edge.target)} - {node.id for node in nodes})
        nodes += tuple(Node(end, "Item") for end in ends)
    gone = tuple(EdgeKey(edge.source, edge.type, edge.target, edge.key) for edge in _known_edges(random, model))
    watermark = random.choice((None, None, "t1", "턴 2"))
    mutation = Mutation(nodes, edges, some(random, IDS, 1), gone, watermark)
    return call("apply", scope_of(random, model), mutation)


def _known_edges(random: Random, model: Model) -> list[Edge]:
    known = [edge for held in model.held.values() for edge in held.edges]
    return [random.choice(known) if known and chance(random, 2) else _edge(random) for _ in range(random.randint(0, 2))]


def _neighbors(random: Random, model: Model) -> Call:
    return call(
        "neighbors",
        scope_of(random, model),
        some(random, IDS, 4),
        types=random.choice((None, None, some(random, _TYPES, 2))),
        direction=random.choice(("in", "out", "both")),
        limit=random.choice((None, random.randint(1, 5))),
    )


def _node_scan(random: Random, model: Model) -> Call:
    after = random.choice((None, random.choice(IDS), "a!", "가"))
    label = random.choice((None, random.choice(_LABELS)))
    return call("scan", scope_of(random, model), label=label, after=after, limit=random.randint(1, 9))


def _expand(random: Random, model: Model) -> Call:
    types = random.choice((None, some(random, _TYPES, 2)))
    return call("expand", scope_of(random, model), some(random, IDS, 3), hops=random.randint(0, 4), types=types)


GRAPH = CallStrategy(
    {"apply": _apply, "drop": of_scope("drop")},
    {
        "get": get_of_ids,
        "neighbors": _neighbors,
        "scan": _node_scan,
        "watermark": of_scope("watermark"),
        "scopes": bare("scopes"),
    },
    {
        "apply": ("G-4", "G-5", "G-6", "G-7", "G-8", "G-9", "G-10", "G-11", "G-12"),
        "get": ("G-2", "G-13", "G-15", "G-16"),
        "neighbors": ("G-17", "G-18", "G-19", "G-20", "G-21"),
        "scan": ("G-22", "G-23"),
        "watermark": ("G-24",),
        "scopes": ("G-1", "G-3"),
        "drop": ("G-25", "G-26"),
        "expand": ("G-30",),
    },
)

EXPAND: Maker = _expand
