"""Checks of stores that several processes open at once, among them one that stands still and goes on later."""

from __future__ import annotations

import asyncio
import signal
import threading
from random import Random
from subprocess import Popen
from time import perf_counter, sleep
from typing import Any

from attrs import evolve

from conformance.assertions import Refused, equal, refused, require, same, typed
from conformance.calls import StoreCall, answer, answer_all, call, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import ground, large_write, prepared, readings
from conformance.oracles import MODELS, Model, expected
from conformance.processes import Watched, child, read_elsewhere, watched
from conformance.spec import STORED
from conformance.strategies import STRATEGIES, planned, states
from saga_core.errors import Conflict
from saga_core.stores import Batch, Fence


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
    await answer_all(beside, made_here)
    done = len(made_here)
    for turn in range(2):
        theirs = everything[done : done + 3]
        _, seen = await read_elsewhere(case, path, theirs, seed=turn, close=bool(turn))
        done += len(theirs)
        known = states(kind, everything[:done])[-1]
        same(seen, known, "the contents for another process")
        equal(typed(await snapshot(beside)), known, "this process does not see what another one wrote")
        await answer_all(beside, everything[done : done + 2])
        done += 2
    equal(typed(await snapshot(beside)), states(kind, everything[:done])[-1], "wrong contents after two writers")
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


_STEPS = 300
"""The steps that two processes compete for. Each of them is a commit."""


@check("L-25", kinds=("state",))
async def two_writers_and_one_expectation(case: Case) -> None:
    """Two processes make the same conditional commits, and one stands still now and then. Each may succeed once."""
    store = await case.open("taken")
    await store.commit(Batch({("turn",): b"0"}))
    theirs = tuple(_step(number, b"there") for number in range(_STEPS))
    process = child(case, case.place("taken"), calls=theirs, close=True)
    stalls = threading.Thread(target=_stall_often, args=(process, Random(case.seed)))
    running = Watched(process)
    try:
        await running.until("None", "conditional commits of another process")
        stalls.start()
        here = [await answer(store, _step(number, b"here")) for number in range(_STEPS)]
        lines = await running.ended()
    finally:
        running.end()
        if stalls.ident is not None:
            await asyncio.to_thread(stalls.join)
    require(lines[-1:] == ["closed"], f"another process that wrote at the same time failed after {lines[-3:]}")
    there = lines[1:-1]
    for number, (mine, other) in enumerate(zip(here, there, strict=True)):
        known: dict[tuple[object, str], bytes] = {
            (None, "Conflict"): b"here",
            (Refused("Conflict", ("turn",)), "None"): b"there",
        }
        require(
            (mine, other) in known,
            f"commit {number} of two processes with the same expectation: here it gave {mine}, there {other}",
        )
        name = ("by", f"{number:04}")
        same(await store.get([name]), {name: known[mine, other]}, f"what commit {number} of two processes wrote")


def _step(number: int, who: bytes) -> StoreCall:
    turn, entry = ("turn",), ("by", f"{number:04}")
    return call("commit", Batch({turn: b"%d" % (number + 1), entry: who}), expected={turn: b"%d" % number})


def _stall_often(process: Popen[bytes], random: Random) -> None:
    while process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        sleep(random.random() * 0.01)
        process.send_signal(signal.SIGCONT)
        sleep(random.random() * 0.01)


_LEASE = ("lease", "s")
_TURNS, _SECONDS = 60, 6.0


@check("L-25", kinds=("graph", "vector", "cache"))
async def a_stalled_writer_is_fenced(case: Case) -> str:
    """A process stands still while it writes, and another one takes over. What the first one writes later is refused.

    Then the first one may write again, and so on. The second one also writes into another scope while the first one is
    stopped, so that a store with a lock is stopped while it waits for it.
    """
    require(case.harness.journal, "it declares shared, but the harness does not say what opens the journal's store")
    kind, random = case.harness.kind, case.random
    store, journal = await case.open(), await case.open(journal=True)
    same(store.info.identity, journal.info.identity, "info.identity, which the journal's store must have too")
    require(store.info.identity, "info.identity is empty, so SAGA cannot tell where the journal is")
    await prepared(case, store)
    *ready, beside = (evolve(made, args=("beside", *made.args[1:])) for made in (*ground(kind), large_write(kind, 0)))
    await answer_all(store, ready)
    begun = perf_counter()
    await answer(store, beside)
    write = perf_counter() - begun
    await journal.commit(Batch({_LEASE: b"there"}))
    stall = max(0.03, 4 * (perf_counter() - begun))
    theirs = tuple(large_write(kind, mark) for mark in range(1, 20))
    process = child(case, case.place("store"), calls=theirs, fence=Fence(_LEASE, b"there"))
    running = Watched(process)
    end = perf_counter() + _SECONDS
    turn = 0
    try:
        while turn < _TURNS and (turn < 10 or perf_counter() < end):
            turn += 1
            await running.until("None", "writes of a process that has the lease")
            taken = threading.Event()
            stalling = threading.Thread(target=_stall, args=(process, 2 * write * random.random(), taken, stall))
            stalling.start()
            for _ in range(3):
                await answer(store, beside)
            await journal.commit(Batch({_LEASE: b"here"}))
            same(await answer(store, large_write(kind, 1_000 + turn)), None, "a write of the process that took over")
            taken.set()
            await asyncio.to_thread(stalling.join)
            await running.until("LeaseLost", "writes of a process whose lease another one took")
            for method, (read, marks) in readings(kind).items():
                found = {str(mark).split()[0] for mark in marks(await read(store))}
                told = "a process stood still in a write, another one took its lease and wrote, and the first went on: "
                require(found == {str(1_000 + turn)}, f"{told}{method} sees what the first one wrote")
            await journal.commit(Batch({_LEASE: b"there"}))
            odd = set(running.lines) - {"open", "None", "LeaseLost"}
            require(not odd, f"writes of a process whose lease another one took gave {odd}")
    finally:
        running.end()
    return f"{turn} times"


def _stall(process: Popen[bytes], delay: float, taken: threading.Event, most: float) -> None:
    """Stop the process until its lease is taken, but not longer than ``most``: it may hold a lock."""
    sleep(delay)
    process.send_signal(signal.SIGSTOP)
    taken.wait(most)
    process.send_signal(signal.SIGCONT)
