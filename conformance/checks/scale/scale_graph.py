"""A GraphStore that holds many nodes and edges, written and read in the largest calls that its limits allow."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.assertions import refused, require, same
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import PAGE, affordable, again, as_many_scopes, at_once, in_pages, some, whole
from saga_core.errors import BadInput
from saga_core.stores import Edge, Mutation, Node

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
async def nodes(case: Case) -> None:
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
async def edges(case: Case) -> str:
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
async def expand(case: Case) -> None:
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
async def scopes(case: Case) -> str:
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
