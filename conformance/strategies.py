"""Strategies: random calls of each kind of store, and histories of such calls with the oracle's contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from attrs import frozen

from conformance.assertions import typed
from conformance.calls import StoreCall, call
from conformance.inputs import NFC, NFD
from conformance.oracles import MODELS, Model, expected
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

Maker = Callable[[Random, Model], StoreCall]


@frozen
class CallStrategy:
    """The random calls of a kind of store."""

    writes: Mapping[str, Maker]
    reads: Mapping[str, Maker]
    about: Mapping[str, tuple[str, ...]]
    """The clauses that a wrong result of each method may break."""

    def write(self, random: Random, model: Model) -> StoreCall:
        """Draw a writing call. The first method is the most frequent, the last one, which drops, is rare."""
        names = list(self.writes)
        name = random.choice([*names[:1] * 3, *names[1:-1], names[0] if chance(random, 2) else names[-1]])
        return self.writes[name](random, model)

    def any(self, random: Random, model: Model) -> StoreCall:
        """Draw any call."""
        if chance(random, 2):
            return self.write(random, model)
        return self.reads[random.choice(list(self.reads))](random, model)


def of_scope(method: str) -> Maker:
    """A maker of calls of ``method`` with a scope as the only argument."""
    return lambda random, model: call(method, scope_of(random, model))


def bare(method: str) -> Maker:
    """A maker of calls of ``method`` without arguments."""
    return lambda random, model: call(method)


def get_of_ids(random: Random, model: Model) -> StoreCall:
    """Draw a ``get`` of a few ids of nodes or items."""
    return call("get", scope_of(random, model), some(random, IDS, 4))


T = TypeVar("T")

SCOPES = ("s", "s/2", "숲", NFD)
IDS = ("아리아", NFC, NFD, "a", "ab", "a_", "a%", "A", "b:c", "\uffff", "\U0001f5e1")
SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 0.0, -0.0, 1.0, 1.5, 0.1, 1e300),
    *(2**63 - 1, -(2**63), 2**53 + 1, "", "1", "t1", "크룩", NFC, NFD, "\U0001f5e1"),
)


def some(random: Random, pool: Sequence[T], most: int) -> tuple[T, ...]:
    """Draw up to ``most`` values from ``pool``, possibly with repetitions."""
    return tuple(random.choice(pool) for _ in range(random.randint(0, most)))


def chance(random: Random, of: int) -> bool:
    """Return True one time in ``of``."""
    return random.randint(1, of) == 1


def scope_of(random: Random, model: Model) -> str:
    """Draw a scope, most often one that exists."""
    known: list[str] = [scope for scope in SCOPES if scope in dict(model.held)]
    return random.choice(known if known and not chance(random, 4) else SCOPES)


_SEGMENTS = ("a", "ab", "a\0", "\0", "\x01", "\xff", NFC, NFD, "_", "%", "a:b", ".", "/", "\uffff", "\U0001f600")


def _key(random: Random, model: Model) -> Key:
    if model.entries and chance(random, 2):
        known: Key = random.choice(model.entries)[0]
        return known
    return tuple(random.choice(_SEGMENTS) for _ in range(random.randint(1, 3)))


def _value(random: Random) -> bytes:
    return random.choice((b"", b"0", b"1", b"\x00\xff", "값".encode(), b"x" * 5_000))


def _commit(random: Random, model: Model) -> StoreCall:
    puts = {_key(random, model): _value(random) for _ in range(random.randint(0, 4))}
    deletes = frozenset(_key(random, model) for _ in range(random.randint(0, 2))) - puts.keys()
    batch = Batch(puts, deletes)
    kind = random.randint(1, 4)
    if kind == 1:  # any expectation
        wanted = {_key(random, model): random.choice((None, _value(random))) for _ in range(random.randint(0, 2))}
        return call("commit", batch, expected=wanted)
    if kind == 2:  # an expectation that holds
        return call("commit", batch, expected={key: model.get([key]).get(key) for key in (*puts, *deletes)})
    return call("commit", batch)


def _get(random: Random, model: Model) -> StoreCall:
    return call("get", [_key(random, model) for _ in range(random.randint(0, 4))])


def _scan(random: Random, model: Model) -> StoreCall:
    key = _key(random, model)
    prefix = key[: random.randint(0, len(key))]
    after = _key(random, model) if chance(random, 2) else None
    return call("scan", prefix, after=after, limit=random.randint(1, 6))


STATE = CallStrategy(
    {"commit": _commit},
    {"get": _get, "scan": _scan},
    {"commit": ("S-8", "S-9", "S-10", "S-11"), "get": ("S-1", "S-2", "S-3"), "scan": ("S-4", "S-5", "S-6", "S-7")},
)


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


def _apply(random: Random, model: Model) -> StoreCall:
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


def _neighbors(random: Random, model: Model) -> StoreCall:
    return call(
        "neighbors",
        scope_of(random, model),
        some(random, IDS, 4),
        types=random.choice((None, None, some(random, _TYPES, 2))),
        direction=random.choice(("in", "out", "both")),
        limit=random.choice((None, random.randint(1, 5))),
    )


def _node_scan(random: Random, model: Model) -> StoreCall:
    after = random.choice((None, random.choice(IDS), "a!", "가"))
    label = random.choice((None, random.choice(_LABELS)))
    return call("scan", scope_of(random, model), label=label, after=after, limit=random.randint(1, 9))


def _expand(random: Random, model: Model) -> StoreCall:
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


_SPECS = (ScopeSpec("ngram-1/3", 3), ScopeSpec("ngram-1/3", 3), ScopeSpec("ngram-1/2", 2))
_FIELDS = ("turn", "깊이", "a.b")


def _vector(random: Random, dimension: int = 3) -> tuple[float, ...]:
    return tuple(float(random.choice((-1, 0, 1, 1, 2))) for _ in range(dimension))


def _create(random: Random, model: Model) -> StoreCall:
    return call("create", scope_of(random, model), random.choice(_SPECS))


def _item(random: Random, dimension: int) -> VectorItem:
    metadata = {name: random.choice(SCALARS) for name in some(random, _FIELDS, 3)}
    text = random.choice(("", "text", "크룩이 왔다", NFD))
    return VectorItem(random.choice(IDS), _vector(random, dimension), text, metadata)


def _upsert(random: Random, model: Model) -> StoreCall:
    scope = scope_of(random, model)
    spec = model.describe(scope)
    if spec is None and not chance(random, 4):
        return call("create", scope, random.choice(_SPECS))
    dimension = random.choice((2, 3)) if spec is None or chance(random, 8) else spec.dimension
    return call("upsert", scope, [_item(random, dimension) for _ in range(random.randint(0, 4))])


def filters(random: Random, depth: int = 2) -> Filter:
    """Draw a well-formed filter."""
    name = random.choice(_FIELDS)
    kind = random.randint(0, 6 if depth else 3)
    if kind == 0:
        return Compare(name, random.choice(("eq", "ne")), random.choice(SCALARS))
    if kind == 1:
        ordered = [value for value in SCALARS if value is not None and not isinstance(value, bool)]
        return Compare(name, random.choice(("lt", "le", "gt", "ge")), random.choice(ordered))
    if kind == 2:
        return Within(name, some(random, SCALARS, 3), chance(random, 2))
    if kind == 3:
        return Exists(name)
    if kind == 4:
        return Not(filters(random, depth - 1))
    parts = tuple(filters(random, depth - 1) for _ in range(random.randint(0, 2)))
    return And(parts) if kind == 5 else Or(parts)


def _where(random: Random) -> Filter | None:
    return filters(random) if chance(random, 2) else None


def _query(random: Random, model: Model) -> StoreCall:
    scopes = some(random, SCOPES, 3)
    return call("query", scopes, _vector(random), random.randint(1, 9), where=_where(random))


def _delete(random: Random, model: Model) -> StoreCall:
    if chance(random, 2):
        return call("delete", scope_of(random, model), where=filters(random))
    return call("delete", scope_of(random, model), ids=some(random, IDS, 3))


def _count(random: Random, model: Model) -> StoreCall:
    return call("count", scope_of(random, model), where=_where(random))


def _item_scan(random: Random, model: Model) -> StoreCall:
    after = random.choice((None, random.choice(IDS), "a!", "가"))
    return call("scan", scope_of(random, model), after=after, limit=random.randint(1, 9))


VECTOR = CallStrategy(
    {"upsert": _upsert, "create": _create, "delete": _delete, "drop": of_scope("drop")},
    {
        "query": _query,
        "count": _count,
        "scan": _item_scan,
        "get": get_of_ids,
        "describe": of_scope("describe"),
        "scopes": bare("scopes"),
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
)


def _write(random: Random, model: Model) -> StoreCall:
    marks: Mapping[str, str] = {
        name: random.choice(("", "\r\n", "하나\n", NFD, "\0", "x" * 3_000)) for name in PAGE_NAMES
    }
    return call("write", scope_of(random, model), Pages(marks, random.choice(("", "t1", "턴 2"))))


CACHE = CallStrategy(
    {"write": _write, "drop": of_scope("drop")},
    {"read": of_scope("read"), "scopes": bare("scopes")},
    {"write": ("C-3",), "read": ("C-1", "C-2"), "scopes": ("C-5",), "drop": ("C-6",)},
)


STRATEGIES: Mapping[str, CallStrategy] = {"state": STATE, "graph": GRAPH, "vector": VECTOR, "cache": CACHE}


def planned(kind: str, random: Random, count: int) -> list[StoreCall]:
    """Draw ``count`` writes, each of which changes the oracle's contents."""
    model: Model = MODELS[kind]()
    calls: list[StoreCall] = []
    while len(calls) < count:
        made = STRATEGIES[kind].write(random, model)
        before = typed(model.snapshot())
        expected(model, made)
        if typed(model.snapshot()) != before:
            calls.append(made)
    return calls


def states(kind: str, calls: Sequence[StoreCall]) -> list[object]:
    """The oracle's contents before the first of ``calls``, and after each of them."""
    model: Model = MODELS[kind]()
    found = [typed(model.snapshot())]
    for made in calls:
        expected(model, made)
        found.append(typed(model.snapshot()))
    return found
