"""GraphStore, writing: clause by clause."""

from __future__ import annotations

from typing import Any

from conformance.assertions import refused, same
from conformance.calls import snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import TRIANGLE, edges_of, ids_of, people
from conformance.inputs import BAD_SCALARS, SCALARS, TUPLES
from saga_core.errors import BadInput
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
    same(await case.store.scopes(), sorted(case.names, key=lambda name: [ord(sign) for sign in name]), "scopes")


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
