"""Checks of durable data: opened again, in another process, after a kill, a crash and a full disk."""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import signal
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from time import perf_counter, time
from typing import Any

from attrs import frozen

from conformance.assertions import CheckFailed, among, equal, refused, require, same, typed
from conformance.calls import StoreCall, answer, answer_all, call, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import ground, large_write, prepared, readings
from conformance.inputs import ALIKE, FIELDS, SCALARS, TUPLES, pages, samples
from conformance.oracles import MODELS, Model, expected
from conformance.processes import child, read_elsewhere, watched
from conformance.spec import STORED
from conformance.strategies import STRATEGIES, planned, states
from saga_core.capabilities import Capability
from saga_core.errors import StoreLocked
from saga_core.stores import Batch, Edge, EdgeKey, Exists, Key, Mutation, Node, Pages, ScopeSpec, VectorItem
from saga_core.values import PAGE_NAMES

_CALLS = 40


@check("L-11", kinds=STORED)
async def it_is_there_again(case: Case) -> None:
    kind = case.harness.kind
    model: Model = MODELS[kind]()
    store = case.store
    for number, made in enumerate(planned(kind, case.random, 30)):
        wanted = expected(model, made)
        same(await answer(store, made), wanted, str(made))
        if number % 10 == 9:
            store = await case.reopen(store)
            same(await snapshot(store), model.snapshot(), "the contents after reopening")
    drop = [made for made in samples(kind) if made.method == "drop"]
    for name in await store.scopes() if drop else ():
        await store.drop(name)
    if drop:
        store = await case.reopen(store)
        same(await snapshot(store), {}, "the contents after dropping everything and reopening")
    if kind != "state":  # S-19 asks more of a journal
        await _acknowledged_without_room(case)


@check("L-12", kinds=STORED)
async def killed(case: Case) -> None:
    """Kill a process. Its acknowledged calls must be there, and at most the running call in addition."""
    require(hasattr(signal, "SIGKILL"), "this system has no SIGKILL")
    kind, random = case.harness.kind, case.random
    for number in range(case.profile.kills):
        calls = planned(kind, random, _CALLS)
        name = f"killed-{number}"
        lines, errors = await watched(child(case, case.place(name), calls=tuple(calls)), random.randint(1, _CALLS - 10))
        require(lines[:1] == ["open"], f"the second process could not open the store: {errors}")
        acknowledged = len(lines) - 1
        wrong = [line for line in lines[1:] if line not in ("None", "int")]
        require(not wrong, f"a call in the second process failed: {wrong[:1]} {errors}")
        store = await case.open(name)
        found = typed(await snapshot(store))
        known_states = states(kind, calls)
        if found not in known_states[acknowledged : acknowledged + 2]:
            known = [at for at, state in enumerate(known_states) if state == found]
            raise CheckFailed(
                f"killed after {acknowledged} acknowledged calls; the store is in the state after "
                f"{known[0] if known else 'no number of'} calls.\n{calls[acknowledged - 1]} was acknowledged last"
            )
        # The store must accept writes, whatever its state.
        await answer_all(store, samples(kind)[:1])
        await store.aclose()


@check("L-13", kinds=STORED)
async def one_opener(case: Case) -> None:
    kind, store = case.harness.kind, case.store
    first, second = samples(kind)[:2]
    await answer(store, first)
    await refused(StoreLocked, case.open(), "opening the path a second time in this process")
    same(await answer(store, second), None, f"{second} after a second opening was rejected")
    before = typed(await snapshot(store))
    lines, errors = await watched(child(case, case.place("store")), 0)
    require(lines == ["StoreLocked"], f"opening the path in another process gave {lines}: {errors}")
    # Simulate a day without writes, first with the times of the files, then with the clock of the other process.
    await asyncio.to_thread(_age, case.place("store"))
    for ahead in (86_400.0, -86_400.0):
        lines, errors = await watched(child(case, case.place("store"), clock=ahead), 0)
        told = f"opening the path in a process whose clock is {ahead:+.0f} seconds off"
        require(lines == ["StoreLocked"], f"{told} gave {lines}: {errors}")
    equal(typed(await snapshot(store)), before, "a rejected opening changed what the first store reads")
    again = await case.reopen(store)
    equal(typed(await snapshot(again)), before, "a rejected opening changed what is stored")


def _age(path: Path) -> None:
    """Set the times of all files to one day ago."""
    then = time() - 86_400
    for file in path.rglob("*"):
        with suppress(OSError):  # the file may be gone
            os.utime(file, (then, then), follow_symlinks=False)


@check("L-14", kinds=STORED)
async def the_path_is_free_again(case: Case) -> None:
    kind, store = case.harness.kind, case.store
    first, second = samples(kind)[:2]
    model: Model = MODELS[kind]()
    expected(model, first)
    await answer(store, first)
    for _ in range(3):
        store = await case.reopen(store)
    await store.aclose()
    expected(model, second)
    lines, errors = await watched(child(case, case.place("store"), calls=(second,)), 1)
    require(lines == ["open", "None"], f"another process, after aclose in this one, gave {lines}: {errors}")
    store = await case.open()
    same(await snapshot(store), model.snapshot(), "the contents after a kill")
    expected(model, first)
    same(await answer(store, first), None, f"{first} after a kill")
    same(await snapshot(store), model.snapshot(), "the contents after a further write")


def _many(kind: str) -> list[StoreCall]:
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


def _asked(kind: str, model: Model, random: Random) -> list[StoreCall]:
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
    for made, given, due in zip(writes, answers, wanted, strict=True):
        equal(given, due, str(made)[:200])
    asked = _asked(kind, model, random)
    if Capability.APPROXIMATE in case.harness.provides:
        asked = [made for made in asked if made.method != "query"]
    answers, seen = await read_elsewhere(case, path, asked, seed=2)
    for made, found in zip(asked, answers, strict=True):
        equal(found, typed(expected(model, made)), f"{made} in another process")
    equal(seen, typed(model.snapshot()), "another process does not see what was written")
    store = await case.open("elsewhere")
    for made in asked:
        same(await answer(store, made), expected(model, made), f"{made} in this process")


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
    equal(typed(await snapshot(store)), before, "a rejected opening changed what the first store reads")
    await store.aclose()
    again = await case.open("link")
    equal(typed(await snapshot(again)), before, "opening by a symbolic link gives other contents")
    await again.aclose()


def _much(case: Case) -> list[StoreCall]:
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
        same(found, wanted, str(made)[:200])
    written = _written(model, case)
    before = await _everything(store, case)
    equal(before, written, "before closing")
    again = await case.reopen(store, "much")
    after = await _everything(again, case)
    equal(after, before, "after reopening")


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


_LARGE = {"state": (2_000, 10_000), "graph": (256, 1_001), "vector": (256, 4_097), "cache": (1, 1)}
"""The entries of a write that a store may make in several statements. SAGA makes the smaller ones."""


@check("L-12", kinds=STORED)
async def in_a_large_write(case: Case) -> None:
    """Kill a process in the midst of a large write. With every method, all or nothing of it must be readable."""
    kind, random = case.harness.kind, case.random
    for number in range(2 * case.profile.kills + 2):
        name, many = f"large-{number}", min(_LARGE[kind][number % 2], case.harness.limits.batch)
        store = await case.open(name)
        await prepared(case, store, many)
        await store.aclose()
        calls = tuple(large_write(kind, mark, many) for mark in range(1, 30))
        done = random.randint(1, 4)
        lines, errors = await watched(child(case, case.place(name), calls=calls), done, random.random())
        require(lines[:1] == ["open"], f"the second process could not open the store: {errors}")
        acknowledged = len(lines) - 1
        again = await case.open(name)
        for method, (read, marks) in readings(kind, many).items():
            found = {str(mark).split()[0].removeprefix("b'").removesuffix("'") for mark in marks(await read(again))}
            allowed = [str(acknowledged), str(acknowledged + 1)]
            right = len(found) == 1 and found <= {*allowed}
            told = f"killed after {acknowledged} acknowledged writes of {many} entries, in the middle of the next"
            require(right, f"{told}: {method} gives entries of writes {sorted(found)}, expected one of {allowed}")
        await again.aclose()


_LONG = 300_000
"""The length of a value in bytes, long enough that an engine may store it in a separate file."""
_LONG_TEXT = 60_000


def _long_writes(kind: str, count: int = 8) -> list[StoreCall]:
    """Writes that contain their number twice, in a long value and in a short one. Each replaces the one before."""
    marks = [str(mark)[-1] for mark in range(1, count + 1)]
    if kind == "state":
        return [
            call("commit", Batch({("long",): mark.encode() * _LONG, ("mark",): mark.encode(), ("at", mark): b""}))
            for mark in marks
        ]
    if kind == "graph":
        return [
            call("apply", "s", Mutation((Node("n", "L", {"t": mark * _LONG_TEXT, "n": mark}),), watermark=mark))
            for mark in marks
        ]
    if kind == "vector":
        return [call("upsert", "s", [VectorItem("n", (1.0, 0.0), mark * _LONG_TEXT, {"n": mark})]) for mark in marks]
    return [call("write", "s", pages(mark * _LONG, mark)) for mark in marks]


@check("L-12", kinds=("state", "cache"))
async def with_long_values(case: Case) -> None:
    """Kill a process right after it acknowledged a write of long values. The write must be there."""
    kind = case.harness.kind
    calls = _long_writes(kind)
    known = states(kind, calls)
    for number, done in enumerate((2, 5)[: case.profile.kills]):
        lines, errors = await watched(child(case, case.place(f"long-{number}"), calls=tuple(calls)), done)
        acknowledged = len(lines) - 1
        require(lines[:1] == ["open"], f"the second process could not open the store: {errors}")
        store = await case.open(f"long-{number}")
        found = typed(await snapshot(store))
        right = found in known[acknowledged : acknowledged + 2]
        require(right, f"killed after {acknowledged} writes of {_LONG} bytes or more, but the last one is not there")
        await store.aclose()


def _sorts(kind: str) -> list[list[StoreCall]]:
    """Short lists of calls, each ending with a kind of write that engines may handle separately."""
    if kind == "state":
        first = call("commit", Batch({("a",): b"1", ("b",): b"2"}))
        return [
            [first, call("commit", Batch({("a",): b"3"}), expected={("a",): b"1"})],
            [first, call("commit", Batch(deletes=frozenset({("a",)})))],
        ]
    if kind == "graph":
        nodes = (Node("a", "L"), Node("b", "L"))
        first = call("apply", "s", Mutation(nodes, (Edge("a", "T", "b"),), watermark="t1"))
        return [
            [first, call("apply", "s", Mutation(watermark="t2"))],
            [first, call("apply", "s", Mutation(delete_edges=(EdgeKey("a", "T", "b"),)))],
            [first, call("drop", "s")],
            [first, call("drop", "s"), call("apply", "s", Mutation((Node("b", "L"),)))],
        ]
    if kind == "vector":
        filled = [VectorItem("a", (1.0, 0.0), "", {"n": 1}), VectorItem("b", (0.0, 1.0))]
        begun = [*ground(kind), call("upsert", "s", filled)]
        again = [call("drop", "s"), *ground(kind), call("upsert", "s", filled[1:])]
        return [
            [*begun, call("delete", "s", where=Exists("n"))],
            [*begun, call("delete", "s", ids=["b"])],
            [*begun, call("drop", "s")],
            [*begun, *again],
        ]
    return [[call("write", "s", pages("one")), call("drop", "s")]]


@check("L-12", kinds=STORED)
async def after_each_sort_of_write(case: Case) -> None:
    """Kill a process right after a conditional write, a delete, a drop or a watermark. It must have happened."""
    kind = case.harness.kind
    for number, calls in enumerate(_sorts(kind)):
        lines, errors = await watched(child(case, case.place(f"sort-{number}"), calls=tuple(calls)), len(calls))
        require(len(lines) == len(calls) + 1, f"the second process reported {lines}: {errors}")
        store = await case.open(f"sort-{number}")
        found = typed(await snapshot(store))
        equal(found, states(kind, calls)[-1], f"killed after {calls[-1]} was acknowledged, but it has not happened")
        await store.aclose()


async def _steps(case: Case, path: Path, calls: tuple[StoreCall, ...]) -> tuple[list[str], list[str]]:
    """The steps of a process that opens the store and makes the calls: those of the opening, and those of the calls."""
    file = case.place(f"steps-{case.count()}")
    lines, errors = await watched(child(case, path, calls=calls, steps=str(file)), len(calls) + 1)
    require(lines[-1:] == ["answered"], f"the second process reported {lines}: {errors}")
    found: tuple[list[str], list[str]] = pickle.loads(file.read_bytes())
    return found


_DESTRUCTIVE = ("open", "truncate", "ftruncate", "rename", "replace", "unlink", "remove", "rmdir")
_OWN = "return of"


def _moments(steps: list[str], most: int, random: Random, calls: int = 0) -> list[tuple[str, int]]:
    """Steps after which to kill a process, each with a number.

    At first come the steps after which data may be missing, then the store's own functions of which a few calls make
    one of the ``calls``.
    """
    counts = Counter(steps)
    listed = random.sample(list(counts), len(counts))
    listed.sort(key=lambda step: (not step.startswith(_DESTRUCTIVE), counts[step] <= calls, counts[step]))
    times = [(step, random.randint(1, counts[step])) for step in listed]
    times += [(step, counts[step]) for step in listed] + [(step, 1) for step in listed]
    return list(dict.fromkeys(times))[:most]


@check("L-12", kinds=STORED)
async def after_a_step(case: Case) -> str:
    """Kill a process after it has changed a file, in a write and while it opens a store that was killed before.

    An engine that takes long to open is killed less often.
    """
    end = perf_counter() + case.profile.kill_seconds
    kind, random, kills = case.harness.kind, case.random, case.profile.kills
    many = min(_LARGE[kind][1], case.harness.limits.batch)
    large = (*ground(kind), *(large_write(kind, mark, many) for mark in (1, 2)))
    # At last long values, one in place of the other: an engine that tidies up has a reason to do so.
    mixed = (*(made for calls in _sorts(kind) for made in calls), *ground(kind), *_long_writes(kind, 16))
    path = case.place("mixed")
    _, writing = await _steps(case, path, mixed)
    opening, _ = await _steps(case, path, ())
    changes = [step for step in writing if not step.startswith(_OWN)]
    moments = [(mixed, at, False) for at in _moments(changes, 2 * kills, random)]
    moments += [(mixed, at, True) for at in _moments(opening, kills + 1, random)]
    _, writing = await _steps(case, case.place("large"), large)
    own = [step for step in writing if step.startswith(_OWN)]
    moments += [(large, at, False) for at in _moments(own, max(3, kills + 1), random, len(large))]
    known_states = {len(calls): states(kind, list(calls)) for calls in (mixed, large)}
    random.shuffle(moments)  # also an engine that takes long is killed in writes and when it opens
    for number, (calls, at, opens) in enumerate(moments):
        if number > kills and perf_counter() > end:
            return f"{number} of {len(moments)} kills"
        path, last, known = case.place(f"step-{number}"), calls, known_states[len(calls)]
        if opens:
            await watched(child(case, path, calls=calls), len(calls))
            last = ()
        made = child(case, path, calls=last, steps=str(case.place("steps")), die_after=at)
        lines, errors = await watched(made, len(last) + 1)
        acknowledged = len(calls) if opens else len([line for line in lines[1:] if line != "answered"])
        store = await case.open(f"step-{number}")
        found = typed(await snapshot(store))
        if found not in known[acknowledged : acknowledged + 2]:
            reached = [index for index, state in enumerate(known) if state == found]
            raise CheckFailed(
                f"killed {'while it opened the store' if opens else 'in a write'}, with {acknowledged} calls "
                f"acknowledged; the store is in the state after {reached[0] if reached else 'no number of'} calls. "
                f"{errors[-300:]}"
            )
        await store.aclose()
    return f"{len(moments)} kills"


@check("L-17", kinds=STORED)
async def killed_again_and_again(case: Case) -> None:
    """Write and kill three times, then write, close and read, with a separate process each time."""
    kind = case.harness.kind
    calls = planned(kind, case.random, 24)
    known, path = states(kind, calls), case.place("again")
    for turn in range(4):
        part = calls[turn * 6 : turn * 6 + 6]
        answers, seen = await read_elsewhere(case, path, part, seed=turn + 1, close=turn == 3)
        wrong = [given for given in answers if given != typed(None) and given[0] != "int"]
        require(not wrong, f"after {turn} kills, a write gave {wrong[:1]}")
        equal(seen, known[(turn + 1) * 6], f"the contents after {turn} kills and further writes")
    store = await case.open("again")
    equal(typed(await snapshot(store)), known[24], "the contents are wrong after three kills and a closing")


@frozen
class _Image:
    """A copy of the files of an open store."""

    path: Path
    files: dict[str, tuple[int, int]]
    """The inode and size of each file, by name."""


_Torn = tuple[Path, int, str]
"""A folder, the number of the write that is torn in it, and a description of both."""


def _image(source: Path, target: Path) -> _Image:
    shutil.copytree(source, target, symlinks=True)
    files = {}
    for file in source.rglob("*"):
        if file.is_file() and not file.is_symlink():
            about = file.stat()
            files[str(file.relative_to(source))] = (about.st_ino, about.st_size)
    return _Image(target, files)


def _grown(before: _Image, after: _Image) -> tuple[str, int, int] | None:
    """The name, old size and new size of the only file that grew by appending; None if it is not exactly one."""
    found = []
    for name, (inode, size) in after.files.items():
        old_inode, old_size = before.files.get(name, (0, 0))
        if old_inode == inode and 0 < old_size < size:
            start = (after.path / name).read_bytes()[:old_size]
            if start == (before.path / name).read_bytes():
                found.append((name, old_size, size))
    return found[0] if len(found) == 1 else None


@check("L-22", kinds=STORED)
async def torn_tails(case: Case) -> str:
    """Cut off a write at the end of a file. Open the store, read it, write to it, reopen it and read it again."""
    kind = case.harness.kind
    writes, further = planned(kind, case.random, 8), _further(kind)
    store = await case.open("torn")
    images = [await asyncio.to_thread(_image, case.place("torn"), case.place("image-0"))]
    for number, made in enumerate(writes, start=1):
        await answer(store, made)
        images.append(await asyncio.to_thread(_image, case.place("torn"), case.place(f"image-{number}")))
    await store.aclose()
    torn: list[_Torn] = []
    for number in (3, 8):
        torn += await asyncio.to_thread(_cut, case, images[number - 1], images[number], number)
    if not torn:
        return "nothing was cut off: neither of the two writes only appended to exactly one file"
    file = case.place("survey")
    others = tuple(str(path) for path, _, _ in torn)
    survey = child(case, case.place("none"), others=others, calls=(further,), answers=str(file))
    lines, errors = await watched(survey)
    seen: list[Any] = pickle.loads(file.read_bytes()) if file.exists() else []
    if lines[-1:] != ["closed"]:
        raise CheckFailed(f"a process that opened torn files failed at {torn[len(seen)][2]}: {errors}")
    known = states(kind, writes)
    for (_, number, what), found in zip(torn, seen, strict=True):
        require(len(found) == 3, f"{what}; opening it gave {found}")
        before, given, after = found
        among(before, known[number - 1 : number + 1], f"{what}; the contents are neither those before nor after it")
        happened = [*writes[: known.index(before)], further]
        wanted = states(kind, happened)[-1]
        equal(after, wanted, f"{what}; a later write gave {given}, but is not there when the store is opened again")
    return f"{len(torn)} torn copies"


def _cut(case: Case, before: _Image, after: _Image, number: int) -> list[_Torn]:
    """Copy the files from before the write, with the appended file cut off at several places within the write."""
    grown = _grown(before, after)
    if grown is None:
        return []
    name, old, new = grown
    few = [old + 1, new - 1, (old + new) // 2, old + 9, old + 5, *range(old + 1, new)]
    places = [at for at in dict.fromkeys(few) if old < at < new][: case.profile.cuts]
    found = []
    for at in places:
        path = case.place(f"torn-{number}-at-{at - old}-of-{new - old}")
        shutil.copytree(before.path, path, symlinks=True)
        with (path / name).open("wb") as file:
            file.write((after.path / name).read_bytes()[:at])
        found.append((path, number, f"write {number} torn, with {at - old} of its {new - old} bytes in {name}"))
    return found


async def _acknowledged_without_room(case: Case) -> None:
    """Keep files from growing. What was acknowledged must be there later, also what was acknowledged then."""
    kind = case.harness.kind
    calls = [*planned(kind, case.random, 5), _write_without_room(kind)]
    path = case.place("full")
    lines, errors = await watched(child(case, path, calls=tuple(calls), full_from=5, close=True))
    require(lines[:1] == ["open"] and len(lines) > 5, f"the second process failed after {lines}: {errors}")
    store = await case.open("full")
    done = 6 if lines[6:7] and lines[6] in ("None", "int") else 5
    allowed = states(kind, calls)[done:]
    told = "a write without space on the disk was acknowledged" if done == 6 else "after a write without space"
    among(typed(await snapshot(store)), allowed, f"{told}; when the store is opened again")


@check("S-19")
async def no_room_for_the_journal(case: Case) -> None:
    await _no_room(case)


@check("L-23", kinds=("graph", "vector", "cache"))
async def no_room(case: Case) -> None:
    await _no_room(case)


async def _no_room(case: Case) -> None:
    """Keep files from growing. A write must fail or be kept, and all else must be readable, also after reopening."""
    kind = case.harness.kind
    base = planned(kind, case.random, 6)
    for room in (0, 40):
        calls: list[StoreCall] = [*base[:5], _write_without_room(kind), base[5]]
        path = case.place(f"full-{room}")
        asked = _asked_when_full(kind, calls)
        answers, seen = await read_elsewhere(case, path, calls, close=False, full_from=5, room=room, asked=asked)
        _, when_full = answers.pop(5)
        done = _after(kind, calls, answers, asked)
        refused = [given for given in answers if isinstance(given, tuple) and given[0] == "refused"]
        require(
            all(given[1] in _SAYS_FULL for given in refused),
            f"without space on the disk, a write gave {refused}; expected StoreError",
        )
        among(when_full, done["when full"], f"without disk space, {_told(answers[5])}, but reads do not show that")
        among(seen, done["last"], f"with space again, reads do not agree with what was acknowledged ({answers})")
        store = await case.open(f"full-{room}")
        again = typed(await snapshot(store))
        equal(again, seen, f"without space on the disk, {_told(answers[5])}; after reopening, reads differ")
        await store.aclose()


_SAYS_FULL = ("StoreError", "StoreUnavailable", "StoreCorrupt", "Closed")


def _further(kind: str) -> StoreCall:
    """A write that succeeds whatever the store contains."""
    return {
        "state": call("commit", Batch({("further", "write"): b"1"})),
        "graph": call("apply", "further", Mutation((Node("n", "L"),))),
        "vector": call("create", "further", ScopeSpec("e", 2)),
        "cache": call("write", "further", pages("further")),
    }[kind]


def _write_without_room(kind: str) -> StoreCall:
    if kind == "vector":
        # A scope of the plan may exist or not and have any dimension, so this write uses a separate scope.
        return call("create", "no room " * 20, ScopeSpec("e", 2))
    return large_write(kind, 7)


def _told(given: Any) -> str:
    return "the write was acknowledged" if given == typed(None) else f"the write gave {str(given)[:80]}"


def _asked_when_full(kind: str, calls: list[StoreCall]) -> tuple[StoreCall, ...]:
    """The reads while the disk is full. A cache that is ahead of the disk shows in ``get``, not in ``scan``."""
    if kind != "state":
        return ()
    keys = dict.fromkeys(key for made in calls for key in made.args[0].puts)
    return (call("get", list(keys)), *(call("get", [key]) for key in list(keys)[:20]))


def _state_after(kind: str, calls: list[StoreCall], asked: tuple[StoreCall, ...]) -> tuple[object, tuple[object, ...]]:
    """The oracle's contents after ``calls``, and its answers to ``asked``."""
    model: Model = MODELS[kind]()
    for made in calls:
        expected(model, made)
    return typed(model.snapshot()), tuple(typed(expected(model, one)) for one in asked)


def _after(kind: str, calls: list[StoreCall], answers: list[Any], asked: tuple[StoreCall, ...]) -> dict[str, list[Any]]:
    """The allowed contents. A write that failed for lack of space has happened or has not happened."""
    acked = [given != () and not (isinstance(given, tuple) and given[:1] == ("refused",)) for given in answers]
    full: list[Any] = []
    last: list[Any] = []
    for happened in (True, False):
        if acked[5] and not happened:
            continue
        first = [*calls[:5], *([calls[5]] if happened else [])]
        full.append(_state_after(kind, first, asked))
        last.append(states(kind, [*first, calls[6]])[-1])
        if not acked[6]:
            last.append(full[-1][0])
    return {"when full": full, "last": last}
