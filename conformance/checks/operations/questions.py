"""The same reads after every write, to find cached results that outlive the next write."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from conformance.assertions import CheckFailed, typed
from conformance.calls import Call, answer, call
from conformance.case import Case
from conformance.check import check
from conformance.inputs import pages
from conformance.models import MODELS, Model, expected
from conformance.strategies import STRATEGIES
from saga_core.capabilities import Capability
from saga_core.stores import (
    Batch,
    Compare,
    Edge,
    EdgeKey,
    Exists,
    Mutation,
    Node,
    ScopeSpec,
    VectorItem,
    Within,
)

SPEC = ScopeSpec("e", 2)


def _state() -> tuple[list[Call], list[Call]]:
    keys = [("a",), ("a", "b"), ("b",), ("c", "d")]
    one, two = Batch(dict.fromkeys(keys, b"1")), Batch(dict.fromkeys(keys, b"2"))
    writes = [
        call("commit", Batch({("a",): b"1"})),
        call("commit", Batch({("a",): b"2"})),
        call("commit", one),
        call("commit", two),
        call("commit", Batch(deletes=frozenset(keys[:3]))),
        call("commit", Batch({("b",): b"3", ("e",): b""}, frozenset({("a",)}))),
        call("commit", Batch(deletes=frozenset({("b",), ("e",)}))),
        call("commit", Batch({("e",): b"5"}), expected={("e",): None}),
        call("commit", Batch({("b",): b"6"}, frozenset({("e",)})), expected={("e",): b"5"}),
        call("commit", Batch(deletes=frozenset({("c", "d")}))),
    ]
    asked = [call("get", keys), *(call("get", [key]) for key in keys), call("scan", ()), call("scan", (), limit=2)]
    asked += [call("scan", ("a",)), call("scan", (), after=("a", "b")), call("scan", ("c",)), call("get", [("e",)])]
    return writes, asked


def _graph() -> tuple[list[Call], list[Call]]:
    def people(**properties: int) -> tuple[Node, ...]:
        return tuple(Node(name, "Person", properties) for name in ("a", "b", "c"))

    ring = (Edge("a", "T", "b"), Edge("b", "T", "c"), Edge("c", "U", "a", "k", {"n": 1}))
    writes = [
        Mutation(people(hp=1), ring, watermark="t1"),
        Mutation(people(hp=2), watermark="t2"),
        Mutation((Node("a", "Ghost"),), watermark="t1"),
        Mutation(put_edges=(Edge("c", "U", "a", "k", {"n": 2}),)),
        Mutation(delete_nodes=("b",), watermark="t3"),
        Mutation(delete_edges=(EdgeKey("c", "U", "a", "k"),)),
        Mutation((Node("b", "Person"),), (Edge("a", "T", "b"),)),
        Mutation(delete_edges=(EdgeKey("a", "T", "b"),), watermark="t1"),
        Mutation(delete_nodes=("a", "c")),
    ]
    asked = [call("get", "s", ["a", "b", "c"]), *(call("get", "s", [name]) for name in ("a", "b", "c"))]
    for name in ("a", "b", "c"):
        asked += [call("neighbors", "s", [name], direction=way) for way in ("in", "out", "both")]
    asked += [call("neighbors", "s", ["a", "b", "c"], types=["U"]), call("neighbors", "s", ["c"], limit=1)]
    asked += [call("scan", "s"), call("scan", "s", label="Person"), call("scan", "s", label="Ghost")]
    asked += [call("scan", "s", after="a", limit=1), call("watermark", "s"), call("scopes")]
    made = [call("apply", "s", mutation) for mutation in writes]
    return [*made, call("drop", "s"), call("apply", "s", Mutation(people()))], asked


def _vector() -> tuple[list[Call], list[Call]]:
    def put(*items: VectorItem) -> Call:
        return call("upsert", "s", list(items))

    a, moved = VectorItem("a", (1.0, 0.0), "a", {"n": 1}), VectorItem("a", (0.0, 1.0), "a", {"n": 1})
    told, counted = VectorItem("a", (1.0, 0.0), "other", {"n": 1}), VectorItem("a", (1.0, 0.0), "a", {"n": 2})
    b = VectorItem("b", (1.0, 1.0), "b", {"n": 1, "m": None})
    writes = [
        put(a, b),
        put(moved),
        put(told),
        put(counted),
        put(VectorItem("b", (1.0, 1.0), "b")),
        call("delete", "s", ids=["a"]),
        put(a),
        call("delete", "s", where=Exists("n")),
        call("drop", "s"),
        call("create", "s", SPEC),
    ]
    asked = [call("query", ["s"], vector, k) for vector in ((1.0, 0.0), (0.0, 1.0)) for k in (1, 5)]
    asked += [call("query", ["s"], (1.0, 0.0), 5, where=where) for where in (Compare("n", "eq", 1), Exists("m"))]
    asked += [call("count", "s"), call("count", "s", where=Within("n", (1,))), call("count", "s", where=Exists("n"))]
    asked += [call("get", "s", ["a", "b"]), call("scan", "s"), call("scan", "s", after="a"), call("describe", "s")]
    return writes, [*asked, call("scopes")]


def _cache() -> tuple[list[Call], list[Call]]:
    writes = [call("write", "s", pages(mark, mark)) for mark in ("1", "2", "3")]
    writes += [call("write", "t", pages("1", "1")), call("drop", "s"), call("drop", "t")]
    return writes, [call("read", "s"), call("read", "t"), call("scopes")]


def _story(kind: str, writes: list[Call], random: Random, rounds: int) -> Iterator[Call]:
    """Yield each write, the next one and the first one again, then the same with random pairs, ``rounds`` times."""
    if kind == "vector":
        yield call("create", "s", SPEC)
    for one, other in zip(writes, [*writes[1:], writes[0]], strict=True):
        yield from (one, other, one)
    for _ in range(rounds):
        one, other = random.choice(writes), random.choice(writes)
        yield from (one, other, one)


_STORIES = {"state": _state, "graph": _graph, "vector": _vector, "cache": _cache}


def _ask(case: Case) -> None:
    kind = case.harness.kind
    writes, asked = _STORIES[kind]()
    if Capability.NATIVE_EXPAND in case.harness.provides:
        asked += [call("expand", "s", ["a"], hops=hops) for hops in (0, 1, 2)]
    about = STRATEGIES[kind].about
    store = case.run(case.open())
    model: Model = MODELS[kind]()
    told: list[Call] = []
    for made in _story(kind, writes, case.random, case.profile.steps):
        told.append(made)
        for one in (made, *asked):
            wanted = expected(model, one)
            found = case.run(answer(store, one))
            if typed(found) != typed(wanted):
                story = "\n".join(map(str, told[-6:]))
                clauses = " ".join(about.get(made.method, ()) + about.get(one.method, ()))
                raise CheckFailed(f"{story}\n{one} gave {found!r}, expected {wanted!r}", clause=clauses)


@check("S-1", "S-4", "S-8")
def state(case: Case) -> None:
    _ask(case)


@check("G-4", "G-5", "G-8", "G-9", "G-16", "G-17", "G-23", "G-24", "G-25")
def graph(case: Case) -> None:
    _ask(case)


@check("V-6", "V-15", "V-16", "V-22", "V-23", "V-24")
def vector(case: Case) -> None:
    if Capability.APPROXIMATE not in case.harness.provides:
        _ask(case)


@check("C-3", "C-6")
def cache(case: Case) -> None:
    _ask(case)
