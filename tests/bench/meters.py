"""Meters for the CPU time and wall time of steps, and for the embedder's and the journal's part of them.

CPU time is ``time.process_time``, which covers all threads of the process, so a store's worker thread counts. Wall time
is ``time.perf_counter``. The garbage collector runs as in production, and its pauses are also counted separately.
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
"""Slower measurements are left out if at least this number, and this share of all, ran at full speed."""

_TOLERATED = 1.15
"""The most that a probe takes at full speed, as a multiple of the fastest probes."""


@define
class Samples:
    """Repeated measurements of one step, in milliseconds, each with the speed of the machine at that time."""

    cpu: list[float] = field(factory=list)
    wall: list[float] = field(factory=list)
    speed: list[float] = field(factory=list)

    def add(self, taken: Taken, speed: float = 0.0) -> None:
        """Add one measurement. ``speed`` is the slower of the two probes around it, or 0 without probes."""
        self.cpu.append(taken.cpu)
        self.wall.append(taken.wall)
        self.speed.append(speed)

    def figures(self, full: float = math.inf) -> dict[str, float]:
        """The median, 99th percentile and mean of the measurements ``at_full_speed``, in milliseconds."""
        found: dict[str, float] = {"count": len(self.cpu)}
        for name, values in (("cpu", self.cpu), ("wall", self.wall)):
            chosen = at_full_speed(values, self.speed, full)
            found["counted"] = len(chosen)
            found[f"{name}_p50"] = percentile(chosen, 50)
            found[f"{name}_p99"] = percentile(chosen, 99)
            found[f"{name}_mean"] = sum(chosen) / len(chosen)
        return found


def at_full_speed(values: Sequence[float], speeds: Sequence[float], full: float) -> list[float]:
    """The values measured while a ``probe`` took at most ``full`` milliseconds, or all if these are too few."""
    chosen = [value for value, speed in zip(values, speeds, strict=True) if speed <= full]
    return chosen if len(chosen) >= max(_FEW, len(values) * _PART) else list(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that ``percent`` per cent of ``values`` do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


@frozen
class Taken:
    """The time of one step, in milliseconds."""

    cpu: float = 0.0
    wall: float = 0.0

    def without(self, part: Taken) -> Taken:
        """The time without that of ``part``."""
        return Taken(self.cpu - part.cpu, self.wall - part.wall)


@define
class Stopwatch:
    """Measures a block: ``with Stopwatch() as watch: …``, then read ``watch.taken``."""

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
    """An embedder that measures its calls. Nothing else may run in the process during a call, or its CPU counts too."""

    inner: Embedder
    _cpu: float = field(default=0.0, init=False)
    _wall: float = field(default=0.0, init=False)

    @property
    def id(self) -> str:
        """The same as for ``inner``."""
        return self.inner.id

    @property
    def dimension(self) -> int:
        """The same as for ``inner``."""
        return self.inner.dimension

    @property
    def baseline(self) -> float:
        """The same as for ``inner``."""
        return self.inner.baseline

    @property
    def semantic(self) -> bool:
        """The same as for ``inner``."""
        return self.inner.semantic

    @property
    def at_once(self) -> bool:
        """The same as for ``inner``."""
        return getattr(self.inner, "at_once", False) is True

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """Embed with ``inner``, and measure it."""
        with Stopwatch() as watch:
            vectors = await self.inner.embed(texts, mode)
        self._cpu += watch.taken.cpu
        self._wall += watch.taken.wall
        return vectors

    async def aclose(self) -> None:
        """Close ``inner``."""
        await self.inner.aclose()

    def take(self) -> Taken:
        """The time of all embedding since the last ``take``."""
        taken = Taken(self._cpu, self._wall)
        self._cpu = self._wall = 0.0
        return taken


@define
class MeteredJournal(Journal):
    """A journal that measures its last append: encoding, and the commit until it is on disk."""

    last: Taken = field(factory=lambda: Taken(), init=False)

    async def append(self, *about: Any, **options: Any) -> Session:
        """Append as ``Journal.append`` does, and measure it."""
        with Stopwatch() as watch:
            updated = await super().append(*about, **options)
        self.last = watch.taken
        return updated


@define
class Collections:
    """Pauses of the garbage collector: their number, and the milliseconds of all and of the longest."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0
    _started: float = 0.0

    def __call__(self, phase: str, info: Mapping[str, int]) -> None:
        """A callback for ``gc.callbacks``."""
        if phase == "start":
            self._started = time.perf_counter()
            return
        taken = (time.perf_counter() - self._started) * 1_000
        self.count += 1
        self.total += taken
        self.longest = max(self.longest, taken)


@contextmanager
def collections() -> Iterator[Collections]:
    """Count the garbage collector's pauses while the block runs."""
    found = Collections()
    gc.callbacks.append(found)
    try:
        yield found
    finally:
        gc.callbacks.remove(found)


def probe() -> float:
    """Milliseconds of CPU that a short fixed loop takes, as a measure of the machine's current speed.

    A core that shares its pipelines with a busy neighbour takes up to twice as long for the same instructions.
    """
    sums: dict[int, float] = {}
    began = time.thread_time()
    for number in range(6_000):
        sums[number % 500] = sums.get(number % 500, 0.0) + number * 0.5
    return (time.thread_time() - began) * 1_000


def full_speed(probes: Sequence[float]) -> float:
    """The most milliseconds that an undisturbed probe takes: 15 % above the 2nd percentile of ``probes``."""
    return percentile(probes, 2) * _TOLERATED


def calibrate() -> float:
    """Milliseconds of CPU that ten probes take at the speed of the fastest of twenty."""
    return 10 * min(probe() for _ in range(20))
