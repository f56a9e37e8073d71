"""Checks of a GraphStore: mutations, reads and walks, at every size and among many entries."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.assertions import Refused, refused, require, same
from conformance.calls import answer, call, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import (
    PAGE,
    TRIANGLE,
    affordable,
    again,
    as_many_scopes,
    at_once,
    edges_of,
    ids_of,
    in_pages,
    people,
    some,
    whole,
)
from conformance.inputs import BAD_SCALARS, SCALARS, TUPLES
from conformance.oracles import GraphModel, points
from saga_core.errors import BadInput, NotSupported, SagaError
from saga_core.stores import Edge, EdgeKey, Mutation, Node


@check("G-1")
async def scopes_begin_with_a_mutation(case: Case) -> None:
    store = case.store
    await store.apply("empty", Mutation())
    same(await store.scopes(), [], "scopes after an empty mutation")
    await store.apply("c", Mutation(watermark="t1"))
    await store.apply("b", Mutation(delete_nodes=("nobody",)))
    await store.apply("d", Mutation(delete_edges=(EdgeKey("a", "T", "b"),)))
    await store.apply("a", Mutation(put_nodes=people("x")))
    same(await store.scopes(), ["a", "b", "c", "d"], "scopes after a mutation of each kind")


@check("G-2")
async def scopes_are_apart(case: Case) -> None:
    store = case.store
    for scope in case.names:
        await store.apply(scope, Mutation(people("x", "y"), (Edge("x", "T", "y"),), watermark=scope))
        await store.apply(scope, Mutation(put_nodes=(Node("x", "Place", {"scope": scope}),)))
    for scope in case.names:
        same(await store.get(scope, ["x"]), {"x": Node("x", "Place", {"scope": scope})}, f"get in {scope!r}")
        same(await store.watermark(scope), scope, f"watermark of {scope!r}")
    await store.apply(case.names[0], Mutation(delete_nodes=("x",)))
    await store.apply(case.names[0], Mutation(put_nodes=people("only here")))
    same(await edges_of(store, "x", scope=case.names[1]), [EdgeKey("x", "T", "y")], "the edges of the next scope")
    same(await store.get(case.names[1], ["only here"]), {}, "a node of another scope")


@check("G-3")
async def scopes_in_order(case: Case) -> None:
    for scope in reversed(case.names):
        await case.store.apply(scope, Mutation(watermark="t"))
    same(await case.store.scopes(), sorted(case.names, key=points), "scopes")


@check("G-4")
async def a_put_replaces_the_node(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    before = await edges_of(store, "아리아")
    await store.apply("s", Mutation(put_nodes=(Node("아리아", "Character", {"hp": 85, "mood": "tense"}),)))
    ghost = Node("아리아", "Ghost", {"mood": "calm"})
    await store.apply("s", Mutation(put_nodes=(ghost,)))
    same(await store.get("s", ["아리아"]), {"아리아": ghost}, "the node")
    same(await edges_of(store, "아리아"), before, "its edges")
    same(await ids_of(store, label="Ghost"), ["아리아"], "scan of its new label")
    same(await ids_of(store, label="Character"), ["숲", "크룩"], "scan of its old label")


@check("G-5")
async def a_put_replaces_the_edge(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    met = Edge("아리아", "RELATES_TO", "크룩", "met", {"since": "어제"})
    await store.apply("s", Mutation(put_edges=(met,)))
    found = await store.neighbors("s", ["아리아"], types=["RELATES_TO"])
    same(found, [Edge("아리아", "RELATES_TO", "크룩", "", {"strength": -2}), met], "the edges")


@check("G-6")
async def the_last_put_counts(case: Case) -> None:
    nodes = (Node("a", "A", {"n": 1, "gone": True}), Node("a", "B", {"n": 2}))
    edges = (Edge("a", "T", "a", "", {"n": 1, "gone": True}), Edge("a", "T", "a", "", {"n": 2}))
    await case.store.apply("s", Mutation(nodes, edges))
    same(await snapshot(case.store), {"s": ([nodes[1]], [edges[1]], None)}, "what is stored")


@check("G-7")
async def the_order_of_a_mutation(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    loop = Edge("아리아", "KNOWS", "아리아")
    located = Edge("크룩", "LOCATED_AT", "숲", "", {"since": 3})
    again = Mutation(people("아리아"), (loop, located), ("아리아",), (EdgeKey("크룩", "LOCATED_AT", "숲"),))
    await store.apply("s", again)
    found = await store.neighbors("s", ["아리아", "크룩", "숲"])
    same(found, [loop, located], "edges after a node was deleted and put again")


@check("G-8")
async def deleted_nodes_take_their_edges(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    await store.apply("s", Mutation(delete_nodes=("크룩",)))
    left = [EdgeKey("아리아", "LOCATED_AT", "숲")]
    same(await edges_of(store, "아리아", "숲", "크룩"), left, "edges after the delete")
    await store.apply("s", Mutation(put_nodes=people("크룩")))
    same(await edges_of(store, "아리아", "숲", "크룩"), left, "edges after the node was put again")
    await store.apply("s", Mutation(put_nodes=people("아리아"), delete_nodes=("아리아",)))
    same(await edges_of(store, "아리아", "숲", "크룩"), [], "edges after a node was deleted and put in one mutation")


@check("G-9")
async def again_changes_nothing(case: Case) -> None:
    mutation = Mutation(TRIANGLE.put_nodes, TRIANGLE.put_edges, ("늑대", "없는 곳"), (EdgeKey("숲", "X", "숲"),), "t9")
    await case.store.apply("s", Mutation(put_nodes=people("늑대")))
    await case.store.apply("s", mutation)
    once = await snapshot(case.store)
    for _ in range(2):
        await case.store.apply("s", mutation)
        same(await snapshot(case.store), once, "after the same mutation again")


@check("G-10")
async def deleting_what_is_absent(case: Case) -> None:
    await case.store.apply("s", TRIANGLE)
    before = await snapshot(case.store)
    gone = (
        EdgeKey("크룩", "LOCATED_AT", "아리아"),
        EdgeKey("크룩", "X", "숲"),
        EdgeKey("누구", "X", "누구"),
        EdgeKey("크룩", "LOCATED_AT", "숲", "2"),
    )
    await case.store.apply("s", Mutation(delete_nodes=("누구",), delete_edges=gone))
    same(await snapshot(case.store), before, "what is stored")


@check("G-11")
async def dangling_edges_are_refused(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    for what, mutation in {
        "no target": Mutation(put_edges=(Edge("아리아", "T", "없음"),)),
        "no source": Mutation(put_edges=(Edge("없음", "T", "아리아"),)),
        "a target that it deletes": Mutation(put_edges=(Edge("아리아", "T", "크룩"),), delete_nodes=("크룩",)),
        "a target in another scope": Mutation(put_edges=(Edge("아리아", "T", "elsewhere"),)),
    }.items():
        await store.apply("t", Mutation(put_nodes=people("elsewhere")))
        await refused(BadInput, store.apply("s", mutation), f"an edge with {what}")
    await store.apply("s", Mutation(put_nodes=people("new"), put_edges=(Edge("new", "T", "아리아"),)))
    same(await edges_of(store, "new"), [EdgeKey("new", "T", "아리아")], "an edge of a node of the same mutation")


@check("G-12")
async def refused_mutations_change_nothing(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    before = await snapshot(store)
    new = people("new")
    for mutation in (
        Mutation(new, (Edge("new", "T", "없음"),), watermark="t2"),
        Mutation(new, (Edge("new", "T", "new"), Edge("없음", "T", "new")), delete_nodes=("숲",), watermark="t2"),
        Mutation(put_edges=(Edge("아리아", "T", "크룩"),), delete_nodes=("크룩",), watermark="t2"),
        Mutation((*new, Node("", "L")), watermark="t2"),
        Mutation((*new, Node("x", "")), delete_nodes=("아리아",)),
        Mutation(new, (Edge("new", "", "new"),), delete_edges=(TRIANGLE.put_edges[0].identity,)),
        Mutation(new, delete_nodes=("",)),
        Mutation(new, watermark=""),
        Mutation((*new, Node("y", "L", {"v": float("nan")}))),
    ):
        for scope in ("s", "other"):
            await refused(BadInput, store.apply(scope, mutation), f"{mutation}")
        same(await snapshot(store), before, f"after {mutation}")
    same(await store.scopes(), ["s"], "the scopes")


@check("G-13")
async def types_come_back(case: Case) -> None:
    values = {**SCALARS, **TUPLES, **{f"text {index}": text for index, text in enumerate(case.texts)}}
    node, edge = Node("n", "L", values), Edge("n", "T", "n", "k", values)
    await case.store.apply("s", Mutation((node, Node("bare", "L")), (edge, Edge("n", "T", "n"))))
    same(await case.store.get("s", ["n", "bare"]), {"n": node, "bare": Node("bare", "L")}, "get")
    same(await case.store.scan("s"), [Node("bare", "L"), node], "scan")
    same(await case.store.neighbors("s", ["n"]), [Edge("n", "T", "n"), edge], "neighbors")


@check("G-14")
async def malformed_values(case: Case) -> None:
    store = case.store
    await store.apply("s", Mutation(put_nodes=people("a")))
    for value in (*BAD_SCALARS, (1.0, float("nan")), ("nul\0",), ((1,),), (["list"],)):
        properties: Any = {"v": value}
        await refused(BadInput, store.apply("s", Mutation((Node("a", "L", properties),))), f"a node with {value!r}")
        edge = Edge("a", "T", "a", "", properties)
        await refused(BadInput, store.apply("s", Mutation(put_edges=(edge,))), f"an edge with {value!r}")
    for name in case.bad_names:
        bad: Any = {name: 1}
        await refused(BadInput, store.apply("s", Mutation((Node("a", "L", bad),))), f"the field name {name!r}")
    same(await snapshot(store), {"s": (list(people("a")), [], None)}, "the contents after rejected mutations")


@check("G-15")
async def names_as_given(case: Case) -> None:
    store = case.store
    for label in case.names:
        await store.apply("s", Mutation((Node(label, label, {label: label}),)))
    first, second = case.names[0], case.names[1]
    edges = tuple(
        Edge(first, kind, second, key) for kind in case.names for key in ("", *case.names[:4], case.names[-1])
    )
    await store.apply("s", Mutation(put_edges=edges))
    for name in case.names:
        same(await store.get("s", [name]), {name: Node(name, name, {name: name})}, f"get of {name!r}")
        same(await ids_of(store, label=name), [name], f"scan of the label {name!r}")
        same({edge.type for edge in await store.neighbors("s", [second], types=[name])}, {name}, f"the type {name!r}")
    found = {edge.identity for edge in await store.neighbors("s", [first])}
    same(sorted(found), sorted({edge.identity for edge in edges}), "edges that differ in type and key")
    await store.apply("s", Mutation(delete_nodes=(case.names[4],), delete_edges=(edges[1].identity,)))
    same(sorted(await store.get("s", case.names)), sorted({*case.names} - {case.names[4]}), "after one was deleted")
    same(len(await store.neighbors("s", [first])), len(edges) - 1, "edges after one was deleted")


@check("G-29")
async def nobody_else_holds_what_is_stored(case: Case) -> None:
    store = case.store
    properties: dict[str, Any] = {"hp": 100}
    await store.apply("s", Mutation((Node("n", "L", properties),), (Edge("n", "T", "n", "", properties),)))
    wanted = {"s": ([Node("n", "L", {"hp": 100})], [Edge("n", "T", "n", "", {"hp": 100})], None)}
    properties["hp"] = 0
    properties["mood"] = "dead"
    same(await snapshot(store), wanted, "the contents after the caller changed its arguments")
    got = await store.get("s", ["n"])
    scanned = await store.scan("s")
    near = await store.neighbors("s", ["n"])
    for given in (got["n"], scanned[0], near[0]):
        try:
            given.properties["hp"] = 0
        except TypeError:  # the mapping is immutable
            continue
    for kept in (scanned, near, await store.scopes()):
        kept.clear()
    got.clear()
    same(await snapshot(store), wanted, "the contents after the reader changed its results")
    same(await store.get("s", ["n"]), {"n": Node("n", "L", {"hp": 100})}, "get after the reader changed its results")


MET, HOSTILE = EdgeKey("아리아", "RELATES_TO", "크룩", "met"), EdgeKey("아리아", "RELATES_TO", "크룩")
ARIA_AT, KRUK_AT = EdgeKey("아리아", "LOCATED_AT", "숲"), EdgeKey("크룩", "LOCATED_AT", "숲")


@check("G-16")
async def get_gives_those_that_exist(case: Case) -> None:
    await case.store.apply("s", TRIANGLE)
    found = await case.store.get("s", ["숲", "없음", "숲", "아리아"])
    same(found, {"숲": people("숲")[0], "아리아": people("아리아")[0]}, "get")
    same(await case.store.get("s", []), {}, "get of no ids")


@check("G-17")
async def neighbors_are_seen_from_the_ids(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    same(await edges_of(store, "크룩"), [HOSTILE, MET, KRUK_AT], "neighbors in both directions")
    same(await edges_of(store, "크룩", direction="out"), [KRUK_AT], "outgoing neighbors")
    same(await edges_of(store, "크룩", direction="in"), [HOSTILE, MET], "incoming neighbors")
    same(await edges_of(store, "크룩", "아리아", direction="in"), [HOSTILE, MET], "incoming neighbors of two ids")
    same(await edges_of(store), [], "neighbors of no ids")
    same(await edges_of(store, "없음"), [], "neighbors of an unknown id")
    await store.apply("s", Mutation(put_edges=(Edge("숲", "T", "숲"), Edge("숲", "T", "아리아"))))
    loop, back = EdgeKey("숲", "T", "숲"), EdgeKey("숲", "T", "아리아")
    same(await edges_of(store, "숲", types=["T"]), [loop, back], "a loop, both ways")
    same(await edges_of(store, "숲", types=["T"], direction="out"), [loop, back], "a loop, out")
    same(await edges_of(store, "숲", types=["T"], direction="in"), [loop], "a loop, in")


@check("G-18")
async def neighbors_once_and_in_order(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    same(await edges_of(store, "크룩", "아리아", "크룩"), [ARIA_AT, HOSTILE, MET, KRUK_AT], "neighbors of both ends")
    names = case.names[:12]
    edges = [EdgeKey(a, kind, b, key) for a in names[:4] for b in names[4:8] for kind in names[8:] for key in ("", "1")]
    wanted = sorted(edges, key=lambda key: (key.source, key.type, key.target, key.key))
    mutation = Mutation(
        people(*names), tuple(Edge(key.source, key.type, key.target, key.key) for key in reversed(edges))
    )
    await store.apply("t", mutation)
    same(await edges_of(store, *names, scope="t"), wanted, "the order of many edges")


@check("G-19")
async def types_choose(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    both = ["RELATES_TO", "LOCATED_AT"]
    same(await edges_of(store, "크룩", "아리아", types=["LOCATED_AT"]), [ARIA_AT, KRUK_AT], "one type")
    same(await edges_of(store, "크룩", types=[*both, "RELATES_TO"]), [HOSTILE, MET, KRUK_AT], "two types")
    same(await edges_of(store, "크룩", types=["NO_SUCH"]), [], "an unknown type")
    same(await edges_of(store, "크룩", types=[]), [], "no types")


@check("G-20")
async def neighbors_keep_to_the_limit(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    order = [ARIA_AT, HOSTILE, MET, KRUK_AT]
    for limit in (1, 2, 3, 4, 5, 10**30):
        same(await edges_of(store, "크룩", "아리아", limit=limit), order[:limit], f"limit {limit}")
    same(await edges_of(store, "크룩", "아리아", types=["LOCATED_AT"], limit=2), [ARIA_AT, KRUK_AT], "limit with types")
    same(await edges_of(store, "크룩", direction="out", limit=1), [KRUK_AT], "limit with a direction")


@check("G-21")
async def keys_tell_parallel_edges_apart(case: Case) -> None:
    store = case.store
    edges = tuple(Edge("a", "T", "b", key, {"key": key}) for key in ("", "0", "1", "2", "None", "가"))
    await store.apply("s", Mutation(people("a", "b"), edges))
    same(await store.neighbors("s", ["a"]), list(edges), "parallel edges")
    await store.apply("s", Mutation(delete_edges=(EdgeKey("a", "T", "b"), EdgeKey("a", "T", "b", "2"))))
    same(await store.neighbors("s", ["b"]), [*edges[1:3], *edges[4:]], "parallel edges after two were deleted")
    alike = tuple(Edge("b", "T", "a", key, {"n": 1}) for key in ("", "1", "2"))
    await store.apply("s", Mutation(put_edges=alike))
    same(await store.neighbors("s", ["b"], direction="out"), list(alike), "parallel edges with equal properties")


@check("G-22")
async def scan_in_pages(case: Case) -> None:
    store = case.store
    await store.apply("s", Mutation(people(*reversed(case.names))))
    order = sorted(case.names, key=points)
    same(await ids_of(store), order, "scan")
    for limit in (1, 7, 10**30):
        same(await ids_of(store, limit=limit), order[:limit], f"limit {limit}")
    for at in (0, 5, len(order) - 1):
        same(await ids_of(store, after=order[at], limit=4), order[at + 1 : at + 5], f"after {order[at]!r}")
    same(await ids_of(store, after="a!"), [name for name in order if name > "a!"], "after an unknown id")
    many = people(*(f"n{number:04}" for number in range(1_100)))
    for part in case.batches(many):
        await store.apply("t", Mutation(tuple(part)))
    same(await store.scan("t"), list(many[:1_000]), "the default limit")


@check("G-23")
async def scan_by_label(case: Case) -> None:
    store = case.store
    nodes = tuple(Node(f"n{index}", "Odd" if index % 2 else "Even") for index in range(7))
    await store.apply("s", Mutation(nodes))
    same(await ids_of(store, label="Odd"), ["n1", "n3", "n5"], "a label")
    same(await ids_of(store, label="Odd", limit=2), ["n1", "n3"], "a label with a limit")
    same(await ids_of(store, label="Odd", after="n1", limit=1), ["n3"], "a label with after")
    same(await ids_of(store, label="None"), [], "an unknown label")


@check("G-24")
async def watermarks(case: Case) -> None:
    store = case.store
    same(await store.watermark("s"), None, "watermark of an unknown scope")
    await store.apply("s", Mutation(put_nodes=people("a")))
    same(await store.watermark("s"), None, "watermark before one was set")
    await store.apply("s", Mutation(watermark="턴 1"))
    same(await store.watermark("s"), "턴 1", "watermark after one was set")
    await store.apply("s", Mutation(put_nodes=people("b"), delete_nodes=("a",)))
    same(await store.watermark("s"), "턴 1", "watermark after a mutation without one")
    await store.apply("s", Mutation(put_nodes=people("c"), watermark="턴 2"))
    same(await store.watermark("s"), "턴 2", "watermark after another one was set")


@check("G-25")
async def drop_removes_everything(case: Case) -> None:
    store = case.store
    for scope in ("s", "s/2", "t"):
        await store.apply(scope, TRIANGLE)
    other: Any = await snapshot(store)
    await store.drop("s")
    del other["s"]
    same(await snapshot(store), other, "the other scopes")
    same(await store.watermark("s"), None, "the watermark of a dropped scope")
    await store.apply("s", Mutation(put_nodes=people("아리아")))
    same(await snapshot(store), {"s": (list(people("아리아")), [], None), **other}, "the scope, created again")


@check("G-26")
async def unknown_scopes_are_empty(case: Case) -> None:
    store = case.store
    same(await store.get("s", ["a"]), {}, "get")
    same(await store.neighbors("s", ["a"]), [], "neighbors")
    same(await store.scan("s"), [], "scan")
    same(await store.watermark("s"), None, "watermark")
    same(await store.scopes(), [], "scopes after reading")
    await store.drop("s")
    same(await store.scopes(), [], "scopes after dropping")


@check("G-27")
async def malformed_arguments(case: Case) -> None:
    store = case.store
    await store.apply("s", TRIANGLE)
    before = await snapshot(store)
    for scope in ("s", "unknown"):
        for limit in (0, -1, 1.0, "1", True):
            await refused(BadInput, store.neighbors(scope, ["숲"], limit=limit), f"neighbors with limit {limit!r}")
            await refused(BadInput, store.scan(scope, limit=limit), f"scan with limit {limit!r}")
        for direction in ("sideways", "", None, "OUT"):
            await refused(BadInput, store.neighbors(scope, ["숲"], direction=direction), f"direction {direction!r}")
        await refused(BadInput, store.neighbors(scope, "숲"), "a string in place of ids")
        await refused(BadInput, store.neighbors(scope, ["숲"], types="T"), "a string in place of types")
        await refused(BadInput, store.get(scope, "숲"), "a string in place of ids")
        for name in case.bad_names:
            await refused(BadInput, store.get(scope, [name]), f"get of {name!r}")
            await refused(BadInput, store.neighbors(scope, [name]), f"neighbors of {name!r}")
            await refused(BadInput, store.neighbors(scope, [], types=[name]), f"the type {name!r}")
            if name is not None:
                await refused(BadInput, store.scan(scope, after=name), f"after {name!r}")
                await refused(BadInput, store.scan(scope, label=name), f"the label {name!r}")
                await refused(BadInput, store.apply(scope, Mutation(watermark=name)), f"the watermark {name!r}")
            if name != "":
                edge = Edge("숲", "T", "숲", name)
                await refused(BadInput, store.apply(scope, Mutation(people("숲"), (edge,))), f"the key {name!r}")
    for name in case.bad_names:
        for made in (
            store.apply(name, Mutation(watermark="t")),
            store.get(name, []),
            store.neighbors(name, []),
            store.scan(name),
            store.watermark(name),
            store.drop(name),
        ):
            await refused(BadInput, made, f"the scope {name!r}")
    same(await snapshot(store), before, "the contents after rejected calls")


def _web() -> Mutation:
    """A mutation with a chain, a ring and an isolated node, and edges of two types."""
    chain = [Edge(f"n{index}", "RIGHT" if index % 2 else "LEFT", f"n{index + 1}") for index in range(7)]
    ring = [Edge("r0", "RIGHT", "r1"), Edge("r1", "LEFT", "r2"), Edge("r2", "RIGHT", "r0"), Edge("n2", "LEFT", "r0")]
    ends = sorted({end for edge in (*chain, *ring) for end in (edge.source, edge.target)})
    return Mutation(people(*ends, "alone"), (*chain, *ring, Edge("alone", "LEFT", "alone")))


@check("G-30")
async def expand_walks(case: Case) -> None:
    store, model = case.store, GraphModel()
    await store.apply("s", _web())
    model.apply("s", _web())
    for ids in (["n0"], ["n2", "없음"], ["n0", "r1"], ["alone"], [], ["없음"], ["n3", "n3"]):
        for hops in range(5):
            for types in (None, ["LEFT"], ["LEFT", "RIGHT"], []):
                wanted = model.expand("s", ids, hops=hops, types=types)
                found = await store.expand("s", ids, hops=hops, types=types)
                same(found, wanted, f"{hops} hops from {ids} over {types}")
    same(await store.expand("unknown", ["n0"], hops=2), {}, "expand in an unknown scope")


@check("G-31")
async def expand_refuses_other_hops(case: Case) -> None:
    await case.store.apply("s", _web())
    for hops in (-1, 5, 1.0, "1", None, True):
        await refused(BadInput, case.store.expand("s", ["n0"], hops=hops), f"hops {hops!r}")


@check("G-32")
async def expand_is_not_supported(case: Case) -> None:
    await case.store.apply("s", TRIANGLE)
    before = await snapshot(case.store)
    for scope in ("s", "unknown"):
        await refused(NotSupported, case.store.expand(scope, ["숲"], hops=1), "expand")
    same(await snapshot(case.store), before, "after expand was refused")


@check("G-33")
async def query_reads_rows(case: Case) -> None:
    raw = case.harness.raw
    require(raw is not None, "the harness provides RAW_QUERY without statements; set raw=RawRead(…)")
    if raw is None:
        return
    await case.store.apply("s", TRIANGLE)
    rows: Any = await case.store.query(raw.rows, timeout=10.0, limit=100)
    require(isinstance(rows, list) and len(rows) >= 2, f"query gave {rows!r}; expected two rows or more")
    require(all(isinstance(row, dict) for row in rows), f"query gave {rows!r}; expected dicts as rows")
    same(len(await case.store.query(raw.rows, timeout=10.0, limit=1)), 1, "the number of rows with limit 1")


@check("G-34")
async def query_does_not_write(case: Case) -> None:
    raw = case.harness.raw
    require(raw is not None and raw.writes, "the harness provides RAW_QUERY without RawRead.writes")
    await case.store.apply("s", TRIANGLE)
    before = await snapshot(case.store)
    for text in raw.writes if raw is not None else ():
        await refused(SagaError, case.store.query(text, timeout=10.0, limit=10), f"query of {text!r}")
        same(await snapshot(case.store), before, f"after {text!r}")


@check("G-37")
async def query_ends_in_time(case: Case) -> None:
    """Malformed timeouts are rejected. A tiny timeout ends in rows or an error, and the store works afterwards."""
    raw, store = case.harness.raw, case.store
    require(raw is not None, "the harness provides RAW_QUERY without statements; set raw=RawRead(…)")
    if raw is None:
        return
    await store.apply("s", TRIANGLE)
    for timeout in (0, -1.0, "1", None, True, float("nan")):
        await refused(BadInput, store.query(raw.rows, timeout=timeout, limit=5), f"the timeout {timeout!r}")
    for limit in (0, -1, 1.0, "1", None, True):
        await refused(BadInput, store.query(raw.rows, timeout=10.0, limit=limit), f"the limit {limit!r}")
    for timeout in (1e-6, 1e-3):
        async with case.patience():
            rows: Any = await answer(store, call("query", raw.rows, timeout=timeout, limit=5))
        ended = isinstance(rows, list | Refused)
        require(ended, f"query within {timeout:g} seconds gave {rows!r}; expected rows or a SagaError")
    rows = await store.query(raw.rows, timeout=10.0, limit=100)
    require(len(rows) >= 2, f"a query after one with a tiny timeout gave {rows!r}")


@check("G-35")
async def query_is_not_supported(case: Case) -> None:
    await case.store.apply("s", TRIANGLE)
    before = await snapshot(case.store)
    await refused(NotSupported, case.store.query("MATCH (n) RETURN n", timeout=1.0, limit=1), "query")
    same(await snapshot(case.store), before, "after query was refused")


_RARE = 50
"""One in this number of nodes has another label, and its edges another type. The rare ones alone are still many."""
_HUBS = 30
"""The number of nodes that share the edges to be deleted, because engines take long for nodes with very many edges."""


def _nodes(count: int, mark: str = "") -> list[Node]:
    labels = [*["Often"] * (_RARE - 1), "Rare"]
    return [Node(f"i{n:06}", labels[n % _RARE], {"n": n, "mark": mark}) for n in range(count)]


def _edges(nodes: list[Node], *, hubs: int) -> list[Edge]:
    """An edge from one of the first ``hubs`` nodes to each node, two to rare nodes, in the order of ``neighbors``."""
    made = [
        Edge(nodes[n % hubs].id, f"T{node.label}", node.id, key, {"n": n})
        for n, node in enumerate(nodes)
        for key in (("", "again") if node.label == "Rare" else ("",))
    ]
    return sorted(made, key=lambda edge: (edge.source, edge.type, edge.target, edge.key))


async def _put_nodes(case: Case, scope: str, nodes: list[Node]) -> None:
    for batch in case.batches(nodes[::-1]):
        await case.store.apply(scope, Mutation(tuple(batch)))


async def _put_edges(case: Case, scope: str, edges: list[Edge]) -> None:
    for batch in case.batches(edges[::-1]):
        await case.store.apply(scope, Mutation(put_edges=tuple(batch)))


@check("G-4", "G-12", "G-16", "G-22", "G-23", "G-28", "G-36", durable=("L-11",))
async def many_nodes(case: Case) -> None:
    """Read many nodes by ``get``, one scan and pages. Put a whole batch at once, and reject another."""
    store, count = case.store, case.profile.population
    made = _nodes(count)
    most = min(case.harness.limits.batch, count)
    ends = [made[0].id, made[most // 2].id, made[most - 1].id]

    async def there() -> int:
        return len(await store.get("s", ends))

    putting = store.apply("s", Mutation(tuple(made[:most])))
    await at_once(putting, there, (0, len(set(ends))), f"a mutation of {most} nodes", clause="G-36")
    if made[most:]:
        await _put_nodes(case, "s", made[most:])
    whole(await store.scan("s", limit=count + 1), made, f"scan of {count} that were put", clause="G-22 G-4")
    found = await store.scan("s", limit=count - 1)
    whole(found, made[:-1], f"scan of {count} with limit {count - 1}", clause="G-22")
    for batch in case.batches(made):
        ids = [node.id for node in batch]
        whole(await store.get("s", ids), {node.id: node for node in batch}, f"get of {len(ids)}", clause="G-16")

    async def page(after: str | None) -> list[Node]:
        return list(await store.scan("s", after=after, limit=PAGE))

    await in_pages(page, lambda node: node.id, made, f"{count} nodes", clause="G-22")
    for label in ("Often", "Rare"):
        wanted = [node for node in made if node.label == label]
        found = await store.scan("s", label=label, limit=count)
        whole(found, wanted, f"scan of a label among {count}", clause="G-23")
    fresh = [Node(f"new{n}", "L") for n in range(most - 1)]
    dangling = Mutation(tuple(fresh), (Edge("new0", "T", "nowhere"),))
    await refused(BadInput, store.apply("s", dangling), f"{most - 1} nodes and an edge to nowhere")
    bad: Any = Mutation((*fresh, Node("x", "L", {"v": object()})))  # type: ignore[dict-item]
    await refused(BadInput, store.apply("s", bad), f"{most - 1} nodes and a malformed one")
    whole(await store.scan("s", limit=count + 1), made, f"after {most} nodes were refused", clause="G-12")
    store = await again(case)
    whole(await store.scan("s", limit=count + 1), made, f"{count} nodes, opened again", clause="L-11")


@check("G-5", "G-8", "G-10", "G-11", "G-17", "G-19", "G-20", "G-25")
async def many_edges(case: Case) -> str:
    """Many edges of one node and of several. Drop them with their scope, delete them, and delete their nodes."""
    store, count = case.store, await affordable(case, partial(_connect, case))
    made = _nodes(count)
    ids, hub = [node.id for node in made], made[0].id
    await _put_nodes(case, "s", made)
    star = _edges(made, hubs=1)
    await _put_edges(case, "s", star)
    whole(await store.neighbors("s", [hub]), star, f"{len(star)} edges of a node", clause="G-5 G-17")
    most = min(case.harness.limits.batch, count)
    loops = [Edge(hub, f"T{n}", hub, "loop") for n in range(most - 1)]
    dangling = Mutation(put_edges=(*loops, Edge(hub, "T", "nowhere")))
    await refused(BadInput, store.apply("s", dangling), f"{len(loops)} edges and one to nowhere")
    await store.drop("s")
    await _put_nodes(case, "s", made[1:-1])
    found = await store.scan("s", limit=count + 1)
    whole(found, made[1:-1], f"a scope created again, after {count} were dropped", clause="G-25")
    await _put_nodes(case, "s", [made[0], made[-1]])
    found = await store.neighbors("s", ids[:most], limit=5)
    same(found, [], f"edges of a scope created again, after {len(star)} were dropped", clause="G-25")
    spread = _edges(made, hubs=_HUBS)
    await _put_edges(case, "s", spread)
    await _read(case, ids, spread)
    await _deleted(case, made, spread)
    return f"{len(spread)} edges"


async def _connect(case: Case, scope: str, count: int) -> None:
    loops = tuple(Edge("n", f"T{n}", "n") for n in range(count - 1))
    await case.store.apply(scope, Mutation((Node("n", "L"),), loops))


async def _read(case: Case, ids: list[str], spread: list[Edge]) -> None:
    store, hubs = case.store, ids[:_HUBS]
    for limit in (len(spread) - 1, len(spread) + 1):
        found = await store.neighbors("s", hubs, direction="out", limit=limit)
        whole(found, spread[:limit], f"{limit} of {len(spread)} edges", clause="G-20")
    many = [*(f"X{n}" for n in range(min(case.harness.limits.batch, len(ids)) - 1)), "TOften"]
    found = await store.neighbors("s", hubs, types=many)
    wanted = [edge for edge in spread if edge.type == "TOften"]
    whole(found, wanted, f"edges of one type, asked for with {len(many)} types", clause="G-19")
    for batch in case.batches(ids[_HUBS:]):
        names = frozenset(batch)
        found = await store.neighbors("s", batch, direction="in")
        wanted = [edge for edge in spread if edge.target in names]
        whole(found, wanted, f"the edges that arrive at {len(batch)} nodes", clause="G-17")


async def _deleted(case: Case, made: list[Node], spread: list[Edge]) -> None:
    store, most = case.store, min(case.harness.limits.batch, len(made))
    ids = [node.id for node in made]
    await store.apply("s", Mutation(delete_edges=tuple(edge.identity for edge in spread[:most])))
    found = await store.neighbors("s", ids[:_HUBS])
    whole(found, spread[most:], f"after {most} of {len(spread)} edges were deleted", clause="G-10")
    await _put_edges(case, "s", spread[:most])
    await store.apply("s", Mutation(delete_nodes=tuple(ids[:most])))
    found = await store.scan("s", limit=len(made) + 1)
    whole(found, made[most:], f"after {most} of {len(made)} nodes were deleted", clause="G-8")
    await _put_nodes(case, "s", made[:_HUBS])
    found = await store.neighbors("s", ids[:_HUBS], limit=5)
    same(found, [], f"edges of nodes that were deleted with {len(spread)} edges and put again", clause="G-8")


@check("G-30")
async def expand_among_many(case: Case) -> None:
    store, count = case.store, case.profile.population
    made = _nodes(count)
    await _put_nodes(case, "s", made)
    await _put_edges(case, "s", _edges(made, hubs=1))
    reached = {node.id: 0 if node is made[0] else 1 for node in made}
    whole(await store.expand("s", [made[0].id], hops=1), reached, f"one hop to {count}", clause="G-30")
    ids = [node.id for node in made[: case.harness.limits.batch]]
    found = await store.expand("s", ids, hops=0)
    whole(found, dict.fromkeys(ids, 0), f"no hop from {len(ids)}", clause="G-30")


@check("G-3", "G-24", "G-25", durable=("L-11",))
async def many_scopes(case: Case) -> str:
    """Create as many scopes as the store can in the time of the profile."""
    store = case.store
    names = await as_many_scopes(
        case, lambda name: store.apply(name, Mutation((Node("n", "L", {"of": name}),), watermark=name))
    )
    whole(await store.scopes(), names, f"{len(names)} scopes", clause="G-3")
    for name in some(names):
        same(await store.watermark(name), name, f"the watermark of one of {len(names)} scopes", clause="G-24")
        same(await store.scan(name), [Node("n", "L", {"of": name})], f"one of {len(names)} scopes", clause="G-24")
    middle = names[len(names) // 2]
    for gone in (names[-1], middle):
        await store.drop(gone)
        require(await store.watermark(gone) is None, f"{gone} was dropped but has a watermark", clause="G-25")
    left = [name for name in names[:-1] if name != middle]
    whole(await store.scopes(), left, f"{len(left)} scopes after two were dropped", clause="G-25")
    store = await again(case)
    whole(await store.scopes(), left, f"{len(left)} scopes, opened again", clause="L-11")
    for name in some(left):
        same(await store.watermark(name), name, f"the watermark of one of {len(left)}, opened again", clause="L-11")
        same(await store.scan(name), [Node("n", "L", {"of": name})], "the scope of that name", clause="L-11")
    return f"{len(names)} scopes"


def _sized_nodes(count: int) -> tuple[Node, ...]:
    return tuple(Node(f"i{n:06}", "Odd" if n % 2 else "Even", {"n": n, "t": f"{count}:{n}"}) for n in range(count))


def _star(count: int, mark: str = "") -> tuple[Edge, ...]:
    """An edge from the first node to each node, including itself, in the order of ``neighbors``."""
    edges = [Edge("i000000", f"T{n % 3}", f"i{n:06}", str(n % 2), {"n": n, "mark": mark}) for n in range(count)]
    return tuple(sorted(edges, key=lambda edge: edge.identity))


@check("G-4", "G-6", "G-16", "G-22", "G-23", "G-24")
async def nodes_at_every_size(case: Case) -> None:
    store = case.store
    for count in case.sizes:
        scope, made = f"n{count}", list(_sized_nodes(count))
        await store.apply(scope, Mutation(tuple(reversed(made)), watermark=f"w{count}"))
        same(await store.watermark(scope), f"w{count}", f"the watermark of {count} nodes", clause="G-24")
        ids = [node.id for node in made]
        same(await store.get(scope, ids), {node.id: node for node in made}, f"get of {count}", clause="G-16")
        for limit in {max(1, count - 1), count, count + 1}:
            found = await store.scan(scope, limit=limit)
            same(found, made[:limit], f"scan of {count} with limit {limit}", clause="G-22")
        same(await store.scan(scope), made[:1_000], f"scan of {count} without a limit", clause="G-22")
        middle = count // 2
        behind = await store.scan(scope, after=ids[middle], limit=count)
        same(behind, made[middle + 1 :], f"scan behind the {middle + 1}th of {count}", clause="G-22")
        even = await store.scan(scope, label="Even", limit=count)
        same(even, made[::2], f"scan of a label among {count}", clause="G-23")
        if count > 1:
            await _twice(store, scope, made)
        await store.drop(scope)


async def _twice(store: Any, scope: str, made: list[Node]) -> None:
    """Put the first of many nodes again as the last one."""
    last = Node(made[0].id, "Other", {"last": True})
    await store.apply(scope, Mutation((*made[:-1], last)))
    found = await store.get(scope, [made[0].id])
    same(found, {last.id: last}, f"a node put first and last of {len(made)}", clause="G-6")
    same(await store.scan(scope, label="Other", limit=5), [last], "its label", clause="G-4")


@check("G-5", "G-8", "G-10", "G-17", "G-18", "G-19", "G-20")
async def edges_at_every_size(case: Case) -> None:
    store = case.store
    for count in (size for size in case.profile.edges if size <= case.harness.limits.batch):
        scope, star = f"n{count}", list(_star(count))
        ids = [node.id for node in _sized_nodes(count)]
        await store.apply(scope, Mutation(_sized_nodes(count)))
        await store.apply(scope, Mutation(put_edges=tuple(reversed(star))))
        same(await store.neighbors(scope, ids[:1], direction="out"), star, f"{count} edges of a node", clause="G-17")
        same(await store.neighbors(scope, ids), star, f"the edges of {count} nodes", clause="G-18")
        arriving = [edge for edge in star if edge.target != ids[0]]
        found_in = await store.neighbors(scope, ids[1:], direction="in")
        same(found_in, arriving, f"the edges that arrive at {count - 1} nodes", clause="G-17")
        last = [edge for edge in star if edge.target == ids[-1]]
        same(await store.neighbors(scope, ids[-1:], direction="in"), last, "those of the last node", clause="G-17")
        for limit in {max(1, count - 1), count}:
            found = await store.neighbors(scope, ids[:1], limit=limit)
            same(found, star[:limit], f"{limit} of {count} edges", clause="G-20")
        many = [f"X{n}" for n in range(min(200, case.harness.limits.batch - 1))]
        of_one = [edge for edge in star if edge.type == "T1"]
        same(await store.neighbors(scope, ids[:1], types=[*many, "T1"]), of_one, "with many types", clause="G-19")
        for limit in {1, len(of_one) // 2 + 1, len(of_one) + 1}:
            found = await store.neighbors(scope, ids[:1], types=["T1"], limit=limit)
            same(found, of_one[:limit], f"{limit} edges of one type among {count}", clause="G-20")
        await _changed(store, scope, count)
        await store.drop(scope)


async def _changed(store: Any, scope: str, count: int) -> None:
    again = list(_star(count, "again"))
    await store.apply(scope, Mutation(put_edges=tuple(again)))
    hub = ["i000000"]
    same(await store.neighbors(scope, hub), again, f"{count} edges put again", clause="G-5")
    gone = tuple(edge.identity for edge in again[: count - 1])
    await store.apply(scope, Mutation(delete_edges=gone))
    same(await store.neighbors(scope, hub), again[count - 1 :], f"after {count - 1} edges were deleted", clause="G-10")
    await store.apply(scope, Mutation(put_edges=tuple(again)))
    await store.apply(scope, Mutation(delete_nodes=("i000000",)))
    await store.apply(scope, Mutation(put_nodes=(Node("i000000", "Even"),)))
    same(await store.neighbors(scope, hub), [], f"after a node with {count} edges was deleted", clause="G-8")
    if count > 1:
        same(await store.neighbors(scope, ["i000001"]), [], "at the other end", clause="G-8")


@check("G-12", "G-25")
async def refused_and_dropped(case: Case) -> None:
    """Reject large mutations and drop large scopes. Nothing of them may remain."""
    store = case.store
    for count in (size for size in case.profile.edges if size <= case.harness.limits.batch):
        made = list(_sized_nodes(count))
        await store.apply("s", Mutation(tuple(made)))
        if count < case.harness.limits.batch:
            fresh = tuple(Node(f"new{n}", "L") for n in range(count))
            dangling = Mutation(fresh, (Edge("new0", "T", "nowhere"),))
            await refused(BadInput, store.apply("s", dangling), f"{count} nodes and an edge to nowhere")
            bad: Any = Mutation((*fresh, Node("x", "L", {"v": object()})))  # type: ignore[dict-item]
            await refused(BadInput, store.apply("s", bad), f"{count} nodes and a malformed one")
            await refused(BadInput, store.apply("other", dangling), f"{count} nodes and an edge to nowhere")
        same(await store.scan("s", limit=count + 1), made, f"after {count} nodes were refused", clause="G-12")
        same(await store.scopes(), ["s"], "the scopes", clause="G-12")
        await store.apply("s", Mutation(put_edges=_star(min(count, max(case.profile.edges)))))
        same(await store.get("s", [made[-1].id]), {made[-1].id: made[-1]}, "get before the drop")
        await store.drop("s")
        same(await store.scopes(), [], f"the scopes after one of {count} nodes was dropped", clause="G-25")
        same(await store.get("s", [made[-1].id]), {}, "get in a scope that was dropped", clause="G-25")
        await store.apply("s", Mutation(tuple(made)))
        same(await store.neighbors("s", [made[0].id]), [], "edges of a scope created again", clause="G-25")
        await store.drop("s")
        await store.apply("s", Mutation(put_nodes=(Node("alone", "L"),)))
        same(await store.scan("s", limit=5), [Node("alone", "L")], "the scope created again", clause="G-25")
        same(await store.get("s", [made[-1].id]), {}, "get in the scope created again", clause="G-25")
        await store.drop("s")


@check("G-13")
async def properties_at_every_size(case: Case) -> None:
    """Long texts, many properties and long tuples must be read unchanged."""
    store = case.store
    for size in case.byte_sizes(256):
        middle = size // 2
        node = Node("n", "L", {"t": "x" * middle + "z" + "x" * (size - middle - 2) + "y", "beside": 1})
        await store.apply("s", Mutation((node,), (Edge("n", "T", "n", "", {"t": "y" + "x" * (size - 1)}),)))
        found = (await store.get("s", ["n"]))["n"].properties["t"]
        same(len(found), size, "the length of a text")
        require(found == node.properties["t"], f"a text of {size} came back changed")
        edited = Node("n", "L", {**node.properties, "t": "x" * (size - 1) + "y"})
        await store.apply("s", Mutation((edited,)))
        found = (await store.get("s", ["n"]))["n"].properties["t"]
        require(found == edited.properties["t"], f"an edit in the middle of a text of {size} was not seen")
        (edge,) = await store.neighbors("s", ["n"])
        same((edge.properties["t"][:1], len(edge.properties["t"])), ("y", size), f"a text of {size} at an edge")
    wide = {f"p{n:03}": n for n in range(300)}
    parts = tuple(range(1_001))
    many = Node("n", "L", {**wide, "tuple": parts})
    await store.apply("s", Mutation((many,), (Edge("n", "T", "n", "", {**wide, "tuple": parts}),)))
    same(await store.get("s", ["n"]), {"n": many}, "300 properties and a tuple of 1,001")
    (edge,) = await store.neighbors("s", ["n"])
    same(edge.properties, many.properties, "300 properties and a tuple of 1,001 at an edge")


@check("G-30")
async def expand_at_every_size(case: Case) -> None:
    store = case.store
    for count in (size for size in case.profile.edges if size <= case.harness.limits.batch):
        await store.apply("s", Mutation(_sized_nodes(count)))
        await store.apply("s", Mutation(put_edges=_star(count)))
        reached = {node.id: 0 if node.id == "i000000" else 1 for node in _sized_nodes(count)}
        same(await store.expand("s", ["i000000"], hops=1), reached, f"one hop to {count}")
        same(await store.expand("s", list(reached), hops=0), dict.fromkeys(reached, 0), f"no hop from {count}")
        around = await store.expand("s", [f"i{count - 1:06}"], hops=2)
        same(sorted(around), sorted(reached), f"two hops to {count}")
        await store.drop("s")
