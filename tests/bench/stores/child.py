"""Measure one store in a process of its own: ``python -m tests.bench.stores.child TASK`` prints JSON.

TASK is JSON: ``what`` (``graph``, ``vector`` or ``growth``), ``backend``, ``folder``, ``size``, ``fill``,
``resident_mb`` and ``repeats``. One process fills a store on disk, and the next one reads it, so that it is cold.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from attrs import define, field

from saga_core import registry
from saga_core.capabilities import Capability
from saga_core.recall import walk
from saga_core.registry import OpenOptions
from saga_core.stores import Compare, ScopeSpec
from tests.bench.meters import Samples, Stopwatch, full_speed, probe
from tests.bench.processes import bytes_on_disk, resident_bytes
from tests.bench.stores.data import (
    DIMENSION,
    SCOPE,
    TurnChanges,
    graph_parts,
    item,
    node_id,
    vector,
    vector_parts,
)

_SEEDS, _HOPS, _LIMIT = 5, 2, 64
"""The parameters of a walk, as reading a turn makes it."""
_FOUND = 30
_HUNDRED = 100


@define
class Meter:
    """Measures calls by name, in milliseconds."""

    samples: dict[str, Samples] = field(factory=dict)
    probes: list[float] = field(factory=lambda: [probe()])

    async def take(self, name: str, call: Awaitable[Any]) -> Any:
        """Await one call, measure it, and return its result."""
        with Stopwatch() as watch:
            result = await call
        self.probes.append(probe())
        self.samples.setdefault(name, Samples()).add(watch.taken, max(self.probes[-2:]))
        return result

    def figures(self) -> dict[str, dict[str, float]]:
        """The medians of CPU and wall time, of the calls at full speed."""
        full = full_speed(self.probes)
        found = {name: samples.figures(full) for name, samples in self.samples.items()}
        return {name: {"cpu": each["cpu_p50"], "wall": each["wall_p50"]} for name, each in found.items()}


@define
class Task:
    """The measurement to make, as TASK describes it."""

    what: str
    backend: str
    folder: str
    size: int
    fill: bool = False
    resident_mb: int = 0
    repeats: int = 100

    @property
    def path(self) -> Path:
        """Where the store keeps its files."""
        return Path(self.folder) / "store"

    async def opened(self, kind: str) -> Any:
        """Open the store, with the layer in memory if ``resident_mb`` is not 0."""
        store = await registry.load(kind, self.backend).open(OpenOptions(path=self.path))
        if not self.resident_mb or Capability.RESIDENT in store.info.capabilities:
            return store
        options = {"inner": store, "limit_mb": self.resident_mb}
        return await registry.load("resident", kind).open(OpenOptions(options=options))


async def measure_graph(task: Task) -> dict[str, Any]:
    """Measure a graph store: open, read nodes and their neighbours, write as turns do, drop."""
    meter, drawn = Meter(), random.Random(2)
    baseline = resident_bytes(os.getpid())
    store = await meter.take("open", task.opened("graph"))
    durable = Capability.DURABLE in store.info.capabilities
    if task.fill or not durable:
        parts = list(graph_parts(task.size))
        with Stopwatch() as filling:
            for part in parts:
                await store.apply(SCOPE, part)
        meter.samples.setdefault("fill", Samples()).add(filling.taken)
        if durable:
            await store.aclose()
            return {"figures": meter.figures(), "disk": bytes_on_disk(Path(task.folder))}

    def any_node() -> str:
        return node_id(drawn.randrange(task.size))

    await meter.take("first", store.get(SCOPE, [any_node()]))
    for _ in range(task.repeats):
        await meter.take("point", store.get(SCOPE, [any_node()]))
        await meter.take("hop1", store.neighbors(SCOPE, [any_node()]))
    for _ in range(max(3, task.repeats // 4)):
        seeds = [any_node() for _ in range(_SEEDS)]
        await meter.take("hop2", walk(store, SCOPE, seeds, hops=_HOPS, limit=_LIMIT))
    changes = TurnChanges(task.size)
    for _ in range(max(5, task.repeats // 2)):
        change = changes.next()
        await meter.take("write", store.apply(SCOPE, change))
    return await _end(task, meter, store, baseline)


async def measure_vectors(task: Task) -> dict[str, Any]:
    """Measure a vector store: open, get, query with and without a filter, write as turns do, drop."""
    meter, drawn = Meter(), random.Random(2)
    baseline = resident_bytes(os.getpid())
    store = await meter.take("open", task.opened("vector"))
    durable = Capability.DURABLE in store.info.capabilities
    if task.fill or not durable:
        await store.create(SCOPE, ScopeSpec("bench", DIMENSION))
        parts = list(vector_parts(task.size))
        with Stopwatch() as filling:
            for part in parts:
                await store.upsert(SCOPE, part)
        meter.samples.setdefault("fill", Samples()).add(filling.taken)
        if durable:
            await store.aclose()
            return {"figures": meter.figures(), "disk": bytes_on_disk(Path(task.folder))}

    def asked() -> Any:
        return vector(drawn)

    question = asked()
    await meter.take("first", store.query([SCOPE], question, _FOUND))
    where = Compare("depth", "lt", task.size // 2)
    for number in range(task.repeats):
        question = asked()
        await meter.take("query", store.query([SCOPE], question, _FOUND))
        await meter.take(
            "filtered",
            store.query([SCOPE], question, _FOUND, where=where),
        )
        await meter.take("point", store.get(SCOPE, [f"t{number % task.size:06}"]))
    for number in range(max(5, task.repeats // 2)):
        one = [item(task.size + number, drawn)]
        await meter.take("write", store.upsert(SCOPE, one))
    return await _end(task, meter, store, baseline)


async def _end(task: Task, meter: Meter, store: Any, baseline: int | None) -> dict[str, Any]:
    """Measure memory and disk, drop the scope, and return all figures."""
    memory = resident_bytes(os.getpid())
    disk = bytes_on_disk(Path(task.folder)) if Capability.DURABLE in store.info.capabilities else None
    cache = getattr(store, "cache", None)
    held = None if cache is None else int(cache.counters["bytes"])
    await meter.take("drop", store.drop(SCOPE))
    await store.aclose()
    return {"figures": meter.figures(), "rss": memory, "baseline": baseline, "disk": disk, "held": held}


async def measure_growth(task: Task) -> dict[str, Any]:
    """Write and query once for each of ``task.size`` turns. Return the mean milliseconds of every hundred turns."""
    drawn = random.Random(3)
    store = await task.opened("vector")
    await store.create(SCOPE, ScopeSpec("bench", DIMENSION))
    samples = {"write": Samples(), "query": Samples()}
    for number in range(task.size):
        one, question = [item(number, drawn)], vector(drawn)
        with Stopwatch() as writing:
            await store.upsert(SCOPE, one)
        with Stopwatch() as asking:
            await store.query([SCOPE], question, _FOUND)
        samples["write"].add(writing.taken)
        samples["query"].add(asking.taken)
    disk = bytes_on_disk(Path(task.folder))
    await store.aclose()
    return {
        "hundreds": {
            name: {
                "cpu": _means(each.cpu),
                "wall": _means(each.wall),
                "longest": max(each.wall),
            }
            for name, each in samples.items()
        },
        "disk": disk,
    }


def _means(values: list[float]) -> list[float]:
    blocks = [values[start : start + _HUNDRED] for start in range(0, len(values), _HUNDRED)]
    return [sum(block) / len(block) for block in blocks]


def measure(task: Task) -> dict[str, Any]:
    """Make the measurement that ``task`` describes."""
    tasks = {"graph": measure_graph, "vector": measure_vectors, "growth": measure_growth}
    return asyncio.run(tasks[task.what](task))


if __name__ == "__main__":
    json.dump(measure(Task(**json.loads(sys.argv[1]))), sys.stdout)
