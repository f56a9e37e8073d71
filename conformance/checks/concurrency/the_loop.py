"""How long the event loop stands still beside calls, by a ruler that is laid beside them.

What counts is time in which the store could have let the loop run. Time for which the whole process waited for a
processor is taken off, where Linux tells it; a slow machine gets as much more as it needs for the ruler; and what stood
still is tried again with another store: only one that does so each time is at fault.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

from conformance.assertions import CheckFailed, Refused, require
from conformance.calls import Call, answer, call
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import SPEC
from conformance.inputs import samples
from saga_core.stores import Batch, Compare, Edge, Key, Mutation, Node, VectorItem

SMALL = 0.15
"""Seconds for which the loop may stand still beside a small call."""
LARGE = 0.25
"""The same beside one of a thousand entries: to check them takes a while, and some engines keep the interpreter."""
_RULER = 0.008
"""Seconds of CPU that the ruler takes at most, on a machine for which these numbers are meant."""
_ATTEMPTS = 3
_LOOKED = 0.01
"""Seconds after which it is asked again how long the process has waited; what stands still is longer than that."""


@check("L-8")
async def small_calls(case: Case) -> None:
    """Every method."""
    await _runs_on(case, [*samples(case.harness.kind), call("check")], SMALL)


@check("L-8", kinds=("state", "graph", "vector"))
async def large_calls(case: Case) -> None:
    """A thousand are written, read by every method, asked for, and deleted."""
    await _runs_on(case, _large_calls(case), LARGE)


async def _runs_on(case: Case, calls: Sequence[Call], most: float) -> None:
    """Raises ``CheckFailed`` when the loop stood still for longer than ``most`` in each attempt."""
    large = most == LARGE
    found: list[tuple[float, str]] = []
    for attempt in range(_ATTEMPTS):
        store = case.store if attempt == 0 else await case.open(f"again-{attempt}")
        if large and case.harness.kind == "vector":
            await store.create("s", SPEC)
        slower = max(1.0, min(_ruler() for _ in range(3)) / _RULER)
        gaps = await _gaps(store, calls, all_go_well=large)
        gap = max(gaps)
        if gap < most * slower:
            return
        made = calls[gaps.index(gap)]
        told = f"a large {made.method}" if large else str(made)[:80]
        found.append((gap, f"{told}, where {most * slower:.2f} are allowed"))
    least, told = min(found)
    raise CheckFailed(f"the event loop stood still for {least:.2f} seconds and more beside {told}")


def _ruler() -> float:
    """Seconds of CPU for as much plain Python as it takes to check some thousand entries."""
    begun = thread_time()
    sum(number % 7 for number in range(200_000))
    return thread_time() - begun


def _waited() -> float:
    """Seconds for which threads of this process could have run and others had the processors; 0 where nobody tells."""
    total = 0
    for thread in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError, IndexError):  # a thread that has just ended
            total += int(thread.read_text(encoding="ascii").split()[1])
    return total / 1e9


async def _gaps(store: Any, calls: Sequence[Call], *, all_go_well: bool) -> list[float]:
    """The longest time between two turns of the loop beside each of ``calls``, in seconds."""
    gaps = [0.0] * len(calls)
    now = 0
    over = asyncio.Event()

    async def beat() -> None:
        last = asked = perf_counter()
        waited = _waited()
        while not over.is_set():
            await asyncio.sleep(0)
            stood = perf_counter() - last
            if stood > _LOOKED or perf_counter() - asked > _LOOKED:
                before, waited = waited, _waited()
                asked = perf_counter()
                gaps[now] = max(gaps[now], stood - max(0.0, waited - before))
            last = perf_counter()

    beating = asyncio.ensure_future(beat())
    try:
        await asyncio.sleep(0)
        for number, made in enumerate(calls):
            now = number
            found = await answer(store, made)
            await asyncio.sleep(0)
            good = not all_go_well or not isinstance(found, Refused)
            require(good, f"a large {made.method} was refused: {found}")
    finally:
        over.set()
        await beating
    return gaps


def _large_calls(case: Case) -> list[Call]:
    kind, count = case.harness.kind, min(1_001, case.harness.limits.batch)
    names = [f"n{n}" for n in range(count)]
    if kind == "state":
        keys: list[Key] = [("k", name) for name in names]
        return [
            call("commit", Batch(dict.fromkeys(keys, b"v")), expected=dict.fromkeys(keys)),
            *(call("get", keys), call("scan", ("k",), limit=count)),
            call("check", thorough=True),
            call("commit", Batch(deletes=frozenset(keys))),
        ]
    if kind == "graph":
        star = tuple(Edge("n0", "T", name) for name in names)
        return [
            call("apply", "s", Mutation(tuple(Node(name, "L") for name in names))),
            call("apply", "s", Mutation(put_edges=star)),
            *(call("get", "s", names), call("scan", "s", label="L", limit=count), call("neighbors", "s", names)),
            call("check", thorough=True),
            call("apply", "s", Mutation(delete_nodes=tuple(names[: count // 2]))),
            call("drop", "s"),
        ]
    where = Compare("n", "ge", 0)
    return [
        call("upsert", "s", [VectorItem(name, (1.0, n / 64), name, {"n": n}) for n, name in enumerate(names)]),
        *(call("get", "s", names), call("scan", "s", limit=count), call("count", "s", where=where)),
        *(call("query", ["s"], (1.0, 0.0), count), call("query", ["s"], (1.0, 0.0), 5, where=where)),
        call("check", thorough=True),
        call("delete", "s", where=where),
        call("drop", "s"),
    ]
