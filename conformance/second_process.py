"""A second process of the suite, which opens a store, makes calls, and then exits or waits to be killed.

Its task is a pickled ``Order`` in a file. It prints a line for each finished call, and writes whole answers to a file.
What the store itself prints goes to stderr.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import saga_core
from conformance.assertions import Refused, typed
from conformance.calls import Order, answer, snapshot
from saga_core.errors import SagaError
from saga_core.stores import Fence

_STDOUT, _STDERR = 1, 2
"""File descriptors. Engines in C print there as well."""
_spoken = _STDOUT


def _keep_stdout() -> None:
    """Keep stdout for the words to the suite, before a module of the store is imported."""
    global _spoken
    _spoken = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)


def _say(word: str) -> None:
    os.write(_spoken, f"{word}\n".encode())


_CHANGES = frozenset(
    "open truncate ftruncate write writelines pwrite flush close fsync fdatasync rename replace link unlink remove "
    "rmdir execute executemany executescript commit".split()
)
"""Names of functions in C that change files or the contents of a database."""
_NOT_OF_THE_STORE = ("<", *(str(Path(each).parent) + os.sep for each in (os.__file__, saga_core.__file__, __file__)))


class _Steps:
    """The steps of this process, as they end: calls from Python of functions in C that change files, and calls of the
    store's own functions. Each has its file and line. What a function in C does inside is not seen.
    """

    def __init__(self, die_after: tuple[str, int]) -> None:
        self.made: list[str] = []
        self._last, self._left = die_after
        self._writes = False
        sys.addaudithook(self._audit)
        threading.setprofile(self._look)
        sys.setprofile(self._look)

    def _audit(self, event: str, about: Any) -> None:
        if event == "open":
            self._writes = bool((about[2] or 0) & (os.O_WRONLY | os.O_RDWR))

    def _look(self, frame: Any, event: str, function: Any) -> None:
        file = frame.f_code.co_filename
        if event == "c_return" and (name := function.__name__) in _CHANGES:
            no_file = isinstance(function.__self__, (str, bytes, list, set)) or (name == "open" and not self._writes)
            if no_file or file == __file__ or file.startswith("<frozen importlib"):
                return
        elif event == "return" and (not file.startswith(_NOT_OF_THE_STORE) or "site-packages" in file):
            name = f"return of {frame.f_code.co_name}"
        else:
            return
        step = f"{name} ({file}:{frame.f_lineno})"
        self.made.append(step)
        self._left -= step == self._last
        if self._last and not self._left:
            os.write(_STDERR, f"killed after {step}\n".encode())
            os.kill(os.getpid(), signal.SIGKILL)


def _set_the_clock(ahead: float) -> None:
    """Set ``time.time`` and ``time.time_ns`` ahead. Neither a day nor another clock may release a lock."""
    for name, unit in (("time", 1), ("time_ns", 10**9)):
        real = getattr(time, name)

        def told(real: Callable[[], Any] = real, unit: int = unit) -> Any:
            now = real()
            return now + type(now)(ahead * unit)

        setattr(time, name, told)


def _fill_the_disk(path: Path, room: int) -> None:
    """Simulate a full disk: no file may grow more than ``room`` bytes beyond the largest, or be written if it is 0."""
    import resource  # not available on every system

    sizes = [file.stat().st_size for file in path.rglob("*") if file.is_file()] if room else []
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max([0, *sizes]) + room, hard))


def _empty_the_disk() -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def _keep(file: str, found: Any) -> None:
    Path(file).write_bytes(pickle.dumps(found))


async def _answers(store: Any, order: Order) -> list[Any]:
    """Make the calls, print a word for each, and return the answers."""
    found: list[Any] = []
    for number, made in enumerate(cycle(order.calls) if order.fence else order.calls):
        if number == order.full_from:
            _fill_the_disk(Path(order.path), order.room)
        given = await answer(store, made)
        if number == order.full_from:
            asked = tuple([typed(await answer(store, one)) for one in order.asked])
            found.append(("when full", (typed(await snapshot(store)), asked)))
            _empty_the_disk()
        found.append(typed(given))
        _say(given.error if isinstance(given, Refused) else type(given).__name__.replace("NoneType", "None"))
    return found


async def _the_fence(fence: Fence, scope: str) -> Fence:
    return fence


async def _live(order: Order) -> None:
    steps = _Steps(order.die_after) if order.steps else None
    try:
        store = await order.opener(Path(order.path))
    except SagaError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        _say(type(error).__name__)
        return
    if order.fence is not None:
        store.fence(partial(_the_fence, order.fence))
    _say("open")
    opening = steps.made[:] if steps else []
    found = await _answers(store, order)
    if steps:
        _keep(order.steps, (opening, steps.made[len(opening) :]))
        _say("answered")
    if order.answers:
        _keep(order.answers, (found, typed(await snapshot(store))))
        _say("answered")
    if order.close:
        await store.aclose()
        _say("closed")
        return
    # Wait to be killed, or for the end of the input. The store stays open.
    await asyncio.to_thread(sys.stdin.read)


async def _survey(order: Order) -> None:
    """Open each path, and record its contents before and after the calls."""
    found: list[Any] = []
    for path in order.others:
        try:
            store = await order.opener(Path(path))
        except SagaError as error:
            found.append((type(error).__name__, str(error)))
            continue
        before = typed(await snapshot(store))
        given = [typed(await answer(store, made)) for made in order.calls]
        await store.aclose()
        store = await order.opener(Path(path))
        found.append((before, given, typed(await snapshot(store))))
        await store.aclose()
        _keep(order.answers, found)
    _keep(order.answers, found)
    _say("closed")


if __name__ == "__main__":
    _keep_stdout()
    ordered: Order = pickle.loads(Path(sys.argv[1]).read_bytes())  # the suite wrote this file
    if ordered.clock:
        _set_the_clock(ordered.clock)
    asyncio.run(_survey(ordered) if ordered.others else _live(ordered))
