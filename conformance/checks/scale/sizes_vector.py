"""Every operation of VectorStore at every size, with a comparison of the contents."""

from __future__ import annotations

from array import array
from typing import Any

from conformance.assertions import refused, require, same
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import SPEC, filled, item
from conformance.models import score
from saga_core.capabilities import Capability
from saga_core.errors import BadInput
from saga_core.stores import And, Compare, Exists, Filter, Not, Or, ScopeSpec, VectorItem, Within

EAST = (1.0, 0.0)


def _items(count: int, mark: str = "") -> list[VectorItem]:
    """Items, each further from the east than the one before, as far as 32 bits can distinguish them."""
    return [
        item(f"i{n:06}", 1.0, n / 64, text=f"{mark}{count}:{n}", n=n, odd=bool(n % 2), t=f"{n}") for n in range(count)
    ]


@check("V-6", "V-11", "V-12", "V-13", "V-23")
async def items(case: Case) -> None:
    store = case.store
    for count in case.sizes:
        scope, made = f"n{count}", _items(count)
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
async def queries(case: Case) -> None:
    """Check order, scores and filters of queries. An ``approximate`` store is queried only with filters."""
    store, most = case.store, case.harness.limits.batch
    exact = Capability.APPROXIMATE not in case.harness.provides
    for count in case.sizes:
        made = _items(count)
        await filled(store, "s", *made)
        ranked = sorted((-score(EAST, each.vector), each.id, each) for each in made)
        wanted = [(each.id, 0.0 - negative, each.text, each.metadata) for negative, _, each in ranked]
        for k in {1, max(1, count // 2), count, count + 1} if exact else set():
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
    made = _items(60)
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
        made = _items(count)
        await filled(store, "s", *made)
        new = _items(count, "refused ")[: count - 1]
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
