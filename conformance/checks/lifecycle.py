"""Checks of a store's life: what it says of itself, closing, cancelled calls, errors and compacting."""

from __future__ import annotations

import asyncio
import math
from time import perf_counter
from typing import Any

from conformance.assertions import CheckFailed, Refused, equal, refused, require, same, typed
from conformance.calls import StoreCall, answer, answer_all, call, cancelled_after, pass_turns, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import ground, marked, marks_in
from conformance.inputs import SURROGATE, pages, samples, view
from conformance.spec import STORED
from saga_core.capabilities import Capability
from saga_core.errors import Closed
from saga_core.stores import Batch, Edge, Health, Mutation, Node, Pages, ScopeSpec, StoreInfo, VectorItem
from saga_core.stores.validate import too_small
from saga_core.values import PAGE_NAMES


@check("L-1")
async def it_describes_itself(case: Case) -> None:
    info = case.store.info
    require(isinstance(info, StoreInfo), f"info is a {type(info).__name__}")
    same(info.kind, case.harness.kind, "info.kind")
    require(isinstance(info.name, str) and info.name, f"info.name is {info.name!r}")
    for made in samples(case.harness.kind):
        await answer(case.store, made)
        require(case.store.info == info, f"info changed from {info} to {case.store.info}")


@check("L-2")
async def it_declares_what_the_harness_says(case: Case) -> str:
    """Compare the declarations. The result names capabilities that the store has and does not declare."""
    info = case.store.info
    declared, said = set(info.capabilities), set(case.harness.provides)
    require(declared == said, f"info declares {sorted(declared)}, the harness declares {sorted(said)}")
    require(info.limits == case.harness.limits, f"info has {info.limits}, the harness declares {case.harness.limits}")
    if Capability.RESIDENT in said:
        await _reads_from_memory(case)
    return "; ".join(await _undeclared(case)) if case.harness.kind in STORED else ""


async def _undeclared(case: Case) -> list[str]:
    """What the store does beyond what it declares, and what the suite therefore does not check."""
    kind, said, found = case.harness.kind, case.harness.provides, list[str]()
    if Capability.COMPACTS not in said and hasattr(case.store, "compact"):
        tried = await answer(case.store, call("compact"))
        if not isinstance(tried, Refused):
            found.append("noted: compact can be called, but compacts is not declared, so nobody will call it")
    if Capability.DURABLE not in said:
        store = await case.open("kept")
        await answer_all(store, samples(kind)[:2])
        before = typed(await snapshot(store))
        if typed(await snapshot(await case.reopen(store, "kept"))) == before:
            found.append("noted: what was written is there when the store is opened again, but durable is not declared")
    return found


RESIDENT_SECONDS = 0.005
"""Seconds within which a resident store answers a small read. The best of ten counts, so a busy machine does not."""


async def _reads_from_memory(case: Case) -> None:
    await answer_all(case.store, ground(case.harness.kind))
    for read in _SMALL_READS[case.harness.kind]:
        best = math.inf
        for _ in range(10):
            begun = perf_counter()
            await answer(case.store, read)
            best = min(best, perf_counter() - begun)
        require(
            best < RESIDENT_SECONDS,
            f"it declares resident, but {read} took {best * 1_000:.1f} ms at best of ten; leave the capability out",
        )


_SMALL_READS: dict[str, tuple[StoreCall, ...]] = {
    "state": (call("get", [("a",)]), call("scan", ("a",), limit=3)),
    "graph": (call("get", "s", ["a"]), call("neighbors", "s", ["a"])),
    "vector": (call("get", "s", ["a"]), call("query", ["s"], (1.0, 0.0), 3)),
    "cache": (call("read", "s"),),
    "curator": (),
}


@check("L-3")
async def it_is_healthy(case: Case) -> None:
    store = case.store
    for step in (*samples(case.harness.kind)[:2], *_odd_but_right(case.harness.kind), None):
        if step is not None:
            await answer(store, step)
        before = await snapshot(store)
        for thorough in (False, True):
            health = await store.check(thorough=thorough)
            require(isinstance(health, Health), f"check gave a {type(health).__name__}")
            require(health.ok is True, f"check(thorough={thorough}) of a healthy store gave {health}")
        equal(typed(await snapshot(store)), typed(before), "check changed what is stored")


def _odd_but_right(kind: str) -> list[StoreCall]:
    """Valid data that a check might take for damage: empty values, loops, isolated nodes and old watermarks."""
    return {
        "state": [call("commit", Batch({("empty",): b"", ("\0",): b"\0", ("a", "b", "c"): b"\xff"}))],
        "graph": [
            call("apply", "s", Mutation((Node("alone", "L", {"none": None, "empty": ""}),), watermark="t0")),
            call(
                "apply",
                "s",
                Mutation((Node("loop", "L"),), (Edge("loop", "T", "loop"), Edge("loop", "T", "loop", "k"))),
            ),
            call("apply", "only a mark", Mutation(watermark="t")),
        ],
        "vector": [
            call("create", "nothing in it", ScopeSpec("e", 3)),
            call("upsert", "s", [VectorItem("zero", (0.0, 0.0)), VectorItem("twin", (1.0, 0.0), "하나", {"turn": 1})]),
        ],
        "cache": [call("write", "empty", Pages(dict.fromkeys(PAGE_NAMES, ""), ""))],
        "curator": [],
    }[kind]


@check("L-16")
async def it_says_where_and_how_large(case: Case) -> None:
    await answer_all(case.store, samples(case.harness.kind)[:2])
    health = await case.store.check()
    require(case.store.info.location, "info.location is empty")
    require(isinstance(health.bytes, int) and health.bytes > 0, f"check gave {health.bytes!r} bytes")


@check("L-4")
async def the_end_twice(case: Case) -> None:
    await answer_all(case.store, samples(case.harness.kind)[:1])
    await case.store.aclose()
    await case.store.aclose()
    await asyncio.gather(case.store.aclose(), case.store.aclose())


@check("L-5")
async def closed_is_closed(case: Case) -> None:
    store, kind = case.store, case.harness.kind
    made = samples(kind)
    await answer_all(store, made[:1])
    await store.aclose()
    calls = [*made, call("check"), call("check", thorough=True), *_malformed(kind)]
    for one in calls:
        found = await answer(store, one)
        require(found == Refused("Closed"), f"{one} after aclose: gave {found!r}, expected Closed")


def _malformed(kind: str) -> list[StoreCall]:
    """Calls with malformed arguments, and calls that have nothing to do."""
    return {
        "state": [call("get", []), call("get", [("",)]), call("scan", (), limit=0), call("commit", Batch())],
        "graph": [call("get", "", []), call("scan", "s", limit=0), call("apply", "s", Mutation()), call("drop", "")],
        "vector": [call("get", "", []), call("upsert", "s", []), call("query", [], [], 0), call("count", "")],
        "cache": [call("read", ""), call("drop", "")],
        "curator": [],
    }[kind]


@check("L-6", kinds=STORED)
async def what_was_given_is_finished(case: Case) -> None:
    for turns in (1, 0, 2, 5):
        await _ended_beside_writes(case, turns)


async def _ended_beside_writes(case: Case, turns: int) -> None:
    kind, durable = case.harness.kind, Capability.DURABLE in case.harness.provides
    store, writes = await case.open(f"beside {turns}"), marked(kind, 20)
    await answer_all(store, ground(kind))
    running = [asyncio.ensure_future(answer(store, one)) for one in writes]
    await pass_turns(turns)
    await asyncio.gather(store.aclose(), store.aclose())
    answers = await asyncio.gather(*running)
    for one, found in zip(writes, answers, strict=True):
        require(found is None or found == Refused("Closed"), f"{one} during aclose: gave {found!r}")
    if durable:
        again = await case.open(f"beside {turns}")
        kept = await marks_in(again)
        wanted = {mark for mark, found in enumerate(answers) if found is None}
        require(kept == wanted, f"acknowledged during aclose: {sorted(wanted)}; found after reopening: {sorted(kept)}")


ODD: tuple[Any, ...] = (
    *(None, 0, -1, 1.5, True, "", "text", SURROGATE, b"x"),
    *((), [], {}, [None], ("",), {"a": 1}, object),
)
"""Values of odd kinds. Each is malformed for most arguments."""


@check("L-7", kinds=STORED)
async def only_errors_of_saga(case: Case) -> None:
    await answer_all(case.store, samples(case.harness.kind))
    before = typed(await snapshot(case.store))
    for made in _strange(case.harness.kind):
        found = await answer(case.store, made)
        require(isinstance(found, Refused), f"{made}: gave {found!r}, expected an error")
    equal(typed(await snapshot(case.store)), before, "a rejected call changed what is stored")


def _strange(kind: str) -> list[StoreCall]:
    """Calls with arguments that database drivers may fail on. The contract rejects all of them."""
    if kind == "state":
        keys = [value for value in ODD if value != ()]
        return [
            *(call("get", [value]) for value in ODD),
            *(call("scan", value) for value in keys),
            *(call("scan", (), limit=value) for value in ODD),
            *(call("commit", Batch({("a",): value})) for value in ODD if not isinstance(value, bytes)),
        ]
    if kind == "graph":
        values: tuple[Any, ...] = (SURROGATE, b"x", [], {}, object)
        ids = [value for value in ODD if type(value) is not list or value]
        return [
            *(call("get", "s", [value]) for value in ODD if value not in ("text",)),
            *(call("scan", value) for value in ODD if value not in ("text",)),
            *(call("scan", "s", limit=value) for value in ODD),
            *(call("neighbors", "s", ["숲"], direction=value) for value in ids),
            *(call("apply", "s", Mutation((Node("a", "L", {"v": value}),))) for value in values),
        ]
    if kind == "vector":
        bad = [value for value in ODD if value not in ("text",)]
        return [
            *(call("get", "s", [value]) for value in bad),
            *(call("scan", value) for value in bad),
            *(call("query", ["s"], (1.0, 0.0), value) for value in ODD),
            *(call("query", ["s"], value, 1) for value in (None, 1, "12", [None], ["a"], b"ab")),
            *(call("upsert", "s", [value]) for value in ODD),
            *(call("count", "s", where=value) for value in ODD if value is not None),
        ]
    bad = [value for value in ODD if value not in ("text",)]
    return [
        *(call("read", value) for value in bad),
        *(call("drop", value) for value in bad),
        *(call("write", value, pages("x")) for value in bad),
    ]


@check("L-9", kinds=STORED)
async def cancelled_calls(case: Case) -> None:
    store, kind = case.store, case.harness.kind
    await answer_all(store, ground(kind))
    writes = marked(kind, 24)
    done: set[int] = set()
    for mark, one in enumerate(writes):
        found, ran = await cancelled_after(answer(store, one), mark % 8)
        if ran and not isinstance(found, asyncio.CancelledError):
            raise CheckFailed(f"{one} was cancelled while it ran, and gave {found!r} instead of CancelledError")
        if not ran:
            require(found is None, f"{one} gave {found!r}")
            done.add(mark)
    after = call("check")
    async with case.patience("a check and two writes after cancelled calls"):
        require(isinstance(await answer(store, after), Health), "check after cancelled calls did not return Health")
        for mark, one in enumerate(marked(kind, 26)[24:], start=24):
            same(await answer(store, one), None, f"{one} after calls were cancelled")
            done.add(mark)
    marks = await marks_in(store)
    require(done <= marks, f"successful writes are missing: {sorted(done - marks)}")
    if Capability.DURABLE in case.harness.provides:
        again = await case.reopen(store)
        kept = await marks_in(again)
        require(kept == marks, f"{sorted(marks)} before closing, {sorted(kept)} after")


@check("L-5", kinds=("curator",))
async def a_closed_curator(case: Case) -> None:
    await case.store.aclose()
    await refused(Closed, case.store.review(view()), "review after aclose")


@check("L-20", kinds=STORED)
async def limits_reach_what_saga_needs(case: Case) -> None:
    lacking = too_small(case.harness.kind, case.store.info.limits)
    require(not lacking, f"info.limits are too small: {'; '.join(lacking)}")


@check("L-21")
async def cancelled_ends(case: Case) -> None:
    """Cancel ``aclose`` after some turns of the event loop, and call it again."""
    durable = Capability.DURABLE in case.harness.provides
    for turns in range(7):
        name = f"ended-{turns}"
        store = await case.open(name)
        await answer_all(store, samples(case.harness.kind)[:1])
        await cancelled_after(store.aclose(), turns)
        async with case.patience("aclose after a cancelled aclose"):
            await store.aclose()
        found = await answer(store, call("check"))
        require(found == Refused("Closed"), f"check after a cancelled and a finished aclose gave {found!r}")
        if durable:
            again = await case.open(name)
            require(isinstance(await answer(again, call("check")), Health), "check gave no Health after reopening")
            await again.aclose()


@check("L-21", kinds=STORED)
async def cancelled_openings(case: Case) -> None:
    """Cancel an opening after some turns of the event loop. The path must open afterwards."""
    for turns in (0, 1, 2, 3, 5, 8):
        folder = case.place(f"opened-{turns}")
        folder.mkdir()
        opened, _ = await cancelled_after(case.harness.open(folder), turns)
        if not isinstance(opened, BaseException):
            await opened.aclose()
        store = await case.open(f"opened-{turns}")
        for made in samples(case.harness.kind)[:2]:
            same(await answer(store, made), None, f"{made} after an opening was cancelled")
        await store.aclose()


@check("L-24", kinds=STORED)
async def compacting_leaves_nothing(case: Case) -> None:
    """Delete, replace and drop data that can be found in the files before. It must be gone from them after."""
    kind, store = case.harness.kind, case.store
    secret = "gone-" + f"{case.random.getrandbits(128):032x}"
    await answer_all(store, (*ground(kind), *_holding(kind, secret), *marked(kind, 5)))
    before = typed(await snapshot(store))
    same(await store.compact(), None, "compact")
    equal(typed(await snapshot(store)), before, "compact changed what is stored")
    require(
        await asyncio.to_thread(_lies_in, case, secret),
        f"the {kind} data that was just written is in no file of the store, so that nobody can tell whether compact "
        "removes it; if the store compresses or encrypts, give Harness(contents=…), which decodes a file",
    )
    await answer_all(store, _removing(kind, secret))
    left = typed(await snapshot(store))
    await store.compact()
    equal(typed(await snapshot(store)), left, "compact changed what is stored")
    found = await asyncio.to_thread(_lies_in, case, secret)
    require(not found, f"after compact, deleted data is still in {', '.join(found)}")
    await store.aclose()
    require(await answer(store, call("compact")) == Refused("Closed"), "compact after aclose did not raise Closed")


def _lies_in(case: Case, secret: str) -> list[str]:
    """The files in which the secret is, as they are or as the harness reads them."""
    raw, contents, found = secret.encode(), case.harness.contents, list[str]()
    for file in sorted(each for each in case.path.rglob("*") if each.is_file()):
        try:
            held = contents(file)
        except Exception as error:
            raise CheckFailed(f"Harness.contents raised {type(error).__name__} for {file.name}: {error}") from error
        require(isinstance(held, bytes), f"Harness.contents gave a {type(held).__name__} for {file.name}; give bytes")
        if raw in held or raw in file.read_bytes():
            found.append(file.name)
    return found


def _holding(kind: str, secret: str) -> list[StoreCall]:
    """Writes of the secret where it will be deleted, replaced and dropped."""
    if kind == "state":
        return [call("commit", Batch({("secret", secret): secret.encode() * 200, ("kept",): secret.encode()}))]
    if kind == "graph":
        held = Mutation((Node(secret, "L", {"v": secret}), Node("kept", "L", {"v": secret})))
        return [call("apply", scope, held) for scope in ("s", "dropped")]
    if kind == "vector":
        held_items = [VectorItem(name, (1.0, 0.0), secret) for name in (secret, "kept")]
        made = [call("create", "dropped", ScopeSpec("e", 2))]
        return made + [call("upsert", scope, held_items) for scope in ("s", "dropped")]
    return [call("write", scope, pages(secret)) for scope in ("secret", "kept")]


def _removing(kind: str, secret: str) -> list[StoreCall]:
    if kind == "state":
        return [call("commit", Batch({("kept",): b"1"}, frozenset({("secret", secret)})))]
    if kind == "graph":
        return [call("apply", "s", Mutation((Node("kept", "L"),), delete_nodes=(secret,))), call("drop", "dropped")]
    if kind == "vector":
        put = call("upsert", "s", [VectorItem("kept", (1.0, 0.0))])
        return [call("delete", "s", ids=[secret]), put, call("drop", "dropped")]
    return [call("drop", "secret"), call("write", "kept", pages("other"))]
