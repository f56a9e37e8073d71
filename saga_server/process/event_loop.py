"""An event loop that keeps count of how long its rounds take.

A round runs everything that is ready. Whoever becomes ready meanwhile waits for its end, so a round that takes long is
a stall for everybody, whatever caused it: a call that blocks, much work at once, the garbage collector.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from attrs import define, field

BUCKETS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0)
"""Milliseconds; the last bucket is without end."""

SWITCH_SECONDS = 0.001
"""After so long a thread that computes hands over to the loop when that has something to do; by default it is 5 ms,
at each event that arrives meanwhile."""

T = TypeVar("T")


@define
class Rounds:
    """How long rounds took, by one clock. Milliseconds."""

    counts: list[int] = field(factory=lambda: [0] * (len(BUCKETS) + 1))
    """Rounds by the first bucket that holds them."""
    total: float = 0.0
    longest: float = 0.0

    def add(self, taken: float) -> None:
        """A round is over."""
        self.counts[bisect_left(BUCKETS, taken)] += 1
        self.total += taken
        if taken > self.longest:
            self.longest = taken


@define(eq=False)
class LoopWatch:
    """What the rounds of a loop took: by the wall clock, and of the processor for the loop's own thread.

    Where the wall clock says much more than the processor, the thread waited: for the interpreter's lock, for the disk
    in a call that blocks, or for a machine that was busy with other programs.
    """

    wall: Rounds = field(factory=Rounds)
    cpu: Rounds = field(factory=Rounds)
    blocks: int = 0
    """Rounds that were found blocked, by ``LoopGuard``."""
    place: str = ""
    """Where the longest of them was found."""
    _began: float = field(default=0.0, init=False)
    _began_cpu: float = field(default=0.0, init=False)
    _blocked: str = field(default="", init=False)

    def begins(self) -> None:
        """A round begins."""
        self._began = time.perf_counter()
        self._began_cpu = time.thread_time()

    def ends(self) -> None:
        """The round is over; nothing when none began."""
        if self._began:
            taken = (time.perf_counter() - self._began) * 1_000
            self._began = 0.0
            if self._blocked:
                place, self._blocked = self._blocked, ""
                if taken > self.wall.longest:
                    self.place = place
            self.wall.add(taken)
            self.cpu.add((time.thread_time() - self._began_cpu) * 1_000)

    @property
    def running_since(self) -> float:
        """When the round that runs began, by ``time.perf_counter``; 0 between rounds."""
        return self._began

    def blocked_at(self, place: str) -> None:
        """The round that runs was found at ``place``, and takes too long. From another thread."""
        self.blocks += 1
        self._blocked = place

    def forget(self) -> None:
        """Count anew from here: what starting up took is nobody's wait."""
        self.wall, self.cpu, self._began = Rounds(), Rounds(), 0.0
        self.blocks, self.place, self._blocked = 0, "", ""


class _WatchedSelector(selectors.DefaultSelector):
    """Is asked once a round; between two questions the round's callbacks run."""

    def __init__(self, watch: LoopWatch) -> None:
        super().__init__()
        self._watch = watch

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._watch.ends()
        found = super().select(timeout)
        self._watch.begins()
        return found


class WatchedLoop(asyncio.SelectorEventLoop):
    """A selector loop with a ``watch``."""

    def __init__(self) -> None:
        self.watch = LoopWatch()
        super().__init__(_WatchedSelector(self.watch))


def running_watch() -> LoopWatch | None:
    """The watch of the loop that runs; None where it has none."""
    loop = asyncio.get_running_loop()
    return loop.watch if isinstance(loop, WatchedLoop) else None


def run_watched(work: Coroutine[Any, Any, T]) -> T:
    """As ``asyncio.run``, on a watched loop; on an ordinary one where selectors are not the platform's own way."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = WatchedLoop if os.name == "posix" else None
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        with asyncio.Runner(loop_factory=factory) as runner:
            return runner.run(work)
    finally:
        sys.setswitchinterval(usual)
