"""Random calls of each kind of store, from small pools, so that they meet. The given ``Random`` decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from attrs import frozen

from conformance.calls import Call, call
from conformance.inputs.values import NFC, NFD
from conformance.models import Model
from saga_core.stores import (
    And,
    Batch,
    Compare,
    Edge,
    EdgeKey,
    Exists,
    Filter,
    Key,
    Mutation,
    Node,
    Not,
    Or,
    Pages,
    ScopeSpec,
    VectorItem,
    Within,
)
from saga_core.values import PAGE_NAMES

T = TypeVar("T")
Maker = Callable[[Random, Model], Call]

_SCOPES = ("s", "s/2", "숲", NFD)
_IDS = ("아리아", NFC, NFD, "a", "ab", "a_", "a%", "A", "b:c", "\uffff", "\U0001f5e1")
_SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 0.0, -0.0, 1.0, 1.5, 0.1, 1e300),
    *(2**63 - 1, -(2**63), 2**53 + 1, "", "1", "t1", "크룩", NFC, NFD, "\U0001f5e1"),
)


def _some(random: Random, pool: Sequence[T], most: int) -> tuple[T, ...]:
    return tuple(random.choice(pool) for _ in range(random.randint(0, most)))


def _chance(random: Random, of: int) -> bool:
    return random.randint(1, of) == 1


def _scope(random: Random, model: Model) -> str:
    """Most often one that exists."""
    known: list[str] = [scope for scope in _SCOPES if scope in dict(model.held)]
    return random.choice(known if known and not _chance(random, 4) else _SCOPES)


# --- StateKV -------------------------------------------------------------------------------------------------

_SEGMENTS = ("a", "ab", "a\0", "\0", "\x01", "\xff", NFC, NFD, "_", "%", "a:b", ".", "/", "\uffff", "\U0001f600")


def _key(random: Random, model: Model) -> Key:
    if model.entries and _chance(random, 2):
        known: Key = random.choice(model.entries)[0]
        return known
    return tuple(random.choice(_SEGMENTS) for _ in range(random.randint(1, 3)))


def _value(random: Random) -> bytes:
    return random.choice((b"", b"0", b"1", b"\x00\xff", "값".encode(), b"x" * 5_000))


def _commit(random: Random, model: Model) -> Call:
    puts = {_key(random, model): _value(random) for _ in range(random.randint(0, 4))}
    deletes = frozenset(_key(random, model) for _ in range(random.randint(0, 2))) - puts.keys()
    batch = Batch(puts, deletes)
    kind = random.randint(1, 4)
    if kind == 1:  # whatever the expectation is
        wanted = {_key(random, model): random.choice((None, _value(random))) for _ in range(random.randint(0, 2))}
        return call("commit", batch, expected=wanted)
    if kind == 2:  # one that holds
        return call("commit", batch, expected={key: model.get([key]).get(key) for key in (*puts, *deletes)})
    return call("commit", batch)


def _state_get(random: Random, model: Model) -> Call:
    return call("get", [_key(random, model) for _ in range(random.randint(0, 4))])


def _state_scan(random: Random, model: Model) -> Call:
    key = _key(random, model)
    prefix = key[: random.randint(0, len(key))]
    after = _key(random, model) if _chance(random, 2) else None
    return call("scan", prefix, after=after, limit=random.randint(1, 6))


# --- GraphStore ----------------------------------------------------------------------------------------------

_TYPES = ("LOCATED_AT", "OWNS", "관계")
_KEYS = ("", "0", "1", "met")
_LABELS = ("Character", "Location", "아이템")


def _properties(random: Random) -> dict[str, Any]:
    names = _some(random, ("hp", "이름", "a.b"), 2)
    return {name: random.choice((*_SCALARS, (), ("하나", 1, 1.0, None))) for name in names}


def _node(random: Random) -> Node:
    return Node(random.choice(_IDS), random.choice(_LABELS), _properties(random))


def _edge(random: Random) -> Edge:
    source, target = random.choice(_IDS), random.choice(_IDS)
    return Edge(source, random.choice(_TYPES), target, random.choice(_KEYS), _properties(random))


def _apply(random: Random, model: Model) -> Call:
    nodes = tuple(_node(random) for _ in range(random.randint(0, 4)))
    edges = tuple(_edge(random) for _ in range(random.randint(0, 3)))
    if not _chance(random, 4):  # with the nodes that the edges need
        ends = sorted({end for edge in edges for end in (edge.source, edge.target)} - {node.id for node in nodes})
        nodes += tuple(Node(end, "Item") for end in ends)
    gone = tuple(EdgeKey(edge.source, edge.type, edge.target, edge.key) for edge in _known_edges(random, model))
    watermark = random.choice((None, None, "t1", "턴 2"))
    mutation = Mutation(nodes, edges, _some(random, _IDS, 1), gone, watermark)
    return call("apply", _scope(random, model), mutation)


def _known_edges(random: Random, model: Model) -> list[Edge]:
    known = [edge for held in model.held.values() for edge in held.edges]
    return [
        random.choice(known) if known and _chance(random, 2) else _edge(random) for _ in range(random.randint(0, 2))
    ]


def _graph_get(random: Random, model: Model) -> Call:
    return call("get", _scope(random, model), _some(random, _IDS, 4))


def _neighbors(random: Random, model: Model) -> Call:
    return call(
        "neighbors",
        _scope(random, model),
        _some(random, _IDS, 4),
        types=random.choice((None, None, _some(random, _TYPES, 2))),
        direction=random.choice(("in", "out", "both")),
        limit=random.choice((None, random.randint(1, 5))),
    )


def _node_scan(random: Random, model: Model) -> Call:
    after = random.choice((None, random.choice(_IDS), "a!", "가"))
    label = random.choice((None, random.choice(_LABELS)))
    return call("scan", _scope(random, model), label=label, after=after, limit=random.randint(1, 9))


def _expand(random: Random, model: Model) -> Call:
    types = random.choice((None, _some(random, _TYPES, 2)))
    return call("expand", _scope(random, model), _some(random, _IDS, 3), hops=random.randint(0, 4), types=types)


# --- VectorStore ---------------------------------------------------------------------------------------------

_SPECS = (ScopeSpec("ngram-1/3", 3), ScopeSpec("ngram-1/3", 3), ScopeSpec("ngram-1/2", 2))
_FIELDS = ("turn", "깊이", "a.b")


def _vector(random: Random, dimension: int = 3) -> tuple[float, ...]:
    return tuple(float(random.choice((-1, 0, 1, 1, 2))) for _ in range(dimension))


def _create(random: Random, model: Model) -> Call:
    return call("create", _scope(random, model), random.choice(_SPECS))


def _item(random: Random, dimension: int) -> VectorItem:
    metadata = {name: random.choice(_SCALARS) for name in _some(random, _FIELDS, 3)}
    text = random.choice(("", "text", "크룩이 왔다", NFD))
    return VectorItem(random.choice(_IDS), _vector(random, dimension), text, metadata)


def _upsert(random: Random, model: Model) -> Call:
    scope = _scope(random, model)
    spec = model.describe(scope)
    if spec is None and not _chance(random, 4):
        return call("create", scope, random.choice(_SPECS))
    dimension = random.choice((2, 3)) if spec is None or _chance(random, 8) else spec.dimension
    return call("upsert", scope, [_item(random, dimension) for _ in range(random.randint(0, 4))])


def filters(random: Random, depth: int = 2) -> Filter:
    """A filter of the grammar, well formed."""
    name = random.choice(_FIELDS)
    kind = random.randint(0, 6 if depth else 3)
    if kind == 0:
        return Compare(name, random.choice(("eq", "ne")), random.choice(_SCALARS))
    if kind == 1:
        ordered = [value for value in _SCALARS if value is not None and not isinstance(value, bool)]
        return Compare(name, random.choice(("lt", "le", "gt", "ge")), random.choice(ordered))
    if kind == 2:
        return Within(name, _some(random, _SCALARS, 3), _chance(random, 2))
    if kind == 3:
        return Exists(name)
    if kind == 4:
        return Not(filters(random, depth - 1))
    parts = tuple(filters(random, depth - 1) for _ in range(random.randint(0, 2)))
    return And(parts) if kind == 5 else Or(parts)


def _where(random: Random) -> Filter | None:
    return filters(random) if _chance(random, 2) else None


def _query(random: Random, model: Model) -> Call:
    scopes = _some(random, _SCOPES, 3)
    return call("query", scopes, _vector(random), random.randint(1, 9), where=_where(random))


def _delete(random: Random, model: Model) -> Call:
    if _chance(random, 2):
        return call("delete", _scope(random, model), where=filters(random))
    return call("delete", _scope(random, model), ids=_some(random, _IDS, 3))


def _count(random: Random, model: Model) -> Call:
    return call("count", _scope(random, model), where=_where(random))


def _item_scan(random: Random, model: Model) -> Call:
    after = random.choice((None, random.choice(_IDS), "a!", "가"))
    return call("scan", _scope(random, model), after=after, limit=random.randint(1, 9))


# --- MdCache -------------------------------------------------------------------------------------------------


def _write(random: Random, model: Model) -> Call:
    marks: Mapping[str, str] = {
        name: random.choice(("", "\r\n", "하나\n", NFD, "\0", "x" * 3_000)) for name in PAGE_NAMES
    }
    return call("write", _scope(random, model), Pages(marks, random.choice(("", "t1", "턴 2"))))


# --- all -----------------------------------------------------------------------------------------------------


def _of_scope(method: str) -> Maker:
    return lambda random, model: call(method, _scope(random, model))


def _bare(method: str) -> Maker:
    return lambda random, model: call(method)


@frozen
class CallStrategy:
    """The calls of a kind of store."""

    writes: Mapping[str, Maker]
    reads: Mapping[str, Maker]
    about: Mapping[str, tuple[str, ...]]
    """The clauses that a wrong answer of a method speaks of."""

    def write(self, random: Random, model: Model) -> Call:
        """Any call that may change something; the first kind of them most often, the last, which drops, seldom."""
        names = list(self.writes)
        name = random.choice([*names[:1] * 3, *names[1:-1], names[0] if _chance(random, 2) else names[-1]])
        return self.writes[name](random, model)

    def any(self, random: Random, model: Model) -> Call:
        """Any call."""
        if _chance(random, 2):
            return self.write(random, model)
        return self.reads[random.choice(list(self.reads))](random, model)


STRATEGIES: Mapping[str, CallStrategy] = {
    "state": CallStrategy(
        {"commit": _commit},
        {"get": _state_get, "scan": _state_scan},
        {"commit": ("S-8", "S-9", "S-10", "S-11"), "get": ("S-1", "S-2", "S-3"), "scan": ("S-4", "S-5", "S-6", "S-7")},
    ),
    "graph": CallStrategy(
        {"apply": _apply, "drop": _of_scope("drop")},
        {
            "get": _graph_get,
            "neighbors": _neighbors,
            "scan": _node_scan,
            "watermark": _of_scope("watermark"),
            "scopes": _bare("scopes"),
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
    ),
    "vector": CallStrategy(
        {"upsert": _upsert, "create": _create, "delete": _delete, "drop": _of_scope("drop")},
        {
            "query": _query,
            "count": _count,
            "scan": _item_scan,
            "get": _graph_get,
            "describe": _of_scope("describe"),
            "scopes": _bare("scopes"),
        },
        {
            "create": ("V-1", "V-2"),
            "upsert": ("V-4", "V-6", "V-7", "V-8"),
            "query": ("V-14", "V-15", "V-16", "V-17", "V-18", "V-19", "V-20"),
            "count": ("V-23",),
            "scan": ("V-13",),
            "get": ("V-10", "V-11", "V-12"),
            "describe": ("V-1",),
            "scopes": ("V-5",),
            "delete": ("V-22",),
            "drop": ("V-24",),
        },
    ),
    "cache": CallStrategy(
        {"write": _write, "drop": _of_scope("drop")},
        {"read": _of_scope("read"), "scopes": _bare("scopes")},
        {"write": ("C-3",), "read": ("C-1", "C-2"), "scopes": ("C-5",), "drop": ("C-6",)},
    ),
}

EXPAND: Maker = _expand
