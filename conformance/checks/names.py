"""Checks of names that engines may confuse, in keys, scopes, ids, labels, types and fields, with every method."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import Any

from conformance.assertions import same
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import SPEC, filled, item
from conformance.inputs import ALIKE, FIELDS, SEPARATORS, pages
from conformance.oracles import points
from saga_core.stores import Batch, Compare, Edge, Exists, Key, Mutation, Node, Pages, VectorItem

EAST = (1.0, 0.0)


def _pairs() -> list[Key]:
    """Keys that become equal if their segments are joined by a separator, with or without escaping."""
    found: list[Key] = [("a", "b"), ("ab",), ("a", "b", "c"), ("ab", "c"), ("a", "bc")]
    for sign in SEPARATORS:
        found += [(f"a{sign}b",), (f"a{sign}", "b"), ("a", f"{sign}b"), (f"a{sign}b", "c"), ("a", f"b{sign}c")]
        found += [(f"a\\{sign}b",), ("a", sign, "b")]
    found += [("a~1b",), ("a~b",), ("a%2Fb",), ("a\\", "b"), ('a","b',), ("('a', 'b')",)]
    found += [(name, "x") for name in ALIKE] + [("x", name) for name in ALIKE]
    return list(dict.fromkeys(found))


@check("S-3", "S-5")
async def keys_that_look_alike(case: Case) -> None:
    store, pairs = case.store, _pairs()
    entries = {key: repr(key).encode() for key in pairs}
    for part in case.batches(pairs):
        await store.commit(Batch({key: entries[key] for key in part}))
    same(await store.get(pairs), entries, "get of keys that look alike", clause="S-3")
    same(await store.scan((), limit=len(pairs) + 1), sorted(entries.items()), "scan of these keys", clause="S-3")
    for prefix in {key[:1] for key in pairs}:
        wanted = sorted(entry for entry in entries.items() if entry[0][:1] == prefix)
        same(await store.scan(prefix), wanted, f"scan of {prefix!r}", clause="S-5")
    for key in pairs:
        absent = (*key, "absent")
        same(await store.get([key, absent]), {key: entries[key]}, f"get of {key!r}", clause="S-3")
    for key in pairs:  # expectations, puts and deletes concern this key and no other
        await store.commit(Batch({key: b"new"}), expected={key: entries[key]})
        await store.commit(Batch(deletes=frozenset({key})), expected={key: b"new"})
        del entries[key]
        found = await store.get([key, *entries][: len(pairs)])
        if found != entries:  # types are compared only now, because there are many entries
            same(found, entries, f"after {key!r} was deleted", clause="S-3")
    await _absent(case)


async def _absent(case: Case) -> None:
    """Check that an absent name is not taken for an existing name that looks like it."""
    store = case.store
    for name, other in pairwise(ALIKE):
        await store.commit(Batch({(name,): b"1"}))
        same(await store.get([(other,)]), {}, f"get of {other!r} beside {name!r}", clause="S-3")
        same(await store.scan((other,)), [], f"scan of {other!r} beside {name!r}", clause="S-5")
        await store.commit(Batch(deletes=frozenset({(other,)})), expected={(other,): None})
        same(await store.get([(name,)]), {(name,): b"1"}, f"{name!r} after {other!r} was deleted", clause="S-3")
        await store.commit(Batch(deletes=frozenset({(name,)})))


@check("G-2", "G-25")
async def scopes_that_look_alike_in_a_graph(case: Case) -> None:
    """Read each scope with every method, then drop the scopes one by one."""
    store, left = case.store, list(ALIKE)
    for name in ALIKE:
        nodes = (Node("n", name, {"of": name}), Node("m", "L"))
        await store.apply(name, Mutation(nodes, (Edge("n", "T", "m", "", {"of": name}),), watermark=f"of {name}"))
    for name in left:
        await _graph_reads(store, name)
    while left:
        middle = len(left) // 2
        gone = left.pop(middle)
        await store.drop(gone)
        same(await store.scopes(), sorted(left, key=points), f"scopes after {gone!r} was dropped", clause="G-25")
        same(await store.scan(gone), [], f"scan of the dropped {gone!r}", clause="G-2")
        same(await store.get(gone, ["n"]), {}, f"get in the dropped {gone!r}", clause="G-2")
        same(await store.neighbors(gone, ["n"]), [], f"neighbors in the dropped {gone!r}", clause="G-2")
        same(await store.watermark(gone), None, f"the watermark of the dropped {gone!r}", clause="G-2")
        for name in left[max(0, middle - 2) : middle + 2]:
            await _graph_reads(store, name)


async def _graph_reads(store: Any, name: str) -> None:
    node = Node("n", name, {"of": name})
    same(await store.get(name, ["n"]), {"n": node}, f"get in {name!r}", clause="G-2")
    same(await store.scan(name, label=name), [node], f"scan of {name!r}", clause="G-2")
    same(await store.neighbors(name, ["n"]), [Edge("n", "T", "m", "", {"of": name})], f"edge in {name!r}", clause="G-2")
    same(await store.watermark(name), f"of {name}", f"watermark of {name!r}", clause="G-2")


@check("G-15", "G-19", "G-21", "G-23")
async def names_that_look_alike_in_a_graph(case: Case) -> None:
    """Ids, labels, types and keys that look alike, in pairs and all together, and edges whose joined names match."""
    store = case.store
    for name, other in pairwise(ALIKE):
        await store.apply("s", Mutation((Node(name, name), Node("hub", "Hub")), (Edge("hub", name, name, name),)))
        same(await store.get("s", [other]), {}, f"get of {other!r} beside {name!r}", clause="G-15")
        same(await store.scan("s", label=other), [], f"scan of the label {other!r} beside {name!r}", clause="G-23")
        found = await store.neighbors("s", ["hub"], types=[other])
        same(found, [], f"neighbors of the type {other!r} beside {name!r}", clause="G-19")
        await store.apply(
            "s", Mutation(delete_nodes=(other,), delete_edges=(Edge("hub", other, name, other).identity,))
        )
        same(await store.get("s", [name]), {name: Node(name, name)}, f"{name!r} with {other!r} deleted", clause="G-15")
        same(len(await store.neighbors("s", ["hub"])), 1, f"edges of {name!r} with {other!r} deleted", clause="G-15")
        await store.drop("s")
    nodes = tuple(Node(name, name, {name: name}) for name in ALIKE)
    await store.apply("s", Mutation(nodes))
    for name in ALIKE:
        same(await store.scan("s", label=name), [Node(name, name, {name: name})], f"the label {name!r}", clause="G-23")
    await _joined_edges(store)


async def _joined_edges(store: Any) -> None:
    """Check edges that become equal if their four names are joined."""
    names = [("a", "b", "c", "d")]
    for sign in SEPARATORS:
        if sign != "\0":
            names += [(f"a{sign}b", "c", "d", ""), ("a", f"b{sign}c", "d", ""), ("a", "b", f"c{sign}d", "")]
            names += [("a", "b", "c", f"{sign}d"), (f"a{sign}", "b", "c", "d"), ("a", f"{sign}b", "c", "d")]
    edges = [Edge(source, kind, target, key, {"at": at}) for at, (source, kind, target, key) in enumerate(names)]
    edges += [Edge("a", "b", "c", ""), Edge("ab", "c", "d", ""), Edge("a", "bc", "d", ""), Edge("a", "b", "cd", "")]
    ends = sorted({end for edge in edges for end in (edge.source, edge.target)})
    await store.apply("edges", Mutation(tuple(Node(end, "L") for end in ends), tuple(edges)))
    wanted = sorted(edges, key=lambda edge: edge.identity)
    same(await store.neighbors("edges", ends), wanted, "edges whose joined names are equal", clause="G-21")
    await store.apply("edges", Mutation(delete_edges=(edges[0].identity,)))
    wanted.remove(edges[0])
    same(await store.neighbors("edges", ends), wanted, "after one of them was deleted", clause="G-21")


@check("G-13", "G-15")
async def fields_of_an_engine_in_a_graph(case: Case) -> None:
    """Property names that an engine may use itself, and texts that look like other values."""
    store = case.store
    named: dict[str, Any] = {name: f"mine {name}" for name in FIELDS}
    texts = {f"text {at}": text for at, text in enumerate(_VALUES)}
    node, edge = Node("n", "L", {**named, **texts}), Edge("n", "T", "n", "k", {**named, **texts})
    await store.apply("s", Mutation((node,), (edge,)))
    same(await store.get("s", ["n"]), {"n": node}, "get", clause="G-15")
    same(await store.scan("s", label="L"), [node], "scan", clause="G-15")
    same(await store.neighbors("s", ["n"]), [edge], "neighbors", clause="G-15")
    tuples = Node("t", "L", {"tuple": (1, 2), "text": "[1, 2]", "both": ("[1, 2]", "(1, 2)"), "one": ("",)})
    await store.apply("s", Mutation((tuples,)))
    same(await store.get("s", ["t"]), {"t": tuples}, "tuples and texts that look like tuples", clause="G-13")


_VALUES = (
    *("[1, 2]", "(1, 2)", '["a"]', '{"a": 1}', '"quoted"', "null", "true", "1.0", "1e3", "0x10", "i:1", "s:1", "s:"),
    *("t:a", "b:1", "n:", "f:1.5", "NaN", "Infinity", "2024-01-01T00:00:00Z", "\ufeffmark", "a\ufeff", "\u200b", " a "),
)


@check("G-2")
async def names_that_join_alike_in_a_graph(case: Case) -> None:
    """The node ``b/c`` of the scope ``a`` is not the node ``c`` of the scope ``a/b``."""
    store = case.store
    for sign in (sign for sign in SEPARATORS if sign != "\0"):
        one, other = ("a", f"b{sign}c"), (f"a{sign}b", "c")
        await store.apply(one[0], Mutation((Node(one[1], "One"),), watermark="one"))
        await store.apply(other[0], Mutation((Node(other[1], "Other"),), watermark="other"))
        same(await store.scan(one[0]), [Node(one[1], "One")], f"{one} beside {other}")
        same(await store.get(other[0], [other[1]]), {other[1]: Node(other[1], "Other")}, f"{other} beside {one}")
        await store.drop(one[0])
        same(await store.scan(other[0]), [Node(other[1], "Other")], f"{other} after {one[0]!r} was dropped")
        await store.drop(other[0])


@check("V-5", "V-24")
async def scopes_that_look_alike_in_vectors(case: Case) -> None:
    """Read each scope with every method, then drop the scopes one by one."""
    store, left = case.store, list(ALIKE)
    for name in ALIKE:
        await filled(store, name, item("n", text=name, of=name), item(name, 0.0, 1.0))
    names = {name: sorted(("n", name), key=points) for name in ALIKE}
    for name in left:
        same([each.id for each in await store.scan(name)], names[name], f"scan of {name!r}", clause="V-5")
    while left:
        middle = len(left) // 2
        name = left.pop(middle)
        same((await store.get(name, ["n"]))["n"].text, name, f"get in {name!r}", clause="V-5")
        hits = await store.query([name], EAST, 1)
        same([hit.text for hit in hits], [name], f"query of {name!r}", clause="V-5")
        same(await store.count(name, where=Compare("of", "eq", name)), 1, f"count of {name!r}", clause="V-5")
        same(await store.describe(name), SPEC, f"describe of {name!r}", clause="V-5")
        same(await store.delete(name, ids=["n"]), 1, f"delete in {name!r}", clause="V-5")
        same(await store.count(name), 1, f"count of {name!r} after the delete", clause="V-5")
        for other in left[max(0, middle - 2) : middle + 2]:
            same(await store.count(other), 2, f"{other!r} after a delete in {name!r}", clause="V-5")
        await store.drop(name)
        same(await store.scopes(), sorted(left, key=points), f"scopes after {name!r} was dropped", clause="V-24")
        same(await store.describe(name), None, f"describe of the dropped {name!r}", clause="V-5")
        same(await store.count(name), 0, f"count of the dropped {name!r}", clause="V-5")


@check("V-11", "V-20", "V-22")
async def names_that_look_alike_in_vectors(case: Case) -> None:
    """Ids that look alike, and field names that an engine may use itself."""
    store = case.store
    for name, other in pairwise(ALIKE):
        await filled(store, "s", item(name, text=name))
        same(await store.get("s", [other]), {}, f"get of {other!r} beside {name!r}", clause="V-22")
        same(await store.delete("s", ids=[other]), 0, f"delete of {other!r} beside {name!r}", clause="V-22")
        same(await store.count("s"), 1, f"{name!r} after {other!r} was deleted", clause="V-22")
        same(await store.delete("s", ids=[name]), 1, f"delete of {name!r}", clause="V-22")
    await store.drop("s")
    metadata: dict[str, Any] = {name: f"mine {name}" for name in FIELDS}
    wanted = VectorItem("n", array("f", EAST), "its text", metadata)
    await filled(store, "s", wanted, item("other", 0.0, 1.0))
    same(await store.get("s", ["n"]), {"n": wanted}, "get", clause="V-11")
    (hit,) = await store.query(["s"], EAST, 1)
    same((hit.id, hit.text, hit.metadata), ("n", "its text", metadata), "the hit", clause="V-11")
    for name in FIELDS:
        where = Compare(name, "eq", f"mine {name}")
        same([hit.id for hit in await store.query(["s"], EAST, 5, where=where)], ["n"], f"{where}", clause="V-20")
        same(await store.count("s", where=Exists(name)), 1, f"count where {name!r} exists", clause="V-20")
        other = name.swapcase()
        if other != name and other not in FIELDS:
            same(await store.count("s", where=Exists(other)), 0, f"count where {other!r} exists", clause="V-20")


@check("V-5")
async def names_that_join_alike_in_vectors(case: Case) -> None:
    """The item ``b:c`` of the scope ``a`` is not the item ``c`` of the scope ``a:b``."""
    store = case.store
    for sign in (sign for sign in SEPARATORS if sign != "\0"):
        one, other = ("a", f"b{sign}c"), (f"a{sign}b", "c")
        await filled(store, one[0], item(one[1], text="one"))
        await filled(store, other[0], item(other[1], text="other"))
        same(await store.scan(one[0]), [item(one[1], text="one")], f"{one} beside {other}")
        same(await store.scan(other[0]), [item(other[1], text="other")], f"{other} beside {one}")
        await store.drop(one[0])
        same(await store.count(other[0]), 1, f"{other} after {one[0]!r} was dropped")
        await store.drop(other[0])


@check("C-4", "C-6")
async def scopes_that_look_alike_in_a_cache(case: Case) -> None:
    most = case.harness.limits.name_chars
    store, left = case.store, [*ALIKE, "y" * most, "y" * (most - 1) + "z"]
    written: dict[str, Pages] = {}
    for name in left:
        written[name] = pages(f"of {name}", f"t {name}"[:200])
        await store.write(name, written[name])
    while left:
        name = left.pop(len(left) // 2)
        same(await store.read(name), written[name], f"read of {name!r}", clause="C-4")
        await store.drop(name)
        same(await store.read(name), None, f"read of the dropped {name!r}", clause="C-4")
        same(await store.scopes(), sorted(left, key=points), f"scopes after {name!r} was dropped", clause="C-6")
        for other in left[len(left) // 2 - 2 :][:4]:
            same(await store.read(other), written[other], f"{other!r} after {name!r} was dropped", clause="C-6")
