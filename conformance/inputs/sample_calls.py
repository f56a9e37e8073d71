"""A well-formed call of every method of each kind of store, in an order in which each finds what it needs."""

from __future__ import annotations

from conformance.calls import Call, call
from conformance.inputs.sample_stories import empty_view, pages, view
from saga_core.stores import Batch, Compare, Edge, EdgeKey, Exists, Mutation, Node, ScopeSpec, VectorItem

_NODES = (Node("아리아", "Character", {"hp": 100}), Node("숲", "Location"))


def samples(kind: str) -> list[Call]:
    """The sample calls of a kind of store. The first two are writes."""
    return {
        "state": [
            call("commit", Batch({("세션", "s1"): b"1", ("head",): b"t1"})),
            call("commit", Batch({("head",): b"t2"}, frozenset({("세션", "s1")})), expected={("head",): b"t1"}),
            call("get", [("head",), ("absent",)]),
            call("scan", ("세션",), after=("세션", "a"), limit=5),
        ],
        "graph": [
            call("apply", "s", Mutation(_NODES, (Edge("아리아", "LOCATED_AT", "숲"),), watermark="t1")),
            call("apply", "s", Mutation(delete_edges=(EdgeKey("아리아", "LOCATED_AT", "숲"),), watermark="t2")),
            call("get", "s", ["아리아"]),
            call("neighbors", "s", ["아리아"], types=["LOCATED_AT"], direction="out", limit=3),
            call("scan", "s", label="Character", after="a", limit=3),
            call("watermark", "s"),
            call("scopes"),
            call("drop", "gone"),
            call("expand", "s", ["아리아"], hops=1),
            call("query", "MATCH (n) RETURN n", timeout=1.0, limit=1),
        ],
        "vector": [
            call("create", "s", ScopeSpec("ngram-1/2", 2)),
            call("upsert", "s", [VectorItem("a", (1.0, 0.0), "하나", {"turn": 1}), VectorItem("b", (0.0, 1.0))]),
            call("describe", "s"),
            call("get", "s", ["a"]),
            call("scan", "s", after="a", limit=3),
            call("query", ["s"], (1.0, 0.0), 1, where=Compare("turn", "ge", 1)),
            call("count", "s", where=Exists("turn")),
            call("delete", "s", ids=["b"]),
            call("scopes"),
            call("drop", "gone"),
        ],
        "cache": [
            call("write", "s", pages("one", "t1")),
            call("write", "s", pages("two", "t2")),
            call("read", "s"),
            call("scopes"),
            call("locate", "s"),
            call("drop", "gone"),
        ],
        "curator": [call("review", view()), call("review", empty_view())],
    }[kind]
