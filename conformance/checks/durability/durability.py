"""Data after reopening and after a kill, and several openers of one path."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from random import Random
from time import time
from typing import Any

from conformance.assertions import CheckFailed, refused, require, same, typed
from conformance.calls import answer, call, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import large_write, prepared, readings
from conformance.inputs import samples
from conformance.models import MODELS, Model, expected
from conformance.processes import child, read_elsewhere, watched
from conformance.spec import STORED
from conformance.strategies import STRATEGIES, planned, states
from saga_core.errors import Conflict, StoreLocked
from saga_core.stores import Batch

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
        for made in samples(kind)[:1]:
            await answer(store, made)
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
    require(typed(await snapshot(store)) == before, "a rejected opening changed what the first store reads")
    again = await case.reopen(store)
    require(typed(await snapshot(again)) == before, "a rejected opening changed what is stored")


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


@check("L-15", kinds=STORED)
async def several_openers(case: Case) -> None:
    kind, store = case.harness.kind, case.store
    other = await case.open()
    model: Model = MODELS[kind]()
    random = case.random
    for number, made in enumerate(planned(kind, case.random, 24)):
        writer = random.choice((store, other))
        wanted = expected(model, made)
        same(await answer(writer, made), wanted, str(made))
        if number % 4 == 3:  # in between, an opener learns of the other's writes only by itself
            for opener in (store, other):
                for ask in STRATEGIES[kind].reads.values():
                    asked = ask(random, model)
                    same(await answer(opener, asked), expected(model, asked), f"{asked} by one of two openers")
                same(await snapshot(opener), model.snapshot(), f"the contents for one of two openers, after {made}")
    await _in_turns(case)
    # Alternate with another process. Each must read what the other one wrote.
    everything = planned(kind, Random(case.seed + 1), 34)
    made_here = everything[:24]
    path = case.place("beside")
    beside: Any = await case.open("beside")
    for made in made_here:
        await answer(beside, made)
    done = len(made_here)
    for turn in range(2):
        theirs = everything[done : done + 3]
        _, seen = await read_elsewhere(case, path, theirs, seed=turn, close=bool(turn))
        done += len(theirs)
        known = states(kind, everything[:done])[-1]
        same(seen, known, "the contents for another process")
        require(typed(await snapshot(beside)) == known, "this process does not see what another one wrote")
        for made in everything[done : done + 2]:
            await answer(beside, made)
        done += 2
    require(typed(await snapshot(beside)) == states(kind, everything[:done])[-1], "wrong contents after two writers")
    if kind == "state":
        await _counted_together(case)


async def _in_turns(case: Case) -> None:
    """Two openers take turns to write data of the same size. The other one reads it with every method."""
    kind = case.harness.kind
    one, other = await case.open("turns"), await case.open("turns")
    await prepared(case, one)
    for mark in range(1, 7):
        writer, reader = (one, other) if mark % 2 else (other, one)
        same(await answer(writer, large_write(kind, mark)), None, "a large write by one of two openers")
        for name, (read, marks) in readings(kind).items():
            found = marks(await read(reader))
            require(len(set(found)) == 1 and str(mark) in str(found[0]), f"{name} by the other opener gave {found[:1]}")
        if kind == "state":
            await _in_conditions(writer, reader, mark)


async def _in_conditions(writer: Any, reader: Any, mark: int) -> None:
    """An opener must be able to expect what the other one wrote, but not the value before that."""
    key = ("condition",)
    await writer.commit(Batch({key: b"%d" % mark}))
    made = reader.commit(Batch({key: b"lost"}), expected={key: b"%d" % (mark - 1)})
    await refused(Conflict, made, "an expectation of the value before the other opener's write")
    await reader.commit(Batch({key: b"theirs"}), expected={key: b"%d" % mark})
    same(await writer.get([key]), {key: b"theirs"}, "the value after a conditional write of the other opener")


async def _counted_together(case: Case) -> None:
    """Two processes write different keys at the same time. No write may be lost."""
    store = await case.open("counted")
    keys = [("mark", str(number)) for number in range(60)]
    mine = [Batch({key: b"here"}) for key in keys[:30]]
    theirs = tuple(call("commit", Batch({key: b"there"})) for key in keys[30:])
    running = child(case, case.place("counted"), calls=theirs, close=True)
    watching = asyncio.ensure_future(watched(running))
    try:
        while not watching.done():
            for batch in mine:
                await store.commit(batch)
                await asyncio.sleep(0)
    finally:
        lines, errors = await watching
    require(lines[-1:] == ["closed"], f"another process at the same time failed after {lines}: {errors}")
    for batch in mine:
        await store.commit(batch)
    found = await store.get(keys)
    missing = [key for key in keys if key not in found]
    require(not missing, f"writes of two processes at the same time are lost: {missing[:3]}")
