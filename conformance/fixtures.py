"""Fixtures: contents that several checks start from, and functions that read them."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Awaitable, Callable, Collection
from time import perf_counter
from typing import Any

from conformance.assertions import CheckFailed, difference, require, same, typed
from conformance.calls import StoreCall, answer, call
from conformance.case import Case
from conformance.inputs import pages
from saga_core.capabilities import Capability
from saga_core.stores import Batch, Edge, EdgeKey, Key, Mutation, Node, Pages, ScopeSpec, VectorItem
from saga_core.values import PAGE_NAMES

ATTEMPTS = 100
"""How often one of thirty writers tries to commit. Each attempt that fails shows that another writer committed."""
ALWAYS_CONFLICTS = f"commit raised Conflict {ATTEMPTS} times for what get had returned, and nobody else wrote so often"


def people(*ids: str) -> tuple[Node, ...]:
    """Nodes with the label ``Character`` and without properties."""
    return tuple(Node(node_id, "Character") for node_id in ids)


TRIANGLE = Mutation(
    put_nodes=people("아리아", "크룩", "숲"),
    put_edges=(
        Edge("크룩", "LOCATED_AT", "숲"),
        Edge("아리아", "RELATES_TO", "크룩", "met", {"strength": 1}),
        Edge("아리아", "RELATES_TO", "크룩", "", {"strength": -2}),
        Edge("아리아", "LOCATED_AT", "숲"),
    ),
    watermark="t1",
)


async def edges_of(store: Any, *ids: str, scope: str = "s", **options: Any) -> list[EdgeKey]:
    """The identities of the edges that ``neighbors`` returns."""
    return [edge.identity for edge in await store.neighbors(scope, list(ids), **options)]


SPEC = ScopeSpec("ngram-1/2", 2)


def item(item_id: str, *vector: float, text: str = "", **metadata: Any) -> VectorItem:
    """Make an item. The default vector is (1, 0), which the checks call east."""
    return VectorItem(item_id, array("f", vector or (1.0, 0.0)), text, metadata)


async def filled(store: Any, scope: str, *items: VectorItem, spec: ScopeSpec = SPEC) -> None:
    """Create ``scope`` if needed and upsert ``items``."""
    await store.create(scope, spec)
    await store.upsert(scope, list(items))


async def ids_of(store: Any, scope: str = "s", **options: Any) -> list[str]:
    """The ids that a scan returns."""
    return [found.id for found in await store.scan(scope, **options)]


_MANY = 250
"""The number of entries of a large write, more than two chunks of a hundred."""


def mark_in(kind: str, mark: int) -> Any:
    """The form in which ``readings`` gives ``mark``."""
    return {"state": b"%d" % mark, "cache": f"{mark} " * 9_000}.get(kind, mark)


Way = tuple[Callable[[Any], Awaitable[Any]], Callable[[Any], list[Any]]]


def large_write(kind: str, mark: int, many: int = _MANY) -> StoreCall:
    """A write of many entries, each of which contains ``mark``. A cache's has six."""
    if kind == "state":
        return call("commit", Batch({("many", f"{n:03}"): b"%d" % mark for n in range(many)}))
    if kind == "graph":
        nodes = tuple(Node(f"n{n:03}", "L", {"mark": mark}) for n in range(many))
        return call("apply", "s", Mutation(nodes, watermark=str(mark)))
    if kind == "vector":
        items = [VectorItem(f"n{n:03}", (1.0, n / 64), str(mark), {"mark": mark}) for n in range(many)]
        return call("upsert", "s", items)
    return call("write", "s", Pages(dict.fromkeys(PAGE_NAMES, f"{mark} " * 9_000), str(mark)))


def readings(kind: str, many: int = _MANY) -> dict[str, Way]:
    """For each method that reads a large write, the read and a function that extracts the marks from its result."""
    keys: list[Key] = [("many", f"{n:03}") for n in range(many)]
    ids = [f"n{n:03}" for n in range(many)]
    return {
        "state": {
            "get": (lambda store: store.get(keys), lambda found: list(found.values())),
            "scan": (lambda store: store.scan(("many",), limit=many), lambda found: [value for _, value in found]),
        },
        "graph": {
            "get": (lambda store: store.get("s", ids), lambda found: [n.properties["mark"] for n in found.values()]),
            "scan": (lambda store: store.scan("s", limit=many), lambda found: [n.properties["mark"] for n in found]),
        },
        "vector": {
            "get": (lambda store: store.get("s", ids), lambda found: [i.metadata["mark"] for i in found.values()]),
            "scan": (lambda store: store.scan("s", limit=many), lambda found: [i.metadata["mark"] for i in found]),
            "query": (
                lambda store: store.query(["s"], (1.0, 0.0), many),
                lambda hits: [h.metadata["mark"] for h in hits],
            ),
        },
        "cache": {"read": (lambda store: store.read("s"), lambda found: [*found.files.values()])},
    }[kind]


async def prepared(case: Case, store: Any, many: int = _MANY) -> None:
    """Make the first large write, with the mark 0."""
    if case.harness.kind == "vector":
        await store.create("s", SPEC)
    same(await answer(store, large_write(case.harness.kind, 0, many)), None, "the first large write")


def ground(kind: str) -> list[StoreCall]:
    """The calls that are needed before anything can be written."""
    return [call("create", "s", ScopeSpec("e", 2))] if kind == "vector" else []


def marked(kind: str, count: int) -> list[StoreCall]:
    """``count`` writes, each of which leaves its own mark."""
    if kind == "state":
        return [call("commit", Batch({("mark", str(n)): b"", ("twin", str(n)): b""})) for n in range(count)]
    if kind == "graph":
        return [call("apply", "s", Mutation((Node(f"mark{n}", "L"), Node(f"twin{n}", "L")))) for n in range(count)]
    if kind == "vector":
        twins = [[VectorItem(f"{name}{n}", (1.0, 0.0)) for name in ("mark", "twin")] for n in range(count)]
        return [call("upsert", "s", items) for items in twins]
    return [call("write", f"mark{n}", pages(str(n))) for n in range(count)]


async def marks_in(store: Any) -> set[int]:
    """The marks in the store. Raises ``CheckFailed`` if one has no twin."""
    kind = store.info.kind
    if kind == "state":
        names = ["".join(key) for key, _ in await store.scan(())]
    elif kind == "cache":
        names = list(await store.scopes())
        for name in names:
            same(await store.read(name), pages(name.removeprefix("mark")), f"the pages of {name}")
    else:
        names = [found.id for found in await store.scan("s")]
    marks = {int(name[4:]) for name in names if name.startswith("mark")}
    twins = {int(name[4:]) for name in names if name.startswith("twin")}
    if kind != "cache" and marks != twins:
        raise CheckFailed(f"a write is only half there: {sorted(marks ^ twins)}", clause="L-9")
    return marks


PAGE = 1_000
_LEAST = 2_100
"""The population for slow stores. SAGA writes and deletes up to 2,000 entries at once."""


def whole(found: Any, wanted: Any, what: str, *, clause: str) -> None:
    """Raise ``CheckFailed`` unless both lists, or both mappings, are equal.

    Types are compared by checks of small sizes. Here equality is enough. The message names the first difference.
    """
    if found != wanted:
        raise CheckFailed(f"{what}: {difference(typed(found), typed(wanted))}", clause=clause)


async def in_pages(
    scan: Callable[[Any], Awaitable[list[Any]]],
    mark: Callable[[Any], Any],
    wanted: list[Any],
    what: str,
    *,
    clause: str,
) -> None:
    """Check that the pages of ``scan(after)`` give ``wanted``. ``mark`` maps a row to the next ``after``."""
    found: list[Any] = []
    while page := await scan(mark(found[-1]) if found else None):
        found += page
        require(len(found) <= len(wanted), f"{what}: more than {len(wanted)} in pages", clause=clause)
    whole(found, wanted, f"{what}, in pages of {PAGE}", clause=clause)
    last = wanted[-PAGE // 10 :]
    whole((await scan(mark(last[0])))[:PAGE], last[1:], f"the last {len(last) - 1} of {what}", clause=clause)


async def at_once(
    made: Awaitable[Any], look: Callable[[], Awaitable[Any]], states: tuple[Any, Any], what: str, *, clause: str
) -> None:
    """Check that while ``made`` runs, ``look`` returns the first of ``states`` and from some moment on the second."""
    writing = asyncio.ensure_future(made)
    before, after = states
    known = before
    try:
        while not writing.done():
            seen = await look()
            require(seen in (known, after), f"{what}: a concurrent reader saw {seen} after {known}", clause=clause)
            known = seen
            await asyncio.sleep(0)
    finally:
        await writing
    seen = await look()
    require(seen == after, f"{what}: a reader saw {seen} afterwards, expected {after}", clause=clause)


async def affordable(case: Case, write: Callable[[str, int], Awaitable[Any]]) -> int:
    """Return the profile's population, or less if ``write`` takes too long for a thousand entries in a new scope.

    Engines that delete one by one would need minutes. It is enough if one of three attempts is quick.
    """
    for attempt in ("first attempt", "second attempt", "third attempt"):
        begun = perf_counter()
        await write(attempt, min(1_001, case.harness.limits.batch))
        if perf_counter() - begun < case.profile.thousand_seconds:
            return case.profile.population
    return min(_LEAST, case.profile.population)


async def as_many_scopes(case: Case, make: Callable[[str], Awaitable[Any]]) -> list[str]:
    """Call ``make`` for new scope names, the last one first, and return the names in order.

    The number is at least ``Profile.scopes``, and larger if the store is quick. Engines whose scopes are tables or
    folders take a second for a hundred scopes.
    """
    profile, names = case.profile, list[str]()
    end = perf_counter() + profile.scope_seconds
    for number in range(profile.most_scopes, 0, -1):
        if len(names) >= profile.scopes and perf_counter() > end:
            break
        names.append(f"scope {number:05}")
        await make(names[-1])
    return names[::-1]


async def again(case: Case) -> Any:
    """Return the store of the case, which is closed and opened again if it is durable."""
    if Capability.DURABLE in case.harness.provides:
        case.store = await case.reopen(case.store)
    return case.store


def some(names: Collection[str]) -> list[str]:
    """About forty of ``names``, including the first and the last one."""
    listed = list(names)
    return [*listed[:: max(1, len(listed) // 40)], listed[-1]]
