"""How a server process uses Python's garbage collector, and when it returns free memory to the system.

A full collection visits every live object and stops all requests meanwhile: 50 ms with 25 sessions. Live objects are
therefore frozen in small portions, and each portion is visited once. Nearly all objects that die later are freed by
their reference count, without the collector. Reference cycles among frozen objects are collected while the server is
idle.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from attrs import define, field

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's malloc.h."""
_ARENAS = 2


def few_arenas() -> None:
    """Let all threads share two heaps, unless ``MALLOC_ARENA_MAX`` is set. Call it before any thread is started.

    By default each of the first sixteen threads gets a heap of its own. Modules imported in threads are then spread
    over several heaps, which costs 5 MB in a server with a session. Because of the interpreter's lock, hardly two
    threads allocate at the same time.
    """
    limit = _glibc("mallopt")
    if limit is not None and "MALLOC_ARENA_MAX" not in os.environ:
        limit(_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Return free memory to the system. By itself, glibc keeps free memory that lies between blocks in use.

    Run it in a thread: it takes some milliseconds, and releases the interpreter's lock.
    """
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


# -- How a server process uses Python's garbage collector ------------------------------------------------------

_SECONDS = 0.25
_MIDDLE = 1
"""The generation whose collection ends a portion. It visits about 7,000 new objects, which takes 3 ms."""
_NEVER = 1_000_000
_GROWN = 1.5
"""A full collection runs once the frozen objects have grown by this factor since the last one."""
_FEW = 100_000
"""No full collection runs while fewer objects are frozen."""
_PAUSE = 4
"""Checks in a row without a request before free memory is returned to the system."""
_QUIET = 20
"""Checks in a row without a request, four a second, before a full collection."""


@contextmanager
def put_off() -> Iterator[None]:
    """Disable the collector while the server starts; call ``settle`` afterwards.

    Nearly all objects made at the start stay alive. Visiting them again and again took a tenth of the start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def settle() -> None:
    """Collect the garbage of the start, freeze everything else, and drop cached sources. Takes 50 ms; call it once,
    after the server has announced that it is ready.

    Modules, classes and settings live until the process ends. A full collection that visited them cost the request
    that it fell into 50 ms. The start leaves 4 MB of reference cycles. Freed now, that memory is reused by the first
    session; freed later, it would fragment the heap.
    """
    linecache.clearcache()  # sources of generated methods of attrs and cattrs: 2 MB
    gc.collect()
    gc.freeze()
    gc.enable()


@define(eq=False)
class Tidying:
    """Collects in portions while the server runs. ``busy`` tells whether a request is under way."""

    busy: Callable[[], bool]
    _quiet: int = field(default=0, init=False)
    _worked: bool = field(default=True, init=False)
    """Whether a request came since free memory was last returned to the system."""
    _seen: int = field(default=0, init=False)
    """Frozen objects after the last full collection."""

    async def keep(self) -> None:
        """Freeze each portion as it comes, and check four times a second whether the server is idle, until cancelled.

        Afterwards the collector runs by itself again.
        """
        loop = asyncio.get_running_loop()

        def collected(phase: str, info: dict[str, int]) -> None:  # runs in any thread that allocates objects
            if phase == "stop" and info["generation"] == _MIDDLE:
                # At the recursion limit this call fails: the next portion then includes this one.
                with suppress(RecursionError):
                    loop.call_soon_threadsafe(put_away)

        young, middle, old = gc.get_threshold()
        gc.set_threshold(young, middle, _NEVER)
        gc.callbacks.append(collected)
        try:
            while True:
                await asyncio.sleep(_SECONDS)
                self.step()
                if self._worked and self._quiet >= _PAUSE:
                    self._worked = False
                    await asyncio.to_thread(give_back)
        finally:
            gc.callbacks.remove(collected)
            gc.set_threshold(young, middle, old)

    def step(self) -> None:
        """Run a full collection if the server is idle and enough objects were frozen since the last one."""
        self._quiet = 0 if self.busy() else self._quiet + 1
        self._worked = self._worked or not self._quiet
        # Only once in a pause: counting takes time in proportion to the objects, 10 ms after the start.
        if self._quiet == _QUIET and gc.get_freeze_count() > max(_FEW, self._seen * _GROWN):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._seen = gc.get_freeze_count()


def put_away() -> None:
    """Collect new garbage and freeze the rest."""
    gc.collect()
    gc.freeze()
