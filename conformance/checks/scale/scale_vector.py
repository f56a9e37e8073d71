"""A VectorStore that holds many items, written and read in the largest calls that its limits allow."""

from __future__ import annotations

from array import array
from functools import partial
from time import perf_counter
from typing import Any

from conformance.assertions import refused, require, same
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import PAGE, SPEC, affordable, again, as_many_scopes, at_once, in_pages, item, some, whole
from conformance.models import score
from saga_core.capabilities import Capability
from saga_core.errors import BadInput
from saga_core.stores import Compare, Exists, VectorItem, Within

EAST = (1.0, 0.0)
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
async def reading(case: Case) -> None:
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
async def scopes(case: Case) -> str:
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
