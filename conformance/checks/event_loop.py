"""Checks of how long a call blocks the event loop, in proportion to the speed of the machine.

Only time in which the store could have let the loop run counts. The time in which the process waited for a processor is
subtracted, if Linux reports it. The limits grow with the time that a fixed piece of plain Python takes on the machine.
A failed attempt is repeated with another store, and a store fails only if every attempt fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

from conformance.assertions import CheckFailed, Refused, require
from conformance.calls import StoreCall, answer, call
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import SPEC
from conformance.inputs import samples
from saga_core.stores import Batch, Compare, Edge, Key, Mutation, Node, VectorItem

SMALL = 0.15
"""Seconds for which a small call may block the event loop."""
LARGE = 0.25
"""The limit for a call with a thousand entries. Validating these takes a while, and some engines hold the GIL."""
_RULER = 0.008
"""Seconds of CPU that ``_ruler`` takes at most on a machine for which the limits are meant."""
_ATTEMPTS = 3
_LOOKED = 0.01
"""Interval in seconds for reading the waiting time. Every gap longer than this is measured."""


@check("L-8")
async def small_calls(case: Case) -> None:
    """Call every method once."""
    await _runs_on(case, [*samples(case.harness.kind), call("check")], SMALL)


@check("L-8", kinds=("state", "graph", "vector"))
async def large_calls(case: Case) -> None:
    """Write a thousand entries, read them with every method, query them and delete them."""
    await _runs_on(case, _large_calls(case), LARGE)


async def _runs_on(case: Case, calls: Sequence[StoreCall], most: float) -> None:
    """Raise ``CheckFailed`` if the loop was blocked for ``most`` seconds or longer in every attempt."""
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
        found.append((gap, f"{told}, but only {most * slower:.2f} are allowed"))
    least, told = min(found)
    raise CheckFailed(f"the event loop was blocked for {least:.2f} seconds or more during {told}")


def _ruler() -> float:
    """Measure the CPU seconds of as much plain Python as the validation of some thousand entries takes."""
    begun = thread_time()
    sum(number % 7 for number in range(200_000))
    return thread_time() - begun


def _waited() -> float:
    """Seconds for which runnable threads of this process have waited for a processor; 0 if this is not reported."""
    total = 0
    for thread in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError, IndexError):  # the thread has just ended
            total += int(thread.read_text(encoding="ascii").split()[1])
    return total / 1e9


async def _gaps(store: Any, calls: Sequence[StoreCall], *, all_go_well: bool) -> list[float]:
    """The longest time in seconds between two turns of the event loop during each of ``calls``."""
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


def _large_calls(case: Case) -> list[StoreCall]:
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
