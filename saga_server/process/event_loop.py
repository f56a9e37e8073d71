"""An event loop that measures how long its rounds take, and a thread that logs where it is when one takes too long.

A round runs all callbacks that are ready. Callbacks that become ready meanwhile wait for the end of the round. So a
long round delays all requests, whether its cause is a blocking call, a lot of work at once, or the garbage collector.
"""

from __future__ import annotations

import asyncio
import logging
import os
import selectors
import sys
import threading
import time
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import FrameType
from typing import Any, TypeVar, cast

from attrs import define, field

BUCKETS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0)
"""Upper bounds in milliseconds. One more bucket without a bound follows."""

SWITCH_SECONDS = 0.001
"""The interpreter's switch interval: how long the loop may wait for a computing thread to hand over, at each event that
arrives. Python's default is 5 ms."""

T = TypeVar("T")


@define
class Rounds:
    """How long rounds took by one clock, in milliseconds."""

    counts: list[int] = field(factory=lambda: [0] * (len(BUCKETS) + 1))
    """The number of rounds in each bucket."""
    total: float = 0.0
    longest: float = 0.0

    def add(self, taken: float) -> None:
        """Count a round that took ``taken`` milliseconds."""
        self.counts[bisect_left(BUCKETS, taken)] += 1
        self.total += taken
        if taken > self.longest:
            self.longest = taken


@define(eq=False)
class LoopWatch:
    """How long the rounds of a loop took, in wall-clock time and in CPU time of the loop's thread.

    Where the wall-clock time is much longer than the CPU time, the thread was waiting: for the interpreter's lock, for
    the disk in a blocking call, or for a machine that was busy with other programs.
    """

    wall: Rounds = field(factory=Rounds)
    cpu: Rounds = field(factory=Rounds)
    blocks: int = 0
    """How many rounds ``LoopGuard`` found blocked."""
    place: str = ""
    """Where the longest of these rounds was blocked."""
    _began: float = field(default=0.0, init=False)
    _began_cpu: float = field(default=0.0, init=False)
    _blocked: str = field(default="", init=False)

    def begins(self) -> None:
        """Note that a round begins."""
        self._began = time.perf_counter()
        self._began_cpu = time.thread_time()

    def ends(self) -> None:
        """Count the round that ends now. Does nothing when no round has begun."""
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
        """When the current round began, by ``time.perf_counter``; 0 between rounds."""
        return self._began

    def blocked_at(self, place: str) -> None:
        """Note that the current round takes too long and is at ``place``. Called from another thread."""
        self.blocks += 1
        self._blocked = place

    def forget(self) -> None:
        """Reset all counts. Called after startup, whose rounds delay no request."""
        self.wall, self.cpu, self._began = Rounds(), Rounds(), 0.0
        self.blocks, self.place, self._blocked = 0, "", ""


class _WatchedSelector(selectors.DefaultSelector):
    """Marks the rounds of the loop, which calls ``select`` once a round and runs the callbacks between two calls."""

    def __init__(self, watch: LoopWatch) -> None:
        super().__init__()
        self._watch = watch

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._watch.ends()
        found = super().select(timeout)
        self._watch.begins()
        return found


class WatchedLoop(asyncio.SelectorEventLoop):
    """A selector event loop whose ``watch`` measures its rounds."""

    def __init__(self) -> None:
        self.watch = LoopWatch()
        super().__init__(_WatchedSelector(self.watch))

    def run_until_complete(self, future: Generator[Any, None, T] | Awaitable[T]) -> T:
        """Run until ``future`` is done. An exit or an interrupt in another task ends that task alone, and is logged."""
        main: asyncio.Future[T] = asyncio.ensure_future(cast(Awaitable[T], future), loop=self)
        while True:
            try:
                return super().run_until_complete(main)
            except (SystemExit, KeyboardInterrupt) as error:
                # The first Ctrl+C cancels the main task, and the second one is meant.
                if main.done() or (isinstance(main, asyncio.Task) and main.cancelling()):
                    raise
                _log.error("a task ended with %s; the others go on", type(error).__name__, exc_info=error)


def running_watch() -> LoopWatch | None:
    """Return the watch of the running loop, or None if it is not a ``WatchedLoop``."""
    loop = asyncio.get_running_loop()
    return loop.watch if isinstance(loop, WatchedLoop) else None


def run_watched(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` as ``asyncio.run`` does, on a watched loop. On Windows the loop is an ordinary one."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = WatchedLoop if os.name == "posix" else None
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        with asyncio.Runner(loop_factory=factory) as runner:
            return runner.run(work)
    finally:
        sys.setswitchinterval(usual)


# -- Watches the event loop from another thread, and logs where the loop is when a round takes too long --------

_log = logging.getLogger("saga.loop")

BLOCKED_SECONDS = 0.5
"""A round that takes this long counts as blocked, because every client waits for its end."""
_LOOKS_SECONDS = 0.2
_AROUND = ("saga_server.process.event_loop", "saga_server.cli")
"""Modules that run the loop. They are on every stack."""
_OURS = ("saga_core", "saga_backends", "saga_server")


@define(eq=False)
class LoopGuard:
    """A thread that checks five times a second whether a round of the loop takes too long, and notes its place.

    A call that never releases the interpreter's lock, such as one search with a regular expression, is noted only when
    it ends. The place is then the line that made the call.
    """

    watch: LoopWatch
    thread: int = field(factory=threading.get_ident)
    """The id of the loop's thread."""
    blocked_seconds: float = BLOCKED_SECONDS
    _ended: threading.Event = field(factory=threading.Event, init=False)
    _guard: threading.Thread | None = field(default=None, init=False)

    def start(self) -> None:
        """Start the thread."""
        self._guard = threading.Thread(target=self._look, name="saga-loop-guard", daemon=True)
        self._guard.start()

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        if self._guard is not None:
            self._guard.join()

    def _look(self) -> None:
        told = 0.0
        while not self._ended.wait(min(_LOOKS_SECONDS, self.blocked_seconds / 2)):
            began = self.watch.running_since
            if began and began != told and time.perf_counter() - began >= self.blocked_seconds:
                told = began
                place = _place(sys._current_frames().get(self.thread))
                self.watch.blocked_at(place)
                _log.warning("the event loop is blocked for %g s or longer, at %s", self.blocked_seconds, place)


def _place(frame: FrameType | None) -> str:
    """Return module, line and function of SAGA's innermost frame and of what it called, or else of the innermost one.

    What it called may be the method of a plugin.
    """
    each, called = frame, ""
    while each is not None:
        module = str(each.f_globals.get("__name__", ""))
        if module.partition(".")[0] in _OURS and not module.startswith(_AROUND):
            return f"{_told(each)}{called}"
        called = f", in {_told(each)}"
        each = each.f_back
    return "an unknown place" if frame is None else _told(frame)


def _told(frame: FrameType) -> str:
    return f"{frame.f_globals.get('__name__', '?')}:{frame.f_lineno} {frame.f_code.co_name}"
