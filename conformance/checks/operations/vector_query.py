"""VectorStore, querying: clause by clause."""

from __future__ import annotations

import math
from array import array
from random import Random
from typing import Any

from conformance.assertions import refused, require, same
from conformance.calls import snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import SPEC, filled, ids_of, item
from conformance.inputs import SURROGATE
from conformance.models import passes, score
from saga_core.errors import BadInput
from saga_core.stores import And, Compare, Exists, Filter, Not, Or, ScopeSpec, VectorItem, Within


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
    order = sorted(names, key=lambda name: [ord(sign) for sign in name])
    found = [name for name, _ in await hits_of(store, 5.0, 5.0)]
    same(found, [*order, "~", "!"], "the order of ties, and of the rest")
    for k in (1, 5, 20, 21):
        same([name for name, _ in await hits_of(store, 5.0, 5.0, k=k)], [*order, "~", "!"][:k], f"k = {k}")
    await filled(store, "t", item(order[1], 1.0, 1.0, text="t"))
    for scopes in (["s", "t"], ["t", "s"]):
        hits = await store.query(scopes, (1.0, 1.0), 3)
        texts = ["t" if scope == "t" else "" for scope in scopes]
        same([(hit.id, hit.text) for hit in hits], [(order[0], ""), *((order[1], text) for text in texts)], f"{scopes}")


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


async def _found(case: Case) -> tuple[int, int, list[str]]:
    """Return how many of the true nearest were found, how many there are, and errors in order or scores."""
    random, store = case.random, case.store
    dimension = min(37, case.harness.limits.dimension)
    cloud = _cloud(random, 300, dimension)
    items = [VectorItem(name, vector, "", {"even": n % 2 == 0}) for n, (name, vector) in enumerate(cloud.items())]
    for part in case.batches(items):
        await filled(store, "s", *part, spec=ScopeSpec("e", dimension))
    hit = wanted = 0
    wrong: list[str] = []
    for k in (1, 7, 50, 300, 1_000):
        for where in (None, Compare("even", "eq", True)):
            asked = _cloud(random, 1, dimension)["i0000"]
            known = [entry for entry in items if where is None or entry.metadata["even"]]
            order = sorted((-score(asked, entry.vector), entry.id) for entry in known)
            best = order[:k]
            found = [(-one.score, one.id) for one in await store.query(["s"], asked, k, where=where)]
            hit += len({*best} & {*found})
            wanted += len(best)
            if found != sorted(found) or not {*found} <= {*order}:
                wrong.append(f"k = {k}: {found[:5]}, expected {best[:5]}")
    return hit, wanted, wrong


@check("V-28")
async def nothing_is_missed(case: Case) -> None:
    hit, wanted, wrong = await _found(case)
    require(not wrong, f"order or scores are wrong: {wrong[:1]}")
    require(hit == wanted, f"{hit} of the {wanted} nearest were found; a store without approximate finds all")


@check("V-29")
async def enough_is_found(case: Case) -> None:
    hit, wanted, wrong = await _found(case)
    require(not wrong, f"order or scores are wrong: {wrong[:1]}")
    require(
        hit >= case.harness.recall * wanted, f"{hit} of the {wanted} nearest were found; needed: {case.harness.recall}"
    )


FLOOR = 0.8
"""The least share of the ten best that an approximate store must find, whatever its harness declares."""


@check("V-29")
async def the_ten_best(case: Case) -> str:
    """Query collections of several sizes many times. The result is a text with the recall."""
    random, store = case.random, case.store
    shares = []
    dimension = min(37, case.harness.limits.dimension)
    for count in (20, 150, 1_200):
        cloud = _cloud(random, count, dimension)
        items = [VectorItem(name, vector) for name, vector in cloud.items()]
        for part in case.batches(items):
            await filled(store, f"s{count}", *part, spec=ScopeSpec("e", dimension))
        hit = 0
        asked = list(_cloud(random, 30, dimension).values())
        for vector in asked:
            best = sorted((-score(vector, entry.vector), entry.id) for entry in items)[:10]
            found = [one.id for one in await store.query([f"s{count}"], vector, 10)]
            hit += len({name for _, name in best} & {*found})
        least = max(FLOOR, case.harness.recall)
        share = hit / (10 * len(asked))
        shares.append(f"{share:.3f} of {count}")
        require(share >= least, f"{share:.2f} of the ten best of {count} were found; the least is {least}")
    return f"recall at 10: {', '.join(shares)}"
