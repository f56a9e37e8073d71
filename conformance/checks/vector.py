"""Checks of a VectorStore: items, queries and filters, at every size and among many entries."""

from __future__ import annotations

import math
from array import array
from functools import partial
from random import Random
from time import perf_counter
from typing import Any

from conformance.assertions import refused, require, same
from conformance.calls import snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import (
    PAGE,
    SPEC,
    affordable,
    again,
    as_many_scopes,
    at_once,
    filled,
    ids_of,
    in_pages,
    item,
    some,
    whole,
)
from conformance.inputs import BAD_SCALARS, NFC, NFD, SCALARS, SURROGATE
from conformance.oracles import passes, points, score
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, NotFound, ScopeMismatch
from saga_core.stores import And, Compare, Exists, Filter, Not, Or, ScopeSpec, VectorItem, Within


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
    same(await store.scopes(), sorted(names, key=points), "scopes")
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
    order = sorted(case.names, key=points)
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


async def hits_of(
    store: Any, *vector: float, k: int = 99, scopes: tuple[str, ...] = ("s",), **options: Any
) -> list[Any]:
    """The ids and scores of a query's hits."""
    return [(hit.id, hit.score) for hit in await store.query(list(scopes), vector, k, **options)]


@check("V-14")
async def scores_are_cosines(case: Case) -> None:
    store = case.store
    plain = {"east": (2.0, 0.0), "north": (0.0, 0.5), "west": (-1.0, 0.0), "diagonal": (3.0, 3.0), "zero": (0.0, 0.0)}
    await filled(store, "s", *(VectorItem(name, vector) for name, vector in plain.items()))
    wanted = [("east", 1.0), ("diagonal", 0.707107), ("north", 0.0), ("zero", 0.0), ("west", -1.0)]
    same(await hits_of(store, 7.0, 0.0), wanted, "scores")
    same({found for _, found in await hits_of(store, 0.0, 0.0)}, {0.0}, "scores for a query vector of zeros")
    extreme = {
        "askew": (3e38, 0.0, 0.0),
        "long": (3e38, 3e38, 0.0),
        "mixed": (3e38, 1e-45, 0.0),
        "plain": (1.0, 1.0, 0.0),
        "short": (1e-45, 1e-45, 0.0),
    }
    items = [VectorItem(name, vector) for name, vector in extreme.items()]
    await filled(store, "t", *items, spec=ScopeSpec("e", 3))
    order = [("long", 1.0), ("plain", 1.0), ("short", 1.0), ("askew", 0.707107), ("mixed", 0.707107)]
    for asked in ((1.0, 1.0, 0.0), (3e38, 3e38, 0.0), (1e-45, 1e-45, 0.0)):
        same(await hits_of(store, *asked, scopes=("t",)), order, f"scores of very long and very short vectors, {asked}")
    # The vector has length 128, so the cosine is 1/128 = 0.0078125, halfway between 0.007812 and 0.007813.
    if case.harness.limits.dimension >= 4_096:
        middle = [1.0] + [2.0] * 4_091 + [3.0, 3.0, 1.0, 0.0]
        above = [1.0625, *middle[1:]]
        wide = ScopeSpec("e", 4_096)
        await filled(store, "u", VectorItem("b", middle), VectorItem("a", above), spec=wide)
        asked_wide = [1.0] + [0.0] * 4_095
        wanted = [("a", score(asked_wide, above)), ("b", 0.007812)]
        same(await hits_of(store, *asked_wide, scopes=("u",)), wanted, "a score halfway between two rounded values")


@check("V-15")
async def highest_first_then_by_id(case: Case) -> None:
    store = case.store
    names = case.names[:20]
    await filled(store, "s", *(item(name, 2.0, 2.0) for name in names), item("~", 1.0, 0.9), item("!", -1.0, 0.0))
    order = sorted(names, key=points)
    found = [name for name, _ in await hits_of(store, 5.0, 5.0)]
    _ordered(case, found, [*order, "~", "!"], 30, "the order of ties, and of the rest")
    for k in (1, 5, 20, 21):
        _ordered(case, [name for name, _ in await hits_of(store, 5.0, 5.0, k=k)], [*order, "~", "!"], k, f"k = {k}")
    await filled(store, "t", item(order[1], 1.0, 1.0, text="t"))
    for scopes in (["s", "t"], ["t", "s"]):
        hits = await store.query(scopes, (1.0, 1.0), 3)
        texts = ["t" if scope == "t" else "" for scope in scopes]
        known = [(order[0], ""), *((order[1], text) for text in texts), *((name, "") for name in order[2:])]
        _ordered(case, [(hit.id, hit.text) for hit in hits], known, 3, f"{scopes}")


def _ordered(case: Case, found: list[Any], wanted: list[Any], k: int, what: str) -> None:
    """Check for the first ``k`` in order. An approximate store may miss some, but has the others in order."""
    same(found, wanted[:k] if _exact(case) else [each for each in wanted if each in found][:k], what)


@check("V-16")
async def one_ranking_of_several_scopes(case: Case) -> None:
    store = case.store
    await filled(store, "s", item("a", 1.0, 0.0), item("c", 0.0, 1.0))
    await filled(store, "t", item("b", 1.0, 0.1), item("d", -1.0, 0.0))
    both = [name for name, _ in await hits_of(store, 1.0, 0.0, scopes=("s", "t"))]
    same(both, ["a", "b", "c", "d"], "query of both scopes")
    found = [name for name, _ in await hits_of(store, 1.0, 0.0, scopes=("t", "unknown", "s", "t"))]
    same(found, both, "a scope named twice and an unknown one")
    same([name for name, _ in await hits_of(store, 1.0, 0.0, scopes=("s", "t"), k=2)], ["a", "b"], "query cut to k")
    same(await hits_of(store, 1.0, 0.0, scopes=()), [], "query of no scopes")
    same([name for name, _ in await hits_of(store, 1.0, 0.0, scopes=("t",))], ["b", "d"], "query of one scope")


@check("V-17")
async def the_filter_comes_first(case: Case) -> None:
    store = case.store
    items = [item(f"i{n:02}", 1.0, n / 10, n=n, odd=bool(n % 2)) for n in range(60)]
    await filled(store, "s", *items)
    for where, wanted in {
        Compare("n", "gt", 54): ["i55", "i56", "i57"],
        Compare("odd", "eq", True): ["i01", "i03", "i05"],
        Within("n", (58, 30.0, "5")): ["i30", "i58"],
        Not(Compare("n", "lt", 58)): ["i58", "i59"],
    }.items():
        same([name for name, _ in await hits_of(store, 1.0, 0.0, k=3, where=where)], wanted, f"{where}")


FILTERED = [
    item("int", v=1),
    item("float", v=1.0),
    item("more", v=1.5),
    item("less", v=-3),
    item("true", v=True),
    item("false", v=False),
    item("zero", v=0),
    item("text", v="1"),
    item("word", v="크룩"),
    item("empty", v=""),
    item("big", v=2**53 + 1),
    item("null", v=None),
    item("none"),
    item("other", w=1),
]


async def _means(case: Case, *filters: Filter) -> None:
    """Check that query, count and delete follow the filter grammar."""
    store = case.store
    await filled(store, "s", *FILTERED)
    for where in filters:
        wanted = sorted(entry.id for entry in FILTERED if passes(where, entry.metadata))
        same([name for name, _ in await hits_of(store, 1.0, 0.0, where=where)], wanted, f"query where {where}")
        same(await store.count("s", where=where), len(wanted), f"count where {where}")
        same(await store.delete("s", where=where), len(wanted), f"delete where {where}")
        left = sorted({entry.id for entry in FILTERED} - {*wanted})
        same(await ids_of(store), left, f"left after delete where {where}")
        await store.upsert("s", FILTERED)


@check("V-18")
async def equal_and_different(case: Case) -> None:
    values: tuple[Any, ...] = (1, 1.0, True, False, 0, "1", "", None, "크룩", 2**53, 2**53 + 1, "none")
    await _means(case, *(Compare("v", op, value) for value in values for op in ("eq", "ne")))


@check("V-19")
async def smaller_and_larger(case: Case) -> None:
    values: tuple[Any, ...] = (1, 1.25, 0, -3, "1", "", "가", float(2**53), 2**53 + 1)
    ops = ("lt", "le", "gt", "ge")
    await _means(case, *(Compare("v", op, value) for value in values for op in ops))  # type: ignore[arg-type]


@check("V-20")
async def the_rest_of_the_grammar(case: Case) -> None:
    one = Compare("v", "eq", 1)
    lists: tuple[tuple[Any, ...], ...] = ((1, "1"), (None, False), (), (1, None), (True,), (0, 1.5, "크룩"), ("nope",))
    await _means(
        case,
        *(Within("v", values, negate) for values in lists for negate in (False, True)),
        Exists("v"),
        Exists("w"),
        Exists("x"),
        Not(Exists("v")),
        Not(one),
        Not(Not(one)),
        And(()),
        Or(()),
        Not(And(())),
        And((Exists("v"), Not(Compare("v", "ge", 0)))),
        Or((Compare("v", "eq", True), Not(Exists("v")), one)),
        And((Or((one, Exists("w"))), Not(Compare("v", "eq", "1")), And(()))),
    )


@check("V-21")
async def malformed_filters(case: Case) -> None:
    store = case.store
    await filled(store, "s", item("a"))
    before = await snapshot(store)
    filters: list[Any] = [
        *(Compare("v", op, value) for op in ("lt", "le", "gt", "ge") for value in (True, False, None)),
        Not(And((Compare("v", "gt", False),))),
        *(Compare("v", "eq", value) for value in (math.nan, math.inf, 2**63, SURROGATE, "nul\0", b"x")),  # type: ignore[arg-type]
        *(Within("v", value) for value in ((2**63,), (math.nan,), "text", (("a",),))),  # type: ignore[arg-type]
        *(Exists(name) for name in case.bad_names),
        *("v = 1", {"v": 1}, 1),
        And((Exists("v"), "v = 1")),  # type: ignore[arg-type]
    ]
    for where in filters:
        for scope in ("s", "unknown"):
            await refused(BadInput, store.query([scope], (1.0, 0.0), 1, where=where), f"query where {where}")
            await refused(BadInput, store.count(scope, where=where), f"count where {where}")
            await refused(BadInput, store.delete(scope, where=where), f"delete where {where}")
    same(await snapshot(store), before, "the contents after rejected calls")


@check("V-25")
async def malformed_arguments(case: Case) -> None:
    store = case.store
    await filled(store, "s", item("a"))
    before = await snapshot(store)
    for scope in ("s", "unknown"):
        for number in (0, -1, 1.0, "1", None, True):
            await refused(BadInput, store.query([scope], (1.0, 0.0), number), f"k {number!r}")
            await refused(BadInput, store.scan(scope, limit=number), f"limit {number!r}")
        await refused(BadInput, store.query(scope, (1.0, 0.0), 1), "a string in place of scopes")
        await refused(BadInput, store.get(scope, "a"), "a string in place of ids")
        await refused(BadInput, store.delete(scope, ids="a"), "a string in place of ids")
        for vector in ((math.nan, 0.0), (1e39, 0.0), (-math.inf, 0.0), "12", None, ("1", "2")):
            await refused(BadInput, store.query([scope], vector, 1), f"the vector {vector!r}")
        for name in case.bad_names:
            await refused(BadInput, store.get(scope, [name]), f"the id {name!r}")
            await refused(BadInput, store.delete(scope, ids=[name]), f"the id {name!r}")
            if name is not None:
                await refused(BadInput, store.scan(scope, after=name), f"after {name!r}")
    for name in case.bad_names:
        for made in (
            store.create(name, SPEC),
            store.describe(name),
            store.upsert(name, []),
            store.get(name, []),
            store.scan(name),
            store.query([name], (1.0, 0.0), 1),
            store.delete(name, ids=[]),
            store.count(name),
            store.drop(name),
        ):
            await refused(BadInput, made, f"the scope {name!r}")
    same(await snapshot(store), before, "the contents after rejected calls")


def _cloud(random: Random, count: int, dimension: int) -> dict[str, array[float]]:
    return {f"i{n:04}": array("f", [random.gauss(0, 1) for _ in range(dimension)]) for n in range(count)}


async def _found(case: Case, count: int, ks: tuple[int, ...]) -> tuple[int, int, list[str]]:
    """Return how many of the true nearest were found, how many there are, and errors in order or scores."""
    random, store = case.random, case.store
    dimension = min(37, case.harness.limits.dimension)
    cloud = _cloud(random, count, dimension)
    items = [VectorItem(name, vector, "", {"even": n % 2 == 0}) for n, (name, vector) in enumerate(cloud.items())]
    for part in case.batches(items):
        await filled(store, f"s{count}", *part, spec=ScopeSpec("e", dimension))
    hit = wanted = 0
    wrong: list[str] = []
    for k in ks:
        for where in (None, Compare("even", "eq", True)):
            asked = _cloud(random, 1, dimension)["i0000"]
            known = [entry for entry in items if where is None or entry.metadata["even"]]
            order = sorted((-score(asked, entry.vector), entry.id) for entry in known)
            best = order[:k]
            found = [(-one.score, one.id) for one in await store.query([f"s{count}"], asked, k, where=where)]
            hit += len({*best} & {*found})
            wanted += len(best)
            if found != sorted(found) or not {*found} <= {*order}:
                wrong.append(f"k = {k}: {found[:5]}, expected {best[:5]}")
    return hit, wanted, wrong


def _more_than_one_call(case: Case) -> int:
    """A number of items that takes a second upsert of the largest size, because indexes may begin behind the first."""
    return case.profile.population if case.brief else max(case.profile.population, case.harness.limits.batch + 500)


async def _recalls(case: Case, share: float) -> None:
    for count, ks in ((300, (1, 7, 50, 300, 1_000)), (_more_than_one_call(case), (1, 10, 100))):
        hit, wanted, wrong = await _found(case, count, ks)
        require(not wrong, f"among {count}, order or scores are wrong: {wrong[:1]}")
        told = f"queries of a scope with {count} items gave {hit} of the {wanted} items that are nearest"
        require(hit >= share * wanted, f"{told}; they have to give {'all' if share == 1 else f'{share:.0%}'} of them")


@check("V-28")
async def nothing_is_missed(case: Case) -> None:
    await _recalls(case, 1.0)


@check("V-29")
async def enough_is_found(case: Case) -> None:
    await _recalls(case, case.harness.recall)


FLOOR = 0.8
"""The least share of the ten best that an approximate store must find, whatever its harness declares."""


@check("V-29")
async def the_ten_best(case: Case) -> str:
    """Query collections of several sizes many times. The result is a text with the recall."""
    random, store = case.random, case.store
    shares = []
    dimension = min(37, case.harness.limits.dimension)
    for count, questions in ((20, 30), (150, 30), (1_200, 30), (_more_than_one_call(case), 10)):
        cloud = _cloud(random, count, dimension)
        items = [VectorItem(name, vector) for name, vector in cloud.items()]
        for part in case.batches(items):
            await filled(store, f"s{count}", *part, spec=ScopeSpec("e", dimension))
        hit = 0
        asked = list(_cloud(random, questions, dimension).values())
        for vector in asked:
            best = sorted((-score(vector, entry.vector), entry.id) for entry in items)[:10]
            found = [one.id for one in await store.query([f"s{count}"], vector, 10)]
            hit += len({name for _, name in best} & {*found})
        least = max(FLOOR, case.harness.recall)
        share = hit / (10 * len(asked))
        shares.append(f"{share:.3f} of {count}")
        require(share >= least, f"{share:.2f} of the ten best of {count} were found; the least is {least}")
    return f"recall at 10: {', '.join(shares)}"


EAST = (1.0, 0.0)

_TEXTS: tuple[str, ...] = (
    *("CROOK", "crook", "Crook", "crook ", " crook", "crook\t", "cr%k", "cr_ok", "STRASSE", "straße", "I", "ı", "i"),
    *(NFC, NFD, "é", "e\u0301", "f", "z", "Z", "\uffff", "\U00010000", "\ud7ff", "\ue000", "10", "9", "09", "1.0"),
    *("x" * 64 + "a", "x" * 64 + "b", "x" * 300, "", "true", "null", "2024-01-01", "2024-1-1"),
)
_NUMBERS: tuple[Any, ...] = (
    *(0.1, 0.1 + 1e-12, 0.30000000000000004, 0.3, 16_777_217, 16_777_216.0, 2**53, 2**53 + 1, float(2**53), -0.0, 0),
    *(1e300, -1e300, 5e-324, 2**63 - 1, -(2**63), 9, 10, 1, True, False, None),
)
_ITEMS = [item(f"t{at:02}", v=text) for at, text in enumerate(_TEXTS)]
_ITEMS += [item(f"n{at:02}", v=number, other=1) for at, number in enumerate(_NUMBERS)]
_ITEMS += [item("upper", V=1), VectorItem("dotted", array("f", EAST), "", {"a.b": 1}), item("plain", a=1), item("bare")]


async def _agree(case: Case, filters: list[Filter], *, remove: int) -> None:
    """Check that query and count follow the filter grammar, and for every ``remove``-th filter also delete."""
    store = case.store
    await filled(store, "s", *_ITEMS)
    for at, where in enumerate(filters):
        wanted = sorted(each.id for each in _ITEMS if passes(where, each.metadata))
        hits = await store.query(["s"], EAST, 99, where=where)
        same([hit.id for hit in hits], wanted, f"query where {where}")
        same(await store.count("s", where=where), len(wanted), f"count where {where}")
        if at % remove == 0:
            same(await store.delete("s", where=where), len(wanted), f"delete where {where}")
            left = sorted({each.id for each in _ITEMS} - {*wanted})
            same(await ids_of(store), left, f"left after delete where {where}")
            await store.upsert("s", _ITEMS)


@check("V-18")
async def equal_values(case: Case) -> None:
    values = (*_TEXTS, *_NUMBERS, "Crook\n", "straße ", "%", "x" * 64)
    filters: list[Filter] = [Compare("v", "eq", value) for value in values]
    filters += [Compare("v", "ne", value) for value in values[::4]]
    await _agree(case, filters, remove=7)


@check("V-19")
async def ordered_values(case: Case) -> None:
    texts = ("f", "Z", "é", NFD, "\uffff", "\ue000", "\U00010000", "10", "9", "crook", "x" * 64 + "a")
    numbers = (0.1, 16_777_217, 16_777_216.0, 2**53 + 1, float(2**53), 0, 10, -(2**63))
    filters: list[Filter] = [Compare("v", op, value) for value in (*texts, *numbers) for op in ("lt", "ge")]
    filters += [Compare("v", op, value) for value in (*texts[::3], *numbers[::3]) for op in ("le", "gt")]
    await _agree(case, filters, remove=11)


@check("V-17", "V-20")
async def other_filters(case: Case) -> None:
    long = tuple(f"no {n}" for n in range(min(400, case.harness.limits.batch - 2)))
    filters: list[Filter] = [
        Within("v", (*long[:99], "crook", *long[99:])),
        Within("v", (*long, 2**53 + 1)),
        Within("v", (*long, "CROOK "), True),
        Within("v", (1, "1", True), True),
        Exists("V"),
        Exists("v"),
        Exists("a.b"),
        Exists("a"),
        Compare("a.b", "eq", 1),
        Compare("V", "eq", 1),
        Compare("OTHER", "eq", 1),
        Not(Compare("v", "eq", "crook")),
        Not(Exists("a.b")),
        Not(Within("v", (None,))),
        And((Compare("v", "ge", "a"), Compare("v", "lt", "z"), Not(Within("v", ("crook", NFC))))),
        Or((Compare("v", "lt", 0), Compare("v", "eq", None), Exists("V"), Compare("v", "gt", "\uffff"))),
        And((Or((Exists("other"), Exists("a"))), Not(And((Exists("v"), Compare("v", "ne", 1)))))),
    ]
    await _agree(case, filters, remove=1)


@check("V-17")
async def the_farthest(case: Case) -> None:
    """The few items that pass the filter are the farthest of many, and must be found nevertheless."""
    store = case.store
    many = [item(f"i{n:04}", 1.0, n / 16, n=n) for n in range(1_200)]
    for part in case.batches(many):
        await filled(store, "s", *part)
    for where, wanted in {
        Compare("n", "ge", 1_197): ["i1197", "i1198", "i1199"],
        Within("n", (3, 1_198)): ["i0003", "i1198"],
        And((Compare("n", "gt", 600), Compare("n", "lt", 602))): ["i0601"],
    }.items():
        for k in (1, 2, 3):
            hits = await store.query(["s"], EAST, k, where=where)
            same([hit.id for hit in hits], wanted[:k], f"the nearest {k} where {where}")


_NEAR, _FEW = 10, 40


def _items(count: int) -> list[VectorItem]:
    """Items, each at least as far from the east as the one before."""
    return [VectorItem(f"i{n:06}", array("f", (1.0, n / 64)), f"text {n}", {"n": n}) for n in range(count)]


def _parts(items: list[VectorItem]) -> list[Any]:
    """The parts of items as comparable values. Items themselves cannot be compared."""
    return [(each.id, each.text, dict(each.metadata), array("f", each.vector)) for each in items]


async def _filled(case: Case, items: list[VectorItem]) -> None:
    await case.store.create("s", SPEC)
    for batch in case.batches(items[::-1]):
        await case.store.upsert("s", batch)


def _exact(case: Case) -> bool:
    return Capability.APPROXIMATE not in case.harness.provides


@check("V-6", "V-7", "V-12", "V-13", "V-17", "V-20", "V-23", "V-24", "V-26", "V-30", durable=("L-11",))
async def reads_among_many(case: Case) -> None:
    """Read many items by ``get``, ``scan``, ``count`` and filters. Put and reject a whole batch, and drop the scope."""
    store, count = case.store, case.profile.population
    made = _items(count)
    rows, ids = _parts(made), [each.id for each in made]
    most = min(case.harness.limits.batch, count)
    await store.create("s", SPEC)

    async def there() -> int:
        return int(await store.count("s"))

    putting = store.upsert("s", made[:most])
    await at_once(putting, there, (0, most), f"an upsert of {most}", clause="V-30")
    for rest in case.batches(made[most:]):
        await store.upsert("s", rest)
    whole(_parts(await store.scan("s", limit=count + 1)), rows, f"scan of {count} that were put", clause="V-6 V-13")
    for batch in case.batches(ids):
        found = await store.get("s", batch)
        whole(sorted(found), batch, f"get of {len(batch)}", clause="V-12")

    async def page(after: str | None) -> list[Any]:
        return _parts(await store.scan("s", after=after, limit=PAGE))

    await in_pages(page, lambda row: row[0], rows, f"{count} items", clause="V-13")
    same(await store.count("s"), count, f"count of {count}", clause="V-23")
    same(await store.count("s", where=Exists("n")), count, f"count of {count}, all of which pass", clause="V-23")
    listed = tuple(range(count - 1, count - 1 - most, -1))
    same(await store.count("s", where=Within("n", listed)), most, f"{most} values in a list", clause="V-20")
    far = Compare("n", "ge", count - _NEAR)
    if _exact(case):
        hits = await store.query(["s"], EAST, _NEAR, where=far)
        same([hit.id for hit in hits], ids[-_NEAR:], f"the farthest of {count}, chosen by a filter", clause="V-17")
        wanted = [each.id for each in _ranked(made)]
        hits = await store.query(["s"], EAST, count + 1, where=Exists("n"))
        whole([hit.id for hit in hits], wanted, f"the nearest {count + 1}, all of which pass", clause="V-17")
    refusing = [*(item(f"new{n}") for n in range(most - 1)), item("", 1.0, 0.0)]
    await refused(BadInput, store.upsert("s", refusing), f"{most} items, the last malformed")
    same(await store.count("s"), count, f"after {most} items were refused", clause="V-7")
    store = await again(case)
    whole(_parts(await store.scan("s", limit=count + 1)), rows, f"{count} items, opened again", clause="L-11")
    await store.drop("s")
    same(await store.count("s"), 0, f"the count of a dropped scope of {count}", clause="V-24")
    await store.create("s", SPEC)
    same(await store.scan("s", limit=5), [], f"a scope of {count}, created again", clause="V-24")
    same(await store.query(["s"], EAST, 5), [], f"a query of a scope of {count}, created again", clause="V-24")


def _ranked(items: list[VectorItem]) -> list[VectorItem]:
    return sorted(items, key=lambda each: (-score(EAST, each.vector), each.id))


@check("V-22", "V-28")
async def nearest_and_gone(case: Case) -> str:
    """Find many items with one query, then delete them by ids and by a filter."""
    store, count = case.store, await affordable(case, partial(_put_and_deleted, case))
    made = _items(count)
    most = min(case.harness.limits.batch, count)
    await _filled(case, made)
    wanted = [(each.id, score(EAST, each.vector)) for each in _ranked(made)]
    for k in (count - 1, count + 1) if _exact(case) else ():
        hits = await store.query(["s"], EAST, k)
        whole([(hit.id, hit.score) for hit in hits], wanted[:k], f"the nearest {k} of {count}", clause="V-28")
    same(await store.delete("s", ids=[each.id for each in made[:most]]), most, f"deleted of {count}", clause="V-22")
    found = _parts(await store.scan("s", limit=count))
    whole(found, _parts(made[most:]), f"after {most} of {count} were deleted", clause="V-22")
    await _filled(case, made[:most])
    same(await store.delete("s", where=Exists("n")), count, f"deleted by a filter of {count}", clause="V-22")
    same(await store.scan("s", limit=5), [], f"after {count} were deleted by a filter", clause="V-22")
    return f"{count} items"


async def _put_and_deleted(case: Case, scope: str, count: int) -> None:
    made = _items(count)
    await case.store.create(scope, SPEC)
    await case.store.upsert(scope, made)
    await case.store.delete(scope, ids=[each.id for each in made])


@check("V-1", "V-5", "V-16", "V-24", durable=("L-11",))
async def many_scopes(case: Case) -> str:
    """Create as many scopes as the store can in the time of the profile, and fill as many as possible with an item."""
    store = case.store
    names = await as_many_scopes(case, lambda name: store.create(name, SPEC))
    whole(await store.scopes(), names, f"{len(names)} scopes", clause="V-5")
    for name in some(names):
        same(await store.describe(name), SPEC, f"the spec of one of {len(names)} scopes", clause="V-1")
    asked: list[str] = []
    end = perf_counter() + case.profile.scope_seconds
    for number, name in enumerate(names[: case.harness.limits.batch]):
        if number >= _FEW and perf_counter() > end:
            break
        await store.upsert(name, [item("same", 1.0, number / 64, text=name)])
        asked.append(name)
    for name in some(asked):
        same([found.text for found in await store.scan(name)], [name], f"one of {len(names)} scopes", clause="V-5")
    if _exact(case):
        hits = await store.query(asked, EAST, len(asked) + 1)
        whole([hit.text for hit in hits], asked, f"a query of {len(asked)} scopes", clause="V-16")
    middle = names[len(names) // 2]
    for gone in (names[-1], middle):
        await store.drop(gone)
        require(await store.describe(gone) is None, f"{gone} was dropped but still has a spec", clause="V-24")
    left = [name for name in names[:-1] if name != middle]
    whole(await store.scopes(), left, f"{len(left)} scopes after two were dropped", clause="V-24")
    store = await again(case)
    whole(await store.scopes(), left, f"{len(left)} scopes, opened again", clause="L-11")
    for name in some(set(asked) & set(left)):
        same([found.text for found in await store.scan(name)], [name], "one of them, opened again", clause="L-11")
    return f"{len(names)} scopes, {len(asked)} of them with an item"


def _sized_items(count: int, mark: str = "") -> list[VectorItem]:
    """Items, each further from the east than the one before, as far as 32 bits can distinguish them."""
    return [
        item(f"i{n:06}", 1.0, n / 64, text=f"{mark}{count}:{n}", n=n, odd=bool(n % 2), t=f"{n}") for n in range(count)
    ]


@check("V-6", "V-11", "V-12", "V-13", "V-23")
async def items_at_every_size(case: Case) -> None:
    store = case.store
    for count in case.sizes:
        scope, made = f"n{count}", _sized_items(count)
        await filled(store, scope, *reversed(made))
        ids = [each.id for each in made]
        same(await store.count(scope), count, f"count of {count}", clause="V-23")
        even = await store.count(scope, where=Compare("odd", "eq", False))
        same(even, (count + 1) // 2, f"count of the even ones among {count}", clause="V-23")
        same(await store.get(scope, ids), {each.id: each for each in made}, f"get of {count}", clause="V-12")
        for limit in {max(1, count - 1), count, count + 1}:
            same(await store.scan(scope, limit=limit), made[:limit], f"scan of {count}, limit {limit}", clause="V-13")
        same(await store.scan(scope), made[:1_000], f"scan of {count} without a limit", clause="V-13")
        middle = count // 2
        behind = await store.scan(scope, after=ids[middle], limit=count)
        same(behind, made[middle + 1 :], f"scan behind the {middle + 1}th of {count}", clause="V-13")
        if count > 1:
            last = item(ids[0], 0.0, 1.0, text="last")
            await store.upsert(scope, [*made[:-1], last])
            same(await store.get(scope, ids[:1]), {ids[0]: last}, f"an id first and last of {count}", clause="V-6")
        await store.drop(scope)


@check("V-14", "V-16", "V-17", "V-20", "V-28")
async def queries_at_every_size(case: Case) -> None:
    """Check order, scores and filters of queries. An ``approximate`` store is queried only with filters."""
    store, most = case.store, case.harness.limits.batch
    for count in case.sizes:
        made = _sized_items(count)
        await filled(store, "s", *made)
        ranked = sorted((-score(EAST, each.vector), each.id, each) for each in made)
        wanted = [(each.id, 0.0 - negative, each.text, each.metadata) for negative, _, each in ranked]
        for k in {1, max(1, count // 2), count, count + 1} if _exact(case) else set():
            hits = await store.query(["s"], EAST, k)
            found = [(hit.id, hit.score, hit.text, hit.metadata) for hit in hits]
            same(found, wanted[:k], f"the nearest {k} of {count}", clause="V-28")
        farthest = await store.query(["s"], EAST, 1, where=Compare("n", "eq", count - 1))
        same([hit.id for hit in farthest], [made[-1].id], f"the farthest of {count}, chosen by a filter", clause="V-17")
        listed: tuple[Any, ...] = tuple(range(0, count, 2))
        for where in (Within("n", listed), Not(Within("n", listed, True))):
            same(await store.count("s", where=where), len(listed), f"{len(listed)} values in a list", clause="V-20")
        texts = Within("t", tuple(str(n) for n in range(count - 1, -1, -1))[:most])
        same(await store.count("s", where=texts), count, f"{count} texts in a list", clause="V-20")
        await store.drop("s")


@check("V-16", "V-20")
async def many_parts(case: Case) -> None:
    """Filters with many parts and levels, and queries over many scopes."""
    store = case.store
    made = _sized_items(60)
    await filled(store, "s", *made)
    some: list[Filter] = [Compare("n", "eq", n) for n in range(50)]
    same(await store.count("s", where=Or(tuple(some))), 50, "one of fifty", clause="V-20")
    same(await store.count("s", where=And(tuple(Not(part) for part in some))), 10, "none of fifty", clause="V-20")
    deep: Filter = Exists("n")
    for level in range(60):
        deep = Not(deep) if level % 2 else And((deep, Or((Exists("n"),))))
        if level >= 29:
            break
    where = deep
    same(await store.count("s", where=where), 0 if _inverted(30) else 60, "thirty levels", clause="V-20")
    for levels in (2, 3, 11, 12, 63, 64):
        nots: Filter = Compare("n", "lt", 7)
        for _ in range(levels):
            nots = Not(nots)
        same(await store.count("s", where=nots), 53 if levels % 2 else 7, f"{levels} times not", clause="V-20")
    scopes = [f"scope {number:02}" for number in range(40)]
    for number, scope in enumerate(scopes):
        await filled(store, scope, item("same", 1.0, number / 64, text=scope))
    hits = await store.query(scopes, EAST, 40)
    same([hit.text for hit in hits], scopes, "forty scopes", clause="V-16")
    same([hit.text for hit in await store.query(scopes[::-1], EAST, 3)], scopes[:3], "forty, cut to 3", clause="V-16")


def _inverted(levels: int) -> bool:
    """Whether ``levels`` levels, every second one a ``not``, invert the filter."""
    return bool(levels // 2 % 2)


@check("V-7", "V-22", "V-24")
async def refused_and_removed(case: Case) -> None:
    store = case.store
    for count in case.sizes:
        made = _sized_items(count)
        await filled(store, "s", *made)
        new = _sized_items(count, "refused ")[: count - 1]
        await refused(BadInput, store.upsert("s", [*new, item("", 1.0, 0.0)]), f"{count} items, the last malformed")
        same(await store.scan("s", limit=count + 1), made, f"after {count} items were refused", clause="V-7")
        half = count // 2
        same(await store.delete("s", ids=[each.id for each in made[:half]]), half, f"deleted of {count}", clause="V-22")
        same(await store.scan("s", limit=count), made[half:], f"after {half} of {count} were deleted", clause="V-22")
        await store.upsert("s", made)
        same(await store.delete("s", where=Exists("n")), count, f"deleted by a filter of {count}", clause="V-22")
        same(await store.scan("s", limit=count), [], f"after {count} were deleted by a filter", clause="V-22")
        await store.upsert("s", made)
        await store.drop("s")
        same(await store.count("s"), 0, f"the count of a dropped scope of {count}", clause="V-24")
        await store.create("s", SPEC)
        same(await store.scan("s", limit=5), [], f"a scope of {count}, created again", clause="V-24")
        same(await store.query(["s"], EAST, 5), [], f"a query of a scope of {count}, created again", clause="V-24")
        await store.drop("s")


@check("V-10", "V-11", "V-14")
async def wide_and_long(case: Case) -> None:
    """Wide vectors, long texts, many fields, and numpy arrays as vectors."""
    store, random = case.store, case.random
    for dimension in sorted({size for size in (384, 1_025, 2_048) if size <= case.harness.limits.dimension}):
        scope = f"d{dimension}"
        vector = array("f", [random.gauss(0, 1) for _ in range(dimension)])
        tail = array("f", [0.0] * (dimension - 1) + [1.0])
        wide = [VectorItem("a", vector), VectorItem("tail", tail)]
        await filled(store, scope, *wide, spec=ScopeSpec("e", dimension))
        same(
            await store.get(scope, ["a", "tail"]),
            {each.id: each for each in wide},
            f"{dimension} components",
            clause="V-10",
        )
        hits = await store.query([scope], tail, 1)
        same([(hit.id, hit.score) for hit in hits], [("tail", 1.0)], f"the last of {dimension}", clause="V-14")
    await store.create("s", SPEC)
    for size in case.byte_sizes(256):
        long = item("t", text="x" * (size - 1) + "y", n=size)
        await store.upsert("s", [long])
        (hit,) = await store.query(["s"], EAST, 1)
        got = (await store.get("s", ["t"]))["t"]
        require(got.text == long.text, f"a text of {size} bytes came back changed", clause="V-11")
        require(hit.text == long.text, f"a hit changed a text of {size} bytes", clause="V-11")
        middle = size // 2
        edited = item("t", text="x" * middle + "z" + "x" * (size - middle - 2) + "y", n=size)
        await store.upsert("s", [edited])
        got = (await store.get("s", ["t"]))["t"]
        require(got.text == edited.text, f"an edit in the middle of a text of {size} bytes was not seen", clause="V-6")
    fields = VectorItem("t", array("f", EAST), "", {f"f{n:03}": n for n in range(200)})
    await store.upsert("s", [fields])
    same(await store.get("s", ["t"]), {"t": fields}, "200 fields", clause="V-11")
    await _numpy(store)


async def _numpy(store: Any) -> None:
    import numpy

    await store.create("numpy", ScopeSpec("e", 3))
    for kind in ("float32", "float64", "int64"):
        vector: Any = numpy.array([1, 2, 3], dtype=kind)
        await store.upsert("numpy", [VectorItem("a", vector)])
        same((await store.get("numpy", ["a"]))["a"].vector, array("f", [1, 2, 3]), f"a {kind} array", clause="V-10")
        hits = await store.query(["numpy"], vector, 1)
        same([hit.score for hit in hits], [1.0], f"a query with a {kind} array", clause="V-14")


@check("V-15", "V-28")
async def twins(case: Case) -> None:
    """Many items with equal vectors, texts and metadata. Each of them must be found."""
    if Capability.APPROXIMATE in case.harness.provides:
        return
    made = [item(f"twin {n:03}", 1.0, 1.0, text="same", n=1) for n in range(150)]
    await filled(case.store, "s", *reversed(made), item("other", 0.0, 1.0))
    for k in (1, 100, 150, 151):
        hits = await case.store.query(["s"], EAST, k)
        wanted = [*(each.id for each in made), "other"][:k]
        same([hit.id for hit in hits], wanted, f"the nearest {k} among 150 that are the same")
    hits = await case.store.query(["s"], (1.0, 1.0), 200, where=Compare("n", "eq", 1))
    same([hit.id for hit in hits], [each.id for each in made], "those that are the same, chosen by a filter")


@check("V-15")
async def rounded_before_ordered(case: Case) -> None:
    """Scores that are equal to six decimal places must be ordered by id, whatever the further digits are."""
    store = case.store
    near = [item("a", 1.0, 3e-4), item("b", 1.0, 0.0), item("c", 1.0, 1e-4), item("d", 1.0, -2e-4), item("e", 1.0, 0.5)]
    await filled(store, "s", *near)
    for k in range(1, 6):
        hits = await store.query(["s"], EAST, k)
        same([hit.id for hit in hits], ["a", "b", "c", "d", "e"][:k], f"k = {k}")
