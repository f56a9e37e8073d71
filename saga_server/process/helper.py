"""A helper process for large requests, so that parsing them does not hold the interpreter's lock of the server.

The process is started in the background when the first large request arrives, and ends after about a minute without
one. While it is not running or is busy, large requests are parsed in a thread, which is counted. Requests that are so
large that a thread would slow down the server wait for the process. On systems without POSIX all are parsed in threads.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from attrs import define, field

from saga_core.counters import Counters
from saga_core.errors import BadInput
from saga_server.process import helper_child

T = TypeVar("T")

_IDLE_SECONDS = 60.0
_KEPT_ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "PATH")


class TooMuch(BadInput):
    """Reading a request takes more time or memory than is allowed."""


@define(eq=False)
class Helper:
    """The helper process. It does one piece of work at a time."""

    seconds: float
    """Time limit of one piece of work."""
    modules: tuple[str, ...] = ()
    """Modules that the process imports when it starts."""
    idle_seconds: float = _IDLE_SECONDS
    counters: Counters = field(factory=Counters)
    _child: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _tasks: set[asyncio.Task[Any]] = field(factory=set, init=False)
    _starting: bool = field(default=False, init=False)
    _busy: bool = field(default=False, init=False)
    _closed: bool = field(default=False, init=False)
    _ends: asyncio.TimerHandle | None = field(default=None, init=False)

    @property
    def process(self) -> int | None:
        """The id of the process, or None when it is not running."""
        return None if self._child is None else self._child.pid

    async def run(self, work: Callable[..., T], *args: Any, waits: bool = False) -> T:
        """Return ``work(*args)``, run in the process or in a thread. The work, its arguments and result are pickled.

        With ``waits`` the call waits for the process instead of using a thread, if a process can be started. Raises
        what ``work`` raises, and ``TooMuch`` when the process takes too long or too much memory.
        """
        while (child := self._child) is None or self._busy:
            if child is None and not self._starting and not self._closed and os.name == "posix":
                self._starting = True
                self._spawn(self._start())
            if not waits or not self._tasks:
                self.counters.add("large_requests.in_thread")
                return await asyncio.to_thread(work, *args)
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        self._busy = True
        # If the caller is cancelled, the process stays busy until the work is done.
        return await asyncio.shield(self._spawn(self._run(child, work, args)))

    async def aclose(self) -> None:
        """End the process. No other one is started afterwards."""
        self._closed = True
        self._end()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work, name="saga-helper")
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved; a waiting caller gets it as well

    async def _start(self) -> None:
        try:
            child = await asyncio.to_thread(_started, self.modules)
        except (OSError, EOFError) as error:
            reason = str(error) or f"it ended before it was ready ({type(error).__name__})"
            self.counters.degrade("large_requests", f"no process can be started for them; threads read them: {reason}")
            self._closed = True  # another try would fail as well
            return
        finally:
            self._starting = False
        if self._closed:
            _end(child)
            return
        self._child = child
        self._wait()

    async def _run(self, child: subprocess.Popen[bytes], work: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        self._wait()
        late = asyncio.get_running_loop().call_later(self.seconds, child.kill)
        try:
            kind, found = await asyncio.to_thread(_answer, child, work, args)
        except (OSError, EOFError):
            self._forget(child)
            raise TooMuch(f"reading the request takes longer than {self.seconds:g} s, or too much memory") from None
        finally:
            late.cancel()
            self._busy = False
        if kind == helper_child.RAISED:
            raise found
        if kind == helper_child.BROKEN:
            raise RuntimeError(f"in the process for large requests: {found}")
        if kind == helper_child.MEMORY:
            raise TooMuch(f"reading the request takes more than {helper_child.MEMORY_BYTES >> 20} MB of memory")
        return found

    def _wait(self) -> None:
        """Restart the timer after which the idle process is ended."""
        if self._ends is not None:
            self._ends.cancel()
        self._ends = asyncio.get_running_loop().call_later(self.idle_seconds + self.seconds, self._rest)

    def _rest(self) -> None:
        if not self._busy:
            self._end()

    def _end(self) -> None:
        if self._ends is not None:
            self._ends.cancel()
            self._ends = None
        if self._child is not None:
            self._forget(self._child)

    def _forget(self, child: subprocess.Popen[bytes]) -> None:
        if self._child is child:
            self._child = None
        _end(child)


def _started(modules: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """Start the process and wait until it is ready. Blocks, so call it in a thread."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    child = subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", helper_child.__name__, *modules],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env={**kept, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
    )
    try:
        _received(child)
    except BaseException:
        _end(child)
        raise
    return child


def _answer(child: subprocess.Popen[bytes], work: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, Any]:
    """Send work to the process and return its answer. Blocks, so call it in a thread."""
    assert child.stdin is not None
    # A large body is sent unpickled, because copying it would hold the interpreter's lock.
    bulk = next((arg for arg in args if type(arg) is bytes), b"")
    apart = tuple(pickle.PickleBuffer(arg) if arg is bulk else arg for arg in args)
    for part in (pickle.dumps((work, apart), protocol=5, buffer_callback=lambda _: False), bulk):
        helper_child.send(child.stdin.fileno(), part)
    found: tuple[str, Any] = pickle.loads(_received(child))
    return found


def _received(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout is not None
    return helper_child.receive(child.stdout.fileno())


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the process, which has nothing to save, and close its pipes."""
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
