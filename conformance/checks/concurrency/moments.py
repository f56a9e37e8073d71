"""Large writes during reads, during other writes, and cancelled. Each must be visible whole or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from conformance.assertions import CheckFailed, require, same
from conformance.calls import Call, answer, call
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import large_write, mark_in, prepared, readings
from conformance.inputs import pages
from conformance.spec import STORED
from saga_core.errors import Conflict
from saga_core.stores import Batch, Health, Mutation, Node, VectorItem


@check("S-13", kinds=("state",))
async def state(case: Case) -> None:
    await _one_moment(case)


@check("G-36")
async def graph(case: Case) -> None:
    await _one_moment(case)


@check("V-30")
async def vector(case: Case) -> None:
    await _one_moment(case)


@check("C-7")
async def cache(case: Case) -> None:
    await _one_moment(case)


async def _one_moment(case: Case) -> None:
    """Run readers of every kind during large writes, started at different turns of the event loop."""
    store, kind = case.store, case.harness.kind
    await prepared(case, store)
    ways = readings(kind)
    whole = {name: len(marks(await read(store))) for name, (read, marks) in ways.items()}
    for mark in range(1, 9):
        names = list(ways)
        reading = [asyncio.ensure_future(ways[name][0](store)) for name in names]  # started before the write
        for _ in range(mark % 3):
            await asyncio.sleep(0)
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
        task = asyncio.ensure_future(answer(store, large_write(kind, mark)))
        for _ in range(mark % 12):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        for name, (read, marks) in readings(kind).items():
            async with case.patience():
                found = marks(await read(store))
            require(len(set(found)) == 1, f"{name} after a large write was cancelled: {_told(found)}")


@check("L-9", kinds=STORED)
async def a_hundred_cancelled(case: Case) -> None:
    """Cancel reads and writes a hundred times. A cancelled call must release everything that it holds."""
    store, kind = case.store, case.harness.kind
    await prepared(case, store)
    ways = list(readings(kind).values())
    try:
        for turn in range(100):
            made: list[Awaitable[Any]] = [read(store) for read, _ in ways]
            if turn % 4 == 0:
                made.append(answer(store, large_write(kind, turn)))
            tasks = [asyncio.ensure_future(one) for one in made]
            for _ in range(turn % 3 if turn % 2 else turn % 7):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            async with case.patience():
                await asyncio.gather(*tasks, return_exceptions=True)
        async with case.patience():
            same(await answer(store, large_write(kind, 1)), None, "a write after a hundred calls were cancelled")
            for name, (read, marks) in readings(kind).items():
                seen = marks(await read(store))
                right = set(seen) == {mark_in(kind, 1)}
                require(right, f"{name} after a hundred cancelled calls and a write of 1 saw {_told(seen)}")
            require(isinstance(await answer(store, call("check")), Health), "check after a hundred cancelled calls")
    except TimeoutError:
        raise CheckFailed("after a hundred cancelled calls, the next call hangs") from None


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


def _small(kind: str, number: int) -> Call:
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
        while True:
            known = (await store.get([key]))[key]
            seen.append(known)
            if mark % 2:  # some writers wait a turn, the others do not
                await asyncio.sleep(0)
            try:
                await store.commit(Batch({key: known + b"%d," % mark, ("by", str(mark)): b""}), expected={key: known})
            except Conflict:
                continue
            return

    busy = [store.commit(Batch({("busy", str(n)): b"1"})) for n in range(12)]
    await asyncio.gather(*busy, *(append(mark) for mark in range(30)))
    last = (await store.get([key]))[key]
    same(sorted(last.split(b",")[:-1], key=int), [b"%d" % mark for mark in range(30)], "thirty appends")
    wrong = [known for known in seen if not last.startswith(known)]
    require(not wrong, f"a reader saw a list that is no prefix of the final one: {wrong[:1]}")
