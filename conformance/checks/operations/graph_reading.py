"""GraphStore, reading and capabilities: clause by clause."""

from __future__ import annotations

from typing import Any

from conformance.assertions import Refused, refused, require, same
from conformance.calls import answer, call, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import TRIANGLE, edges_of, ids_of, people
from conformance.models import GraphModel
from saga_core.errors import BadInput, NotSupported, SagaError
from saga_core.stores import Edge, EdgeKey, Mutation, Node

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
    order = sorted(case.names, key=lambda name: [ord(sign) for sign in name])
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
