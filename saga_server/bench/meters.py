"""Meters: processor time and wall time of steps, and of what the embedder and the journal take within them.

CPU is ``time.process_time``: all threads of the process, so that a store's worker thread counts. Wall is
``time.perf_counter``. The garbage collector runs as in production; its pauses are counted besides.
"""

from __future__ import annotations

import gc
import math
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import define, field, frozen

from saga_core.journal import Journal
from saga_core.model import Session
from saga_core.ports import Embedder, Mode

_FEW, _PART = 5, 0.1
"""So many measurements at full speed, and such a part of all, are enough to leave out the others."""

_TOLERATED = 1.15
"""Times the best probe that one may take at full speed."""


@define
class Samples:
    """Milliseconds of one step, measured again and again, each with how fast the machine was meanwhile."""

    cpu: list[float] = field(factory=list)
    wall: list[float] = field(factory=list)
    speed: list[float] = field(factory=list)

    def add(self, taken: Taken, speed: float = 0.0) -> None:
        """Take in one measurement. ``speed``: the slower ``probe`` of the two around it; 0 where nobody looked."""
        self.cpu.append(taken.cpu)
        self.wall.append(taken.wall)
        self.speed.append(speed)

    def figures(self, full: float = math.inf) -> dict[str, float]:
        """Median, 99th percentile and mean, in milliseconds, of what was measured at full speed (``at_full_speed``)."""
        found: dict[str, float] = {"count": len(self.cpu)}
        for name, values in (("cpu", self.cpu), ("wall", self.wall)):
            chosen = at_full_speed(values, self.speed, full)
            found["counted"] = len(chosen)
            found[f"{name}_p50"] = percentile(chosen, 50)
            found[f"{name}_p99"] = percentile(chosen, 99)
            found[f"{name}_mean"] = sum(chosen) / len(chosen)
        return found


def at_full_speed(values: Sequence[float], speeds: Sequence[float], full: float) -> list[float]:
    """The values that were measured while a ``probe`` took ``full`` milliseconds at most; all if these are too few."""
    chosen = [value for value, speed in zip(values, speeds, strict=True) if speed <= full]
    return chosen if len(chosen) >= max(_FEW, len(values) * _PART) else list(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of ``values`` do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


@frozen
class Taken:
    """What one step took, in milliseconds."""

    cpu: float = 0.0
    wall: float = 0.0

    def without(self, part: Taken) -> Taken:
        """What is left without a part of it."""
        return Taken(self.cpu - part.cpu, self.wall - part.wall)


@define
class Stopwatch:
    """Measures one stretch: ``with Stopwatch() as watch: …``, then ``watch.taken``."""

    taken: Taken = field(factory=Taken, init=False)
    _cpu: float = field(default=0.0, init=False)
    _wall: float = field(default=0.0, init=False)

    def __enter__(self) -> Stopwatch:
        self._wall = time.perf_counter()
        self._cpu = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        cpu = time.process_time()
        wall = time.perf_counter()
        self.taken = Taken((cpu - self._cpu) * 1_000, (wall - self._wall) * 1_000)


@define(eq=False)
class MeteredEmbedder:
    """An embedder that says how long it took since it was last asked. Others must not work beside it meanwhile."""

    inner: Embedder
    _cpu: float = field(default=0.0, init=False)
    _wall: float = field(default=0.0, init=False)

    @property
    def id(self) -> str:
        """That of ``inner``."""
        return self.inner.id

    @property
    def dimension(self) -> int:
        """That of ``inner``."""
        return self.inner.dimension

    @property
    def baseline(self) -> float:
        """That of ``inner``."""
        return self.inner.baseline

    @property
    def semantic(self) -> bool:
        """That of ``inner``."""
        return self.inner.semantic

    @property
    def at_once(self) -> bool:
        """That of ``inner``."""
        return getattr(self.inner, "at_once", False) is True

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """The vectors of ``inner``."""
        with Stopwatch() as watch:
            vectors = await self.inner.embed(texts, mode)
        self._cpu += watch.taken.cpu
        self._wall += watch.taken.wall
        return vectors

    async def aclose(self) -> None:
        """Close ``inner``."""
        await self.inner.aclose()

    def take(self) -> Taken:
        """What embedding took since the last call."""
        taken = Taken(self._cpu, self._wall)
        self._cpu = self._wall = 0.0
        return taken


@define
class MeteredJournal(Journal):
    """A journal that tells how long its last append took: encoding, and the commit until it is on disk."""

    last: Taken = field(factory=lambda: Taken(), init=False)

    async def append(self, *about: Any, **options: Any) -> Session:
        """As ``Journal.append``."""
        with Stopwatch() as watch:
            updated = await super().append(*about, **options)
        self.last = watch.taken
        return updated


@define
class Collections:
    """Pauses of the garbage collector: how many, and milliseconds in all and of the longest."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0
    _started: float = 0.0

    def __call__(self, phase: str, info: Mapping[str, int]) -> None:
        """As ``gc.callbacks`` are called."""
        if phase == "start":
            self._started = time.perf_counter()
            return
        taken = (time.perf_counter() - self._started) * 1_000
        self.count += 1
        self.total += taken
        self.longest = max(self.longest, taken)


@contextmanager
def collections() -> Iterator[Collections]:
    """Watch the garbage collector for a while."""
    found = Collections()
    gc.callbacks.append(found)
    try:
        yield found
    finally:
        gc.callbacks.remove(found)


def probe() -> float:
    """Milliseconds of CPU that a short fixed loop takes: how fast the machine is at this moment.

    Cores that share their pipelines with a busy neighbour run the same instructions in up to twice the time.
    """
    sums: dict[int, float] = {}
    began = time.thread_time()
    for number in range(6_000):
        sums[number % 500] = sums.get(number % 500, 0.0) + number * 0.5
    return (time.thread_time() - began) * 1_000


def full_speed(probes: Sequence[float]) -> float:
    """Milliseconds that a probe takes at most when nothing disturbs it, from many: 15 % above the fastest of them."""
    return percentile(probes, 2) * _TOLERATED


def calibrate() -> float:
    """Milliseconds of CPU that ten probes take, at best."""
    return 10 * min(probe() for _ in range(20))
