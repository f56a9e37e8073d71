"""Other processes and other names of a path. Results must depend on neither."""

from __future__ import annotations

import asyncio
import os
from itertools import pairwise
from random import Random
from typing import Any

from conformance.assertions import refused, require, same, typed
from conformance.calls import Call, answer, call, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.inputs import ALIKE, FIELDS, SCALARS, TUPLES, samples
from conformance.models import MODELS, Model, expected
from conformance.processes import read_elsewhere
from conformance.spec import STORED
from conformance.strategies import STRATEGIES, planned
from saga_core.capabilities import Capability
from saga_core.errors import StoreLocked
from saga_core.stores import Batch, Edge, Key, Mutation, Node, Pages, ScopeSpec, VectorItem
from saga_core.values import PAGE_NAMES


def _many(kind: str) -> list[Call]:
    """Writes of enough entries of every kind that an order by hash would show."""
    names = [f"이름 {number}" for number in range(40)]
    if kind == "state":
        entries: dict[Key, bytes] = {("many", name): name.encode() for name in names}
        return [call("commit", Batch({**entries, ("\ufeffmark",): b"1", ("a\0b", "\uffff"): b"2"}))]
    if kind == "graph":
        nodes = tuple(
            Node(name, f"L{at % 3}", {"n": at, "f": float(at), "t": (at, name)}) for at, name in enumerate(names)
        )
        edges = tuple(Edge(one, "T", other) for one, other in pairwise(names))
        return [call("apply", "many", Mutation(nodes, edges, watermark="t1"))]
    if kind == "vector":
        items = [VectorItem(name, (1.0, at / 7), name, {"n": at, "f": float(at)}) for at, name in enumerate(names)]
        empty = call("create", "empty", ScopeSpec("e", 2))
        return [call("create", "many", ScopeSpec("e", 2)), call("upsert", "many", items), empty]
    return []


def _asked(kind: str, model: Model, random: Random) -> list[Call]:
    """Reads with every method, and for a StateKV conditional writes."""
    strategy = STRATEGIES[kind]
    made = [make(random, model) for _ in range(6) for make in strategy.reads.values()]
    names = [f"이름 {number}" for number in range(40)]
    if kind == "state":
        keys: list[Key] = [("many", name) for name in names]
        made += [call("get", keys), call("scan", ("many",)), call("get", [("\ufeffmark",), ("a\0b", "\uffff")])]
        known = model.get(keys)
        made.append(
            call("commit", Batch({("hit",): b"1"}), expected={keys[0]: known[keys[0]], keys[1]: known[keys[1]]})
        )
        made.append(call("commit", Batch({("miss",): b"1"}), expected={keys[0]: b"wrong"}))
        made.append(call("commit", Batch({("miss",): b"1"}), expected={keys[0]: None}))
    if kind == "graph":
        made += [call("get", "many", names), call("scan", "many"), call("scan", "many", label="L1")]
        made += [call("neighbors", "many", names), call("neighbors", "many", names[3:4], direction="in")]
        made.append(call("watermark", "many"))
    if kind == "vector":
        made += [call("get", "many", names), call("scan", "many"), call("query", ["many"], (1.0, 0.0), 40)]
        made += [call("count", "many"), call("describe", "empty"), call("scopes")]
    return made


@check("L-18", kinds=STORED)
async def another_process_reads(case: Case) -> None:
    """One process writes, another one with another hash salt reads with every method, and then this process does."""
    kind, random = case.harness.kind, case.random
    model: Model = MODELS[kind]()
    writes = [*planned(kind, random, 12), *_many(kind)]
    path = case.place("elsewhere")
    answers, _ = await read_elsewhere(case, path, writes, seed=1)
    wanted = [typed(expected(model, made)) for made in writes]
    require(answers == wanted, f"the writes gave {answers}, expected {wanted}")
    asked = _asked(kind, model, random)
    if Capability.APPROXIMATE in case.harness.provides:
        asked = [made for made in asked if made.method != "query"]
    answers, seen = await read_elsewhere(case, path, asked, seed=2)
    for made, found in zip(asked, answers, strict=True):
        known = typed(expected(model, made))
        require(found == known, f"{made} in another process gave {str(found)[:300]}, expected {str(known)[:300]}")
    require(seen == typed(model.snapshot()), "another process does not see what was written")
    store = await case.open("elsewhere")
    for made in asked:
        same(typed(await answer(store, made)), typed(expected(model, made)), f"{made} in this process")


@check("L-19", kinds=STORED)
async def other_names_of_a_path(case: Case) -> None:
    store: Any = case.store
    first = samples(case.harness.kind)[0]
    await answer(store, first)
    before = typed(await snapshot(store))
    await asyncio.to_thread(os.symlink, case.place("store"), case.place("link"))
    await refused(StoreLocked, case.open("link"), "opening the path by a symbolic link")
    relative = await asyncio.to_thread(os.path.relpath, case.place("store"))
    await refused(StoreLocked, case.harness.open(type(case.path)(relative)), "opening the path by a relative one")
    require(typed(await snapshot(store)) == before, "a rejected opening changed what the first store reads")
    await store.aclose()
    again = await case.open("link")
    require(typed(await snapshot(again)) == before, "opening by a symbolic link gives other contents")
    await again.aclose()


def _much(case: Case) -> list[Call]:
    """Writes of many entries, long values, look-alike names and values of every type, and many deletes."""
    kind, count, sizes = case.harness.kind, case.sizes[-1], case.byte_sizes(256)
    names = [f"n{n:06}" for n in range(count)]
    gone = names[: count // 2]
    alike = [*ALIKE, *(name + "\ufeff" for name in ALIKE[:5])]
    if kind == "state":
        values = {("v", str(size)): case.random.randbytes(size) for size in sizes}
        return [
            call("commit", Batch({("many", name): name.encode() for name in names})),
            call("commit", Batch({(name, name): name.encode() for name in alike})),
            *(call("commit", Batch({key: value})) for key, value in values.items()),
            call("commit", Batch(deletes=frozenset(("many", name) for name in gone))),
        ]
    if kind == "graph":
        properties = {**SCALARS, **TUPLES, **{name: name for name in FIELDS}}
        nodes = [Node(name, "L", {"n": at}) for at, name in enumerate(names)]
        long = [Node(f"long{size}", "L", {"t": "x" * size}) for size in sizes]
        made = [Mutation(tuple(nodes)), Mutation(tuple(Node(name, name) for name in alike))]
        made += [Mutation((node,)) for node in long]
        edges = (Edge("typed", "T", "typed", "k", properties),)
        made += [Mutation((Node("typed", "L", properties),), edges, watermark="w"), Mutation(delete_nodes=tuple(gone))]
        return [
            *(call("apply", "much", mutation) for mutation in made),
            call("apply", "empty", Mutation(watermark="t")),
        ]
    if kind == "vector":
        random = case.random
        items = [VectorItem(name, [random.gauss(0, 1), random.gauss(0, 1)], name, {"n": 1}) for name in names]
        odd = [VectorItem(name, (0.1, 1 / 3), name, SCALARS) for name in alike]
        long_ = [VectorItem(f"long{size}", (1.0, 0.0), "x" * size) for size in sizes]
        parts = [call("upsert", "much", part) for each in (items, odd) for part in case.batches(each)]
        parts += [call("upsert", "much", [each]) for each in long_]
        spec = ScopeSpec("e", 2)
        return [call("create", "much", spec), call("create", "empty", spec), *parts, call("delete", "much", ids=gone)]
    texts = [Pages(dict.fromkeys(PAGE_NAMES, "x" * size), str(size)) for size in sizes]
    return [call("write", name, texts[at % len(texts)]) for at, name in enumerate(alike)]


@check("L-11", kinds=STORED)
async def much_is_there_again(case: Case) -> None:
    """Write much data and read it, before and after reopening. Both must be what was written."""
    store = await case.open("much")
    model: Model = MODELS[case.harness.kind]()
    for made in _much(case):
        found, wanted = await answer(store, made), expected(model, made)
        require(typed(found) == typed(wanted), f"{str(made)[:200]} gave {found!r}, expected {wanted!r}")
    written = _written(model, case)
    before = await _everything(store, case)
    require(before == written, f"before closing: {_difference(written, before)}")
    again = await case.reopen(store, "much")
    after = await _everything(again, case)
    require(before == after, f"after reopening: {_difference(before, after)}")


async def _everything(store: Any, case: Case) -> Any:
    found: Any = await snapshot(store)
    edges = []
    if case.harness.kind == "graph":
        edges = [await store.neighbors("much", ["typed"]), await store.get("much", ["typed"])]
    return typed([found, edges])


def _written(model: Model, case: Case) -> Any:
    """What ``_everything`` must return, according to the oracle."""
    edges = []
    if case.harness.kind == "graph":
        edges = [model.neighbors("much", ["typed"]), model.get("much", ["typed"])]
    return typed([model.snapshot(), edges])


def _difference(one: Any, other: Any) -> str:
    """Describe the first difference of two typed values."""
    if type(one) is tuple and type(other) is tuple and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            if left != right:
                return _difference(left, right)
    return f"{str(one)[:300]} became {str(other)[:300]}"
