"""How a server process uses Python's garbage collector.

A full collection visits every live object, and all requests wait meanwhile: 50 ms for 25 sessions. So new objects are
collected in small portions, and the survivors are frozen (``gc.freeze``), so that later collections skip them. Nearly
all frozen objects are later freed by their reference counts. The rest, reference cycles that died after they were
frozen, is collected while the server is idle.
"""

from __future__ import annotations

import asyncio
import gc
import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from attrs import define, field

from saga_server.process.heap import give_back

_SECONDS = 0.25
_MIDDLE = 1
"""After each collection of this generation, of some 7,000 new objects, the survivors are frozen. This takes 3 ms."""
_NEVER = 1_000_000
_GROWN = 1.5
"""A full collection runs when there are this many times as many frozen objects as after the last one."""
_FEW = 100_000
"""No full collection runs while fewer objects are frozen."""
_PAUSE = 4
"""Idle steps, at four a second, before free memory is returned to the system."""
_QUIET = 20
"""Idle steps, at four a second, before a full collection."""


@contextmanager
def put_off() -> Iterator[None]:
    """Within this context nothing is collected until ``settle`` is called.

    Nearly all objects that are made at startup stay, and collecting while they grow took a tenth of the startup time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def settle() -> None:
    """Collect the garbage of startup, freeze all other objects, and clear the cache of source lines.

    It takes 50 ms, so call it once, after the server has announced that it is ready. Modules, classes and settings stay
    until the process ends; a request that met a full collection of them took 50 ms longer. Startup leaves 4 MB in
    reference cycles. Freed now, that memory is reused for the first session; freed later, it would leave the heap
    fragmented.
    """
    linecache.clearcache()  # 2 MB of sources of methods that attrs and cattrs generated
    gc.collect()
    gc.freeze()
    gc.enable()


@define(eq=False)
class Tidying:
    """Collects in small portions, and runs full collections when ``busy`` says that no request is waiting."""

    busy: Callable[[], bool]
    _quiet: int = field(default=0, init=False)
    _worked: bool = field(default=True, init=False)
    """Whether there was a request since memory was last returned to the system."""
    _seen: int = field(default=0, init=False)
    """How many objects were frozen after the last full collection."""

    async def keep(self) -> None:
        """Freeze the survivors of each portion, and call ``step`` four times a second, until cancelled.

        Collection is automatic again afterwards.
        """
        loop = asyncio.get_running_loop()

        def collected(phase: str, info: dict[str, int]) -> None:  # runs in any thread that allocates objects
            if phase == "stop" and info["generation"] == _MIDDLE:
                # At the recursion limit this call fails; the next portion then includes this one.
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
        """Run a full collection if the server has been idle for long enough and enough objects are frozen."""
        self._quiet = 0 if self.busy() else self._quiet + 1
        self._worked = self._worked or not self._quiet
        # Only once in an idle period, because counting the frozen objects is slow: 10 ms after startup.
        if self._quiet == _QUIET and gc.get_freeze_count() > max(_FEW, self._seen * _GROWN):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._seen = gc.get_freeze_count()


def put_away() -> None:
    """Collect the objects that are not frozen, and freeze the survivors."""
    gc.collect()
    gc.freeze()
