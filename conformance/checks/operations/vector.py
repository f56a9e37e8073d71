"""VectorStore, scopes and items: clause by clause."""

from __future__ import annotations

import math
from array import array
from typing import Any

from conformance.assertions import refused, require, same
from conformance.calls import snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import SPEC, filled, ids_of, item
from conformance.inputs import BAD_SCALARS, SCALARS, SURROGATE
from saga_core.errors import BadInput, NotFound, ScopeMismatch
from saga_core.stores import Exists, ScopeSpec, VectorItem


@check("V-1")
async def scopes_are_created(case: Case) -> None:
    store = case.store
    same(await store.describe("s"), None, "describe before create")
    await filled(store, "s", item("a"))
    same(await store.describe("s"), SPEC, "describe")
    await store.create("s", ScopeSpec("ngram-1/2", 2))
    same(await store.scan("s"), [item("a")], "the contents after a second create with an equal spec")
    await store.create("빈", ScopeSpec("한국어/모델", 384))
    same(await store.describe("빈"), ScopeSpec("한국어/모델", 384), "describe of an empty scope")


@check("V-2")
async def another_spec_is_a_mismatch(case: Case) -> None:
    store = case.store
    await filled(store, "s", item("a"))
    for other in (ScopeSpec("ngram-1/2", 3), ScopeSpec("e5", 2), ScopeSpec("ngram-1/2 ", 2), ScopeSpec("NGRAM-1/2", 2)):
        await refused(ScopeMismatch, store.create("s", other), f"create with {other}")
        same(await store.describe("s"), SPEC, f"describe after {other}")
    same(await store.scan("s"), [item("a")], "what is stored")


@check("V-3")
async def malformed_specs(case: Case) -> None:
    bad: list[Any] = [("", 2), (SURROGATE, 2), (None, 2), ("e", 0), ("e", -1), ("e", 1.0), ("e", "2"), ("e", None)]
    for embedder, dimension in (*bad, ("e", True)):
        spec = ScopeSpec(embedder, dimension)
        await refused(BadInput, case.store.create("s", spec), f"{spec}")
    same(await case.store.scopes(), [], "the scopes")


@check("V-4")
async def unknown_scopes(case: Case) -> None:
    store = case.store
    same(await store.describe("s"), None, "describe")
    same(await store.get("s", ["a"]), {}, "get")
    same(await store.scan("s"), [], "scan")
    same(await store.count("s"), 0, "count")
    same(await store.count("s", where=Exists("x")), 0, "count with a filter")
    same(await store.query(["s"], (1.0, 0.0), 3), [], "query")
    same(await store.delete("s", ids=["a"]), 0, "delete by id")
    same(await store.delete("s", where=Exists("x")), 0, "delete by filter")
    await store.drop("s")
    await refused(NotFound, store.upsert("s", [item("a")]), "upsert")
    await refused(NotFound, store.upsert("s", []), "upsert of nothing")
    same(await store.scopes(), [], "the scopes after calls on an unknown scope")


@check("V-5")
async def scopes_are_apart(case: Case) -> None:
    store, names = case.store, case.names
    for name in reversed(names):
        await filled(store, name, item("a", text=name), item("b"))
    same(await store.scopes(), sorted(names, key=lambda name: [ord(sign) for sign in name]), "scopes")
    for name in names:
        same([found.text for found in await store.scan(name, limit=1)], [name], f"scan of {name!r}")
        (hit,) = await store.query([name], (1.0, 0.0), 1)
        same(hit.text, name, f"query of {name!r}")
    same(await store.delete(names[0], ids=["a"]), 1, "delete in the first")
    same(await store.count(names[1]), 2, "count in the second")


@check("V-6")
async def upserts_replace(case: Case) -> None:
    store = case.store
    await filled(store, "s", item("a", 1.0, 0.0, text="old", n=1, gone=True), item("b"))
    twice = [item("a", 0.0, 2.0, text="하나", n=2, also=1), item("a", 0.0, 3.0, text="둘", n=3), item("c")]
    await store.upsert("s", twice)
    await store.upsert("s", [])
    same(await store.scan("s"), [twice[1], item("b"), item("c")], "what is stored")
    same([hit.id for hit in await store.query(["s"], (0.0, 1.0), 1)], ["a"], "the nearest item to the new vector")
    same(await store.count("s", where=Exists("gone")), 0, "count of a field that only the old item has")


@check("V-7")
async def refused_upserts_change_nothing(case: Case) -> None:
    store = case.store
    await filled(store, "s", item("a"))
    before = await snapshot(store)
    bad: dict[str, tuple[Any, type[Any]]] = {
        "a vector of another dimension": (item("b", 1.0), ScopeMismatch),
        "NaN": (item("b", math.nan, 0.0), BadInput),
        "an empty id": (item("", 1.0, 0.0), BadInput),
        "a list in its metadata": (item("b", n=[1]), BadInput),
        "no item at all": ("no item", BadInput),
    }
    for what, (last, error) in bad.items():
        await refused(error, store.upsert("s", [item("a", 0.0, 1.0), item("c"), last]), f"an upsert with {what}")
        same(await snapshot(store), before, f"after an upsert with {what}")


@check("V-8")
async def dimensions_must_agree(case: Case) -> None:
    store = case.store
    await filled(store, "s", item("a"))
    await filled(store, "t", item("a", 1.0, 0.0, 0.0), spec=ScopeSpec("e", 3))
    await store.create("empty", SPEC)
    for vector in ((1.0,), (1.0, 0.0, 0.0), ()):
        wrong = VectorItem("b", vector)
        await refused(ScopeMismatch, store.upsert("s", [wrong]), f"upsert of {len(vector)} components")
        await refused(ScopeMismatch, store.upsert("empty", [wrong]), f"the first upsert, of {len(vector)} components")
        await refused(ScopeMismatch, store.query(["s"], vector, 1), f"query with {len(vector)} components")
        await refused(ScopeMismatch, store.query(["empty"], vector, 1), "query of an empty scope")
    for scopes in (["s", "t"], ["t", "s"]):
        await refused(ScopeMismatch, store.query(scopes, (1.0, 0.0), 1), f"query of {scopes}")


@check("V-9")
async def malformed_items(case: Case) -> None:
    store = case.store
    await filled(store, "s", item("a"))
    before = await snapshot(store)
    vectors: list[Any] = [(math.nan, 0.0), (math.inf, 0.0), (0.0, -math.inf), (1e39, 0.0), ("1", "2"), "12", None, 1]
    for vector in vectors:
        await refused(BadInput, store.upsert("s", [VectorItem("b", vector)]), f"the vector {vector!r}")
    for value in (*BAD_SCALARS, (1, 2), ()):
        await refused(BadInput, store.upsert("s", [item("b", n=value)]), f"the metadata {value!r}")
    for name in case.bad_names:
        bad: Any = VectorItem(name, (1.0, 0.0))
        await refused(BadInput, store.upsert("s", [bad]), f"the id {name!r}")
        field: Any = VectorItem("b", (1.0, 0.0), "", {name: 1})
        await refused(BadInput, store.upsert("s", [field]), f"the field name {name!r}")
    texts: list[Any] = ["nul\0", SURROGATE, None, b"bytes", 1]
    for text in texts:
        await refused(BadInput, store.upsert("s", [VectorItem("b", (1.0, 0.0), text)]), f"the text {text!r}")
    same(await snapshot(store), before, "the contents after rejected items")


@check("V-10")
async def vectors_in_32_bits(case: Case) -> None:
    store, given = case.store, [0.1, -1e-45]
    await store.create("s", SPEC)
    for vector in (given, tuple(given), array("f", given), array("d", given), [3.0e38, 16_777_217], [1, 0]):
        await store.upsert("s", [VectorItem("a", vector)])
        wanted = array("f", vector)
        for found in ((await store.get("s", ["a"]))["a"], (await store.scan("s"))[0]):
            require(isinstance(found.vector, array), f"the vector is a {type(found.vector).__name__}")
            same(found.vector, wanted, "the vector")


@check("V-11")
async def text_and_types_come_back(case: Case) -> None:
    store = case.store
    items = [VectorItem(f"i{index}", array("f", (1.0, 0.0)), text, SCALARS) for index, text in enumerate(case.texts)]
    named = [item(f"n{name}"[: case.harness.limits.name_chars]) for name in case.names]
    await filled(store, "s", *items, *named)
    for wanted in (*items, *named):
        same(await store.get("s", [wanted.id]), {wanted.id: wanted}, f"get of {wanted.id!r}")
    for hit in await store.query(["s"], (1.0, 0.0), 20, where=Exists("한글")):
        wanted = items[int(hit.id[1:])]
        same((hit.text, hit.metadata), (wanted.text, wanted.metadata), f"the hit {hit.id}")
    same(len(await store.query(["s"], (1.0, 0.0), 20, where=Exists("한글"))), len(items), "the number of hits")
    same(await store.scan("s", limit=len(items)), items, "scan")


@check("V-12")
async def get_gives_those_that_exist(case: Case) -> None:
    await filled(case.store, "s", item("숲", text="t"), item("a"))
    same(await case.store.get("s", ["숲", "없음", "숲"]), {"숲": item("숲", text="t")}, "get")
    same(await case.store.get("s", []), {}, "get of no ids")


@check("V-13")
async def scan_in_pages(case: Case) -> None:
    store = case.store
    await filled(store, "s", *(item(name) for name in reversed(case.names)))
    order = sorted(case.names, key=lambda name: [ord(sign) for sign in name])
    same(await ids_of(store), order, "scan")
    for limit in (1, 7, 10**30):
        same(await ids_of(store, limit=limit), order[:limit], f"limit {limit}")
    for at in (0, 5, len(order) - 1):
        same(await ids_of(store, after=order[at], limit=4), order[at + 1 : at + 5], f"after {order[at]!r}")
    same(await ids_of(store, after="a!"), [name for name in order if name > "a!"], "after an unknown id")
    many = [item(f"n{number:04}") for number in range(1_100)]
    for part in case.batches(many):
        await filled(store, "t", *part)
    same(await store.scan("t"), many[:1_000], "the default limit")


@check("V-22")
async def delete_by_id_or_filter(case: Case) -> None:
    store = case.store
    await filled(store, "s", *(item(f"i{number}", n=number) for number in range(6)), item("bare"))
    same(await store.delete("s", ids=["i0", "없음", "i0"]), 1, "delete by ids")
    await store.upsert("s", [item("twice"), item("once")])
    same(await store.delete("s", ids=["twice", "once", "twice"]), 2, "delete by ids, one of them named twice")
    same(await store.delete("s", ids=[]), 0, "delete of no ids")
    same(await store.delete("s", where=Exists("m")), 0, "delete by a filter that nothing passes")
    arguments: list[dict[str, Any]] = [{}, {"ids": ["i1"], "where": Exists("n")}, {"ids": [], "where": Exists("n")}]
    for options in arguments:
        await refused(BadInput, store.delete("s", **options), f"delete with {options}")
    same(await ids_of(store), ["bare", "i1", "i2", "i3", "i4", "i5"], "what is left")
    same(await store.delete("s", where=Exists("n")), 5, "delete by a filter")
    same(await ids_of(store), ["bare"], "what is left")
    same([hit.id for hit in await store.query(["s"], (1.0, 0.0), 9)], ["bare"], "query after the deletes")


@check("V-23")
async def count_says_how_many(case: Case) -> None:
    store = case.store
    await store.create("s", SPEC)
    same(await store.count("s"), 0, "count of an empty scope")
    await store.upsert("s", [item("a", n=1), item("b", n=None), item("c")])
    await store.upsert("s", [item("a", n=2)])
    same(await store.count("s"), 3, "count of all")
    same(await store.count("s", where=Exists("n")), 2, "count with a filter")
    await store.delete("s", ids=["a"])
    same(await store.count("s"), 2, "count after a delete")


@check("V-24")
async def drop_removes_everything(case: Case) -> None:
    store = case.store
    for scope in ("s", "s/2", "t"):
        await filled(store, scope, item("a"))
    await store.drop("s")
    await store.drop("s")
    same(await store.scopes(), ["s/2", "t"], "the scopes")
    same(await store.describe("s"), None, "the spec of the dropped scope")
    same(await store.get("s", ["a"]), {}, "the items of the dropped scope")
    same(await store.count("s/2"), 1, "the other scope")
    await store.create("s", ScopeSpec("e5", 3))
    same(await store.scan("s"), [], "scan after the scope was created again with another spec")
    await store.upsert("s", [item("b", 1.0, 2.0, 3.0)])
    same(await store.scan("s"), [item("b", 1.0, 2.0, 3.0)], "scan after an upsert into the new scope")


@check("V-27")
async def nobody_else_holds_what_is_stored(case: Case) -> None:
    store = case.store
    vector, metadata = array("f", [1.0, 0.0]), {"n": 1}
    await filled(store, "s", VectorItem("a", vector, "", metadata))
    before = {"s": ((SPEC.embedder, SPEC.dimension), [item("a", n=1)])}
    vector[0], metadata["n"], metadata["m"] = 9.0, 2, 3
    same(await snapshot(store), before, "the contents after the caller changed its arguments")
    hits = await store.query(["s"], (1.0, 0.0), 1)
    scanned, got = await store.scan("s"), await store.get("s", ["a"])
    for given in (got["a"], scanned[0]):
        given.vector[0] = 7.0
    for given in (got["a"], scanned[0], hits[0]):
        try:
            given.metadata["n"] = 3
        except TypeError:  # the mapping is immutable
            continue
    for kept in (hits, scanned, await store.scopes()):
        kept.clear()
    same(await snapshot(store), before, "the contents after the reader changed its results")
    (hit,) = await store.query(["s"], (1.0, 0.0), 1)
    same((hit.score, hit.metadata), (1.0, {"n": 1}), "a hit after the reader changed an earlier hit")
