"""The garbage collector of a process that serves.

A full collection goes through everything that lives, and everybody waits meanwhile: 50 ms for 25 sessions. So what
lives is put out of its sight in small portions, each looked through once. Nearly all that dies later is freed without
the collector, by its count of references. The rest, circles that died after they were put away, is looked for when
nobody waits.
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
"""The generation whose collection, of some 7,000 new objects, makes a portion of those that are left: 3 ms."""
_NEVER = 1_000_000
_GROWN = 1.5
"""Times the objects that were put away after the last look at all of them."""
_FEW = 100_000
_PAUSE = 4
"""Looks without a request before what is free goes back to the system."""
_QUIET = 20
"""Looks without a request, at four a second, before everything is looked through."""


@contextmanager
def put_off() -> Iterator[None]:
    """Within it nothing is collected until ``settle``: nearly all that starting up makes stays, and looking through it
    again and again while it grows took a tenth of the start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def settle() -> None:
    """Collect what starting up left behind, take what it made out of the collector's sight, and forget sources; call it
    once, when all is open and everybody was told so: it takes 50 ms.

    Modules, classes and settings stay until the process ends. Going through all of them again and again cost 50 ms of
    a request's time whenever a full collection fell into it. What starting leaves behind in circles is 4 MB: freed now,
    the first session is read into its place; later it would be holes among what lives.
    """
    linecache.clearcache()  # the sources of the methods that attrs and cattrs made: 2 MB that nobody reads
    gc.collect()
    gc.freeze()
    gc.enable()


@define(eq=False)
class Tidying:
    """Collects in portions. ``busy`` tells whether somebody waits for the process."""

    busy: Callable[[], bool]
    _quiet: int = field(default=0, init=False)
    _worked: bool = field(default=True, init=False)
    """Whether there was a request since memory was given back."""
    _seen: int = field(default=0, init=False)
    """Objects that were put away when everything was looked through last."""

    async def keep(self) -> None:
        """Put away each portion as it comes, and look four times a second whether nobody waits, until cancelled; then
        collecting is automatic again."""
        loop = asyncio.get_running_loop()

        def collected(phase: str, info: dict[str, int]) -> None:  # in whichever thread makes objects
            if phase == "stop" and info["generation"] == _MIDDLE:
                # Deep in what is nested too deeply there is no room for it: the next portion takes this one along.
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
        """Look through everything, when nobody waits and it pays."""
        self._quiet = 0 if self.busy() else self._quiet + 1
        self._worked = self._worked or not self._quiet
        # Once in a pause: counting them takes as long as there are many, 10 ms after the start.
        if self._quiet == _QUIET and gc.get_freeze_count() > max(_FEW, self._seen * _GROWN):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._seen = gc.get_freeze_count()


def put_away() -> None:
    """Look through what is new, and take what of it lives out of the collector's sight."""
    gc.collect()
    gc.freeze()
