"""Every operation of GraphStore at every size, with a comparison of the contents."""

from __future__ import annotations

from typing import Any

from conformance.assertions import refused, require, same
from conformance.case import Case
from conformance.check import check
from saga_core.errors import BadInput
from saga_core.stores import Edge, Mutation, Node


def _nodes(count: int) -> tuple[Node, ...]:
    return tuple(Node(f"i{n:06}", "Odd" if n % 2 else "Even", {"n": n, "t": f"{count}:{n}"}) for n in range(count))


def _star(count: int, mark: str = "") -> tuple[Edge, ...]:
    """An edge from the first node to each node, including itself, in the order of ``neighbors``."""
    edges = [Edge("i000000", f"T{n % 3}", f"i{n:06}", str(n % 2), {"n": n, "mark": mark}) for n in range(count)]
    return tuple(sorted(edges, key=lambda edge: edge.identity))


@check("G-4", "G-6", "G-16", "G-22", "G-23", "G-24")
async def nodes(case: Case) -> None:
    store = case.store
    for count in case.sizes:
        scope, made = f"n{count}", list(_nodes(count))
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
async def edges(case: Case) -> None:
    store = case.store
    for count in (size for size in case.profile.edges if size <= case.harness.limits.batch):
        scope, star = f"n{count}", list(_star(count))
        ids = [node.id for node in _nodes(count)]
        await store.apply(scope, Mutation(_nodes(count)))
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
        made = list(_nodes(count))
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
async def properties(case: Case) -> None:
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
async def expand(case: Case) -> None:
    store = case.store
    for count in (size for size in case.profile.edges if size <= case.harness.limits.batch):
        await store.apply("s", Mutation(_nodes(count)))
        await store.apply("s", Mutation(put_edges=_star(count)))
        reached = {node.id: 0 if node.id == "i000000" else 1 for node in _nodes(count)}
        same(await store.expand("s", ["i000000"], hops=1), reached, f"one hop to {count}")
        same(await store.expand("s", list(reached), hops=0), dict.fromkeys(reached, 0), f"no hop from {count}")
        around = await store.expand("s", [f"i{count - 1:06}"], hops=2)
        same(sorted(around), sorted(reached), f"two hops to {count}")
        await store.drop("s")
