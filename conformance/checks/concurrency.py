"""Checks of concurrent calls and large writes, of cancelled calls, and of a responsive event loop."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from time import perf_counter
from typing import Any

from attrs import frozen

from conformance.assertions import CheckFailed, require, same, typed
from conformance.calls import StoreCall, answer, answer_all, call, cancelled_after, pass_turns, snapshot
from conformance.case import Case
from conformance.check import check, check_each
from conformance.fixtures import ALWAYS_CONFLICTS, ATTEMPTS, SPEC, large_write, mark_in, prepared, readings
from conformance.inputs import NFC, pages, samples
from conformance.oracles import MODELS, Model, expected
from conformance.spec import STORED
from conformance.strategies import STRATEGIES
from saga_core.errors import Conflict
from saga_core.stores import (
    Batch,
    Edge,
    EdgeKey,
    Exists,
    Health,
    Key,
    Mutation,
    Node,
    Pages,
    ScopeSpec,
    Value,
    VectorItem,
)


@check_each("S-13", "G-36", "V-30", "C-7")
async def one_moment(case: Case) -> None:
    """Run readers of every kind during large writes, started at different turns of the event loop."""
    store, kind = case.store, case.harness.kind
    await prepared(case, store)
    ways = readings(kind)
    whole = {name: len(marks(await read(store))) for name, (read, marks) in ways.items()}
    for mark in range(1, 9):
        names = list(ways)
        reading = [asyncio.ensure_future(ways[name][0](store)) for name in names]  # started before the write
        await pass_turns(mark % 3)
        writing = asyncio.ensure_future(answer(store, large_write(kind, mark)))
        try:
            while not writing.done():
                await asyncio.sleep(0)
                if len(reading) < 12:
                    names += list(ways)
                    reading += [asyncio.ensure_future(ways[name][0](store)) for name in ways]
            for name, found in zip(names, await asyncio.gather(*reading), strict=True):
                marks = ways[name][1](found)
                require(len(set(marks)) == 1, f"{name} during a large write saw {_told(marks)}")
                require(len(marks) == whole[name], f"{name} during a large write saw {len(marks)} of {whole[name]}")
        finally:
            same(await writing, None, "the large write")


def _told(marks: list[Any]) -> str:
    return ", ".join(f"{marks.count(mark)} times {str(mark)[:20]!r}" for mark in sorted(set(marks), key=str)[:4])


@check("L-9", kinds=STORED)
async def cancelled_large_writes(case: Case) -> None:
    """Cancel large writes at many turns of the event loop. Afterwards exactly one whole write must be there."""
    store, kind = case.store, case.harness.kind
    await prepared(case, store)
    for mark in range(1, 25):
        await cancelled_after(answer(store, large_write(kind, mark)), mark % 12)
        for name, (read, marks) in readings(kind).items():
            async with case.patience():
                found = marks(await read(store))
            require(len(set(found)) == 1, f"{name} after a large write was cancelled: {_told(found)}")


@check("L-9", kinds=STORED)
async def a_hundred_cancelled(case: Case) -> None:
    """Cancel reads and writes a hundred times. A cancelled call must release everything that it holds.

    A store may finish what was cancelled before it answers the next call, so the limit grows with the time that the
    same calls take here when nobody cancels them.
    """
    store, kind = case.store, case.harness.kind
    await prepared(case, store)
    ways = list(readings(kind).values())
    begun = perf_counter()
    await answer(store, large_write(kind, 2))
    for read, _ in ways:
        await read(store)
    work, calls = 100 * (perf_counter() - begun), 0
    for turn in range(100):
        made: list[Awaitable[Any]] = [read(store) for read, _ in ways]
        if turn % 4 == 0:
            made.append(answer(store, large_write(kind, turn)))
        calls += len(made)
        tasks = [asyncio.ensure_future(one) for one in made]
        await pass_turns(turn % 3 if turn % 2 else turn % 7)
        for task in tasks:
            task.cancel()
        async with case.patience(f"the cancelled call {calls}", more=work):
            await asyncio.gather(*tasks, return_exceptions=True)
    behind = f"behind {calls} cancelled calls,"
    async with case.patience(f"a write, {behind}", more=work):
        same(await answer(store, large_write(kind, 1)), None, "a write after a hundred calls were cancelled")
    for name, (read, marks) in readings(kind).items():
        async with case.patience(f"{name}, {behind}", more=work):
            seen = marks(await read(store))
        right = set(seen) == {mark_in(kind, 1)}
        require(right, f"{name} after a hundred cancelled calls and a write of 1 saw {_told(seen)}")
    async with case.patience(f"check, {behind}", more=work):
        require(isinstance(await answer(store, call("check")), Health), "check after a hundred cancelled calls")


@check("L-10", kinds=STORED)
async def small_beside_large(case: Case) -> None:
    """Run small writes during a large one. All of them must be there afterwards."""
    store, kind = case.store, case.harness.kind
    await prepared(case, store)
    for turn in range(4):
        small = [_small(kind, turn * 5 + n) for n in range(5)]
        made = [large_write(kind, turn + 1), *small]
        found = await asyncio.gather(*(answer(store, one) for one in made))
        require(found == [None] * len(made), f"writes at the same time gave {found}")
    missing = [n for n in range(20) if not await _is_there(store, kind, n)]
    require(not missing, f"small writes during a large one are missing: {missing}")


def _small(kind: str, number: int) -> StoreCall:
    if kind == "state":
        return call("commit", Batch({("small", str(number)): b"1"}))
    if kind == "graph":
        return call("apply", "s", Mutation((Node(f"small{number}", "Small"),)))
    if kind == "vector":
        return call("upsert", "s", [VectorItem(f"small{number}", (0.0, 1.0))])
    return call("write", f"small{number}", pages(str(number)))


async def _is_there(store: Any, kind: str, number: int) -> bool:
    if kind == "state":
        return bool(await store.get([("small", str(number))]))
    if kind == "cache":
        return await store.read(f"small{number}") is not None
    return bool(await store.get("s", [f"small{number}"]))


@check("S-12")
async def many_writers(case: Case) -> None:
    """Thirty writers append to one list. Each must be there once, and each read must be a prefix of the final list."""
    store, key = case.store, ("list",)
    await store.commit(Batch({key: b""}))
    seen: list[bytes] = []

    async def append(mark: int) -> None:
        for _ in range(ATTEMPTS):
            known = (await store.get([key]))[key]
            seen.append(known)
            if mark % 2:  # some writers wait a turn, the others do not
                await asyncio.sleep(0)
            try:
                await store.commit(Batch({key: known + b"%d," % mark, ("by", str(mark)): b""}), expected={key: known})
            except Conflict:
                continue
            return
        raise CheckFailed(ALWAYS_CONFLICTS)

    busy = [store.commit(Batch({("busy", str(n)): b"1"})) for n in range(12)]
    await asyncio.gather(*busy, *(append(mark) for mark in range(30)))
    last = (await store.get([key]))[key]
    same(sorted(last.split(b",")[:-1], key=int), [b"%d" % mark for mark in range(30)], "thirty appends")
    wrong = [known for known in seen if not last.startswith(known)]
    require(not wrong, f"a reader saw a list that is no prefix of the final one: {wrong[:1]}")


_CLIENTS = 3
_CALLS = 2


@check("L-10", kinds=("state", "graph", "vector", "cache"))
async def some_serial_order(case: Case) -> None:
    """Run small histories of three clients with two calls each, on a store that already has contents."""
    random = case.random
    strategy, store = STRATEGIES[case.harness.kind], case.store
    model: Model = MODELS[case.harness.kind]()
    for _ in range(8):
        made = strategy.write(random, model)
        expected(model, made)
        await answer(store, made)
    for _ in range(case.profile.histories):
        clients = [[strategy.any(random, model) for _ in range(_CALLS)] for _ in range(_CLIENTS)]
        answers = await asyncio.gather(*(_client(store, calls) for calls in clients))
        left = typed(await snapshot(store))
        found = _serial(model, clients, [[typed(given) for given in one] for one in answers], left)
        if found is None:
            told = "\n".join(
                f"client {index}: {made} gave {given!r}"
                for index, (calls, one) in enumerate(zip(clients, answers, strict=True))
                for made, given in zip(calls, one, strict=True)
            )
            raise CheckFailed(f"no order of these calls explains their results and the final contents:\n{told}")
        model = found


async def _client(store: Any, calls: Sequence[StoreCall]) -> list[object]:
    answers = []
    for made in calls:
        answers.append(await answer(store, made))
        await asyncio.sleep(0)
    return answers


def _serial(model: Model, clients: list[list[StoreCall]], answers: list[list[object]], left: object) -> Model | None:
    """The oracle after an order of the calls that explains all answers and ``left``; None if there is no such order."""
    if not any(clients):
        return model if typed(model.snapshot()) == left else None
    for index, calls in enumerate(clients):
        if not calls:
            continue
        trial = deepcopy(model)
        if typed(expected(trial, calls[0])) != answers[index][0]:
            continue
        rest = [part[1:] if at == index else part for at, part in enumerate(clients)]
        others = [part[1:] if at == index else part for at, part in enumerate(answers)]
        found = _serial(trial, rest, others, left)
        if found is not None:
            return found
    return None


@check("L-9", kinds=STORED)
async def cancelled_reads(case: Case) -> None:
    """A cancelled read ends in ``CancelledError``, and the store remains usable."""
    store, kind = case.store, case.harness.kind
    await answer_all(store, samples(kind)[:2])
    for made in (*samples(kind)[2:], call("check")):
        if made.method == "locate":
            continue
        wanted = typed(await answer(store, made)) if made.method != "check" else None
        for turns in range(8):
            found, ran = await cancelled_after(answer(store, made), turns)
            said = not ran or isinstance(found, asyncio.CancelledError)
            require(said, f"{made} was cancelled while it ran, and gave {found!r} instead of CancelledError")
        async with case.patience():
            found = typed(await answer(store, made))
        # A delete may already have happened, and a statement may time out after the cancelled one.
        right = wanted is None or made.method in ("delete", "query") or found == wanted
        require(right, f"{made} after it was cancelled: {found}")


@check("S-12")
async def crossing_expectations(case: Case) -> None:
    """Several commits each expect a value that another one replaces. At least one succeeds, but never all."""
    store = case.store
    for turn in range(24):
        keys: list[Key] = [("cross", str(at)) for at in range(2 + turn % 3)]
        before = b"%d" % turn
        await store.commit(Batch(dict.fromkeys(keys, before)))

        async def attempt(at: int, keys: list[Key] = keys, before: bytes = before, turn: int = turn) -> bool:
            await pass_turns(at * (turn % 4))
            written = keys[(at + 1) % len(keys)]
            try:
                await store.commit(Batch({written: b"by %d" % at}), expected={keys[at]: before})
            except Conflict:
                return False
            return True

        won = await asyncio.gather(*(attempt(at) for at in range(len(keys))))
        found = await store.get(keys)
        changed = [key for key in keys if found[key] != before]
        require(sum(won) == len(changed) >= 1, f"{sum(won)} of {len(keys)} won, but {len(changed)} values changed")
        # In any order, the commit after a successful one expected the value that this one replaced.
        require(sum(won) < len(keys), f"all of {len(keys)} succeeded, each with an expectation that another one broke")


@check("L-10", "S-12", kinds=("state",))
async def the_first_of_many(case: Case) -> None:
    """Of five commits that expect the same key to be absent, exactly one succeeds."""
    store = case.store
    for turn in range(12):
        key = ("wanted", str(turn))
        made = [call("commit", Batch({key: b"%d" % at}), expected={key: None}) for at in range(5)]
        given = await asyncio.gather(*(answer(store, one) for one in made))
        won = [at for at, found in enumerate(given) if found is None]
        require(len(won) == 1, f"{len(won)} of five commits succeeded, each of which expected the key to be absent")
        same(await store.get([key]), {key: b"%d" % won[0]}, "the value of the successful commit")


@check("L-10", "V-2", kinds=("vector",))
async def the_first_of_many_specs(case: Case) -> None:
    """Of five calls that create the same scope with different specs, exactly one succeeds."""
    store = case.store
    for turn in range(12):
        specs = [ScopeSpec(f"e{at}", at + 1) for at in range(5)]
        given = await asyncio.gather(*(answer(store, call("create", f"s{turn}", spec)) for spec in specs))
        won = [at for at, found in enumerate(given) if found is None]
        others = {str(found) for found in given if found is not None}
        require(len(won) == 1, f"{len(won)} of five calls created the scope with different specs; the others: {others}")
        same(await store.describe(f"s{turn}"), specs[won[0]], "the spec of the successful call")
        await store.upsert(f"s{turn}", [VectorItem("a", (1.0,) * specs[won[0]].dimension)])
        same(await store.count(f"s{turn}"), 1, "count after an upsert")


def _given(kind: str) -> tuple[StoreCall, list[Any]]:
    """A write, and the mutable parts of its arguments."""
    if kind == "state":
        puts: dict[Key, bytes] = {("a",): b"1", ("b",): b"2"}
        expected: dict[Key, bytes | None] = {("a",): None}
        return call("commit", Batch(puts), expected=expected), [puts, expected]
    if kind == "graph":
        node: dict[str, Value] = {"hp": 1, "이름": NFC}
        edge: dict[str, Value] = {"n": 1}
        made = Mutation((Node("n", "L", node), Node("m", "L")), (Edge("n", "T", "m", "", edge),), watermark="t")
        return call("apply", "s", made), [node, edge]
    if kind == "vector":
        vector, metadata = array("f", (1.0, 0.0)), {"n": 1}
        items = [VectorItem("a", vector, "하나", metadata), VectorItem("b", (0.0, 1.0))]
        return call("upsert", "s", items), [vector, metadata, items]
    files = dict(pages("one").files)
    return call("write", "s", Pages(files, "t1")), [files]


def _spoil(part: Any) -> None:
    """Change ``part`` as a caller would who reuses it."""
    if isinstance(part, dict):
        for name, value in part.items():
            part[name] = 5 if isinstance(value, int) else type(value or b"")()
    elif isinstance(part, array):
        part[0] = -7.0
    else:
        part.clear()


@check_each("S-18", "G-29", "V-27", "C-10")
async def arguments_that_change_meanwhile(case: Case) -> None:
    """Change the arguments while the call runs, and also after it was cancelled."""
    if case.harness.retries:
        return  # a retried call gets the changed arguments
    kind = case.harness.kind
    for turns in (1, 2, 3, 5):
        for cancelled in (False, True):
            store = await case.open(f"spoilt-{turns}-{cancelled}")
            if kind == "vector":
                await store.create("s", SPEC)
            nothing = typed(await snapshot(store))
            made, parts = _given(kind)
            writing = asyncio.ensure_future(answer(store, made))
            await pass_turns(turns)
            if cancelled:
                writing.cancel()
            for part in parts:
                _spoil(part)
            given: Any = (await asyncio.gather(writing, return_exceptions=True))[0]
            found = typed(await snapshot(store))
            again = await case.open(f"wanted-{turns}-{cancelled}")
            if kind == "vector":
                await again.create("s", SPEC)
            await answer(again, _given(kind)[0])
            whole = typed(await snapshot(again))
            allowed = [whole, nothing] if isinstance(given, asyncio.CancelledError) else [whole]
            told = "was cancelled and" if cancelled else ""
            require(found in allowed, f"a write {told} ran while its caller changed the arguments; stored is {found}")
            await store.aclose()
            await again.aclose()


# --- swaps ---------------------------------------------------------------------------------------------------

_SWAPPED = 60
"""The number of entries in one half. A graph mutation has 3.5 times as many, which the smallest batch limit allows."""


def _swap(kind: str, mark: int) -> StoreCall:
    """Put one half and delete the other, in turns. At each moment exactly one half must be there."""
    put, gone = ("odd", "even") if mark % 2 else ("even", "odd")
    if kind == "state":
        keys: list[Key] = [("swap", gone, str(n)) for n in range(_SWAPPED)]
        return call("commit", Batch({("swap", put, str(n)): b"%d" % mark for n in range(_SWAPPED)}, frozenset(keys)))
    nodes = tuple(Node(f"{put}{n}", put, {"mark": mark}) for n in range(_SWAPPED))
    edges = tuple(Edge(f"{put}{n}", "T", f"{put}{(n + 1) % _SWAPPED}") for n in range(_SWAPPED))
    cut = tuple(EdgeKey(f"{gone}{n}", "T", f"{gone}{(n + 1) % _SWAPPED}") for n in range(_SWAPPED // 2))
    return call("apply", "s", Mutation(nodes, edges, tuple(f"{gone}{n}" for n in range(_SWAPPED)), cut, str(mark)))


async def _halves(store: Any, kind: str) -> tuple[int, int, str]:
    """The number of entries, the number of different marks, and errors in edges or watermark of a graph."""
    if kind == "state":
        rows = await store.scan(("swap",), limit=3 * _SWAPPED)
        return len(rows), len({value for _, value in rows}), ""
    nodes = await store.scan("s", limit=3 * _SWAPPED)
    marks = {str(node.properties["mark"]) for node in nodes}
    ids = [f"{name}{n}" for name in ("odd", "even") for n in range(_SWAPPED)]
    edges = await store.neighbors("s", ids[: min(len(ids), store.info.limits.batch)])
    watermark = await store.watermark("s")
    wrong = "" if len(edges) == _SWAPPED else f"{len(edges)} edges"
    return len(nodes), len(marks), wrong if marks == {watermark} else f"{wrong} watermark {watermark} beside {marks}"


@check("L-9", kinds=("state", "graph"))
async def cancelled_swaps(case: Case) -> None:
    """Cancel writes that put one half and delete the other, at many turns of the loop. One half must be there."""
    store, kind = case.store, case.harness.kind
    same(await answer(store, _swap(kind, 0)), None, "a write that puts and deletes")
    for mark in range(1, 25):
        await cancelled_after(answer(store, _swap(kind, mark)), mark % 9)
        async with case.patience():
            entries, marks, wrong = await _halves(store, kind)
        require(
            (entries, marks, wrong) == (_SWAPPED, 1, ""),
            f"a write of {_SWAPPED} puts and as many deletes was cancelled; found {entries} entries, of {marks} writes"
            f" {wrong}",
        )


# --- in order ------------------------------------------------------------------------------------------------


@frozen
class _Watch:
    """Large writes with a number each. ``reads`` return the numbers that they see."""

    write: Callable[[int], StoreCall]
    reads: Mapping[str, Callable[[Any], Awaitable[list[int]]]]


def _of_state(size: int) -> _Watch:
    keys: list[Key] = [("w", f"{n:05}") for n in range(size)]

    def write(mark: int) -> StoreCall:
        grown: dict[Key, bytes] = {("new", f"{mark:03}", str(n)): b"" for n in range(50)}
        return call("commit", Batch({**dict.fromkeys(keys[: size - 50], b"%d" % mark), **grown}))

    async def get(store: Any) -> list[int]:
        return [int(value) for value in (await store.get(keys[: size - 50])).values()]

    async def scan(store: Any) -> list[int]:
        return [int(value) for _, value in await store.scan(("w",), limit=size)]

    async def grown(store: Any) -> list[int]:
        return _of_parts(len(await store.scan(("new",), limit=1_000)), 50)

    return _Watch(write, {"get": get, "scan": scan, "scan of new keys": grown})


def _of_parts(count: int, size: int) -> list[int]:
    """The number of the last write if ``count`` consists of whole writes of ``size`` entries; otherwise two numbers."""
    return [count // size - 1] if count % size == 0 else [count // size - 1, count // size]


def _of_graph(size: int) -> _Watch:
    half = size // 2
    ids = [f"n{n:05}" for n in range(half)]

    def write(mark: int) -> StoreCall:
        nodes = tuple(Node(name, "L", {"mark": mark}) for name in ids)
        edges = tuple(Edge(name, "T", ids[0], "", {"mark": mark}) for name in ids)
        return call("apply", "s", Mutation(nodes, edges, watermark=str(mark)))

    async def get(store: Any) -> list[int]:
        return [node.properties["mark"] for node in (await store.get("s", ids)).values()]

    async def scan(store: Any) -> list[int]:
        return [node.properties["mark"] for node in await store.scan("s", label="L", limit=size)]

    async def neighbors(store: Any) -> list[int]:
        return [edge.properties["mark"] for edge in await store.neighbors("s", ids[:1])]

    async def watermark(store: Any) -> list[int]:
        return [int(await store.watermark("s") or -1)]

    return _Watch(write, {"get": get, "watermark": watermark, "neighbors": neighbors, "scan": scan})


def _of_vector(size: int) -> _Watch:
    ids = [f"n{n:05}" for n in range(size - 50)]

    def write(mark: int) -> StoreCall:
        items = [VectorItem(name, (1.0, 0.0), "", {"mark": mark}) for name in ids]
        return call("upsert", "s", [*items, *(VectorItem(f"new{mark}-{n}", (0.0, 1.0)) for n in range(50))])

    async def get(store: Any) -> list[int]:
        return [item.metadata["mark"] for item in (await store.get("s", ids)).values()]

    async def count(store: Any) -> list[int]:
        return _of_parts(await store.count("s") - len(ids), 50)

    async def query(store: Any) -> list[int]:
        hits = await store.query(["s"], (1.0, 0.0), 40, where=Exists("mark"))
        return [hit.metadata["mark"] for hit in hits]

    async def scan(store: Any) -> list[int]:
        found = await store.scan("s", limit=size)
        return [item.metadata["mark"] for item in found if item.id in ids]

    return _Watch(write, {"count": count, "get": get, "query": query, "scan": scan})


_LARGEST = {"state": 10_000, "graph": 1_001, "vector": 4_097}
"""The entries of the largest watched write, as many as engines can handle with three readers that never pause."""

_WATCHES: Mapping[str, Callable[[int], _Watch]] = {"state": _of_state, "graph": _of_graph, "vector": _of_vector}


@check_each("S-13", "G-36", "V-30")
async def writes_in_order(case: Case) -> None:
    """Watch large writes with readers. Each read must see one whole write, and no read an older one than before."""
    kind, most = case.harness.kind, case.harness.limits.batch
    largest = max(case.profile.edges if kind == "graph" else case.profile.sizes)
    largest = largest if case.brief else max(largest, _LARGEST[kind])
    for size, turns in ((min(256, most), 5), (min(largest, most), 2)):
        store = await case.open(f"watched-{size}")
        watch = _WATCHES[kind](size)
        if kind == "vector":
            await store.create("s", SPEC)
        same(await answer(store, watch.write(0)), None, "the first large write")
        over = asyncio.Event()

        async def write(
            store: Any = store, watch: _Watch = watch, over: asyncio.Event = over, last: int = turns
        ) -> None:
            try:
                for mark in range(1, last + 1):
                    same(await answer(store, watch.write(mark)), None, f"the large write {mark}")
                    await asyncio.sleep(0)
            finally:
                over.set()

        writing = asyncio.ensure_future(write())
        try:
            await asyncio.gather(*(_read(store, watch, over, at) for at in range(3)))
        finally:
            await writing
        for name, read in watch.reads.items():
            same(set(await read(store)), {turns}, f"{name} after the last write of {size}")
        await store.aclose()


async def _read(store: Any, watch: _Watch, over: asyncio.Event, first: int) -> None:
    ways = list(watch.reads.items())
    seen, by, number = 0, "the first write", first
    while not over.is_set():
        name, read = ways[number % len(ways)]
        marks = sorted(set(await read(store)))
        require(len(marks) == 1, f"{name} during a large write saw parts of the writes {marks}")
        require(marks[0] >= seen, f"{name} saw the write {marks[0]} after {by} had seen the write {seen}")
        seen, by, number = marks[0], name, number + 1
        if number % 3 == 0:  # reads come in threes without a pause, to see also what is half done for one turn
            await asyncio.sleep(0)
