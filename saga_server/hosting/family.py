"""The parent process, which starts the workers with its sockets and locks, and restarts workers that end."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import define, field

from saga_backends.path_lock import PathLock
from saga_core.config import Config
from saga_core.errors import ConfigError, SagaError, StoreLocked
from saga_core.storage import backend_of, path_of
from saga_server.hosting.worker import READY as IS_READY
from saga_server.hosting.worker import VARIABLE
from saga_server.process import READY, STOPPING, check_listening, note_of, open_sockets, tell_manager

_log = logging.getLogger("saga.workers")

_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds before a worker is restarted. The pause doubles each time, up to the second value."""
_STEADY = 60.0
"""After a worker ran for this many seconds, the pause is as short as at first."""
_CLOSING = 25.0
"""Seconds that a worker may take to end in addition to ``server.drain_timeout``."""
_LOOKS = 10
"""How often in ``server.lease_seconds`` each worker is checked for hanging."""


class NeverBegan(SagaError):
    """The first worker ended before it was ready. It has printed the reason itself."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the first process ended with {code}")
        self.code = code


@define(eq=False)
class _Process:
    number: int
    process: asyncio.subprocess.Process
    line: socket.socket
    heard: float
    ready: asyncio.Event = field(factory=asyncio.Event)

    def read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read the heartbeats of the worker."""
        try:
            told = self.line.recv(4_096)
        except BlockingIOError:
            return
        except ConnectionError:
            told = b""
        if not told:
            loop.remove_reader(self.line)
            return
        self.heard = time.monotonic()
        if IS_READY in told:
            self.ready.set()


@define(eq=False)
class Family:
    """The workers of a server. ``run`` keeps them running until a signal asks the server to stop."""

    config: Config
    say: Callable[[str], None]
    _stopping: asyncio.Event = field(factory=asyncio.Event, init=False)
    _processes: dict[int, _Process] = field(factory=dict, init=False)
    _codes: list[int] = field(factory=list, init=False)
    _answers: asyncio.Event = field(factory=asyncio.Event, init=False)
    """Set when the first worker is ready."""
    _begun: bool = field(default=False, init=False)
    _listening: list[socket.socket] = field(factory=list, init=False)
    _locks: list[tuple[Path, PathLock]] = field(factory=list, init=False)

    async def run(self) -> int:
        """Start all workers, keep them running, and return the exit code. Raises ``SagaError`` when that fails."""
        server = self.config.server
        check_listening(server)
        self._listening = open_sockets(server.host, server.port)
        try:
            with self._locked():
                return await self._run()
        finally:
            for sock in self._listening:
                sock.close()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the files that the workers share against other programs, until the last worker has ended."""
        try:
            for kind in ("state", "vector", "cache"):
                if kind == "cache" and not self.config.md_cache.enabled:
                    continue
                path = path_of(self.config, kind)
                if path is None or backend_of(self.config, kind) not in ("sqlite", "files"):
                    continue
                path = path.absolute()
                folder = path if kind == "cache" else path.parent
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._locks.append((path, PathLock(path)))
            if (note := note_of(self.config)).parent.is_dir():
                with suppress(StoreLocked):  # another server of the same folder has noted its address
                    self._locks.append((note.absolute(), PathLock(note)))
            yield
        finally:
            for _, lock in self._locks:
                lock.release()

    async def _run(self) -> int:
        workers = self.config.server.workers
        self._hear_signals()
        keeping = [asyncio.create_task(self._keep(1))]
        try:
            # The first worker starts alone: it creates and migrates the files before others open them.
            await self._until_ready(keeping[0])
            if not self._stopping.is_set():
                self._begun = True
                keeping += [asyncio.create_task(self._keep(number)) for number in range(2, workers + 1)]
                tell_manager(READY)
                _log.info("%d processes answer", workers)
            await self._stopping.wait()
            tell_manager(STOPPING)
            await self._end(keeping)
        except NeverBegan as error:
            return error.code
        finally:
            for each in self._processes.values():
                with suppress(ProcessLookupError):
                    each.process.kill()
            for task in keeping:
                task.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)
        return 0 if not any(self._codes) else 1

    async def _until_ready(self, keeping: asyncio.Task[None]) -> None:
        waiting = [asyncio.create_task(each.wait()) for each in (self._answers, self._stopping)]
        await asyncio.wait([keeping, *waiting], return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        if keeping.done():
            keeping.result()

    # -- one worker --------------------------------------------------------------------------------------------

    async def _keep(self, number: int) -> None:
        """Run worker ``number``, and restart it, until the server stops. Raises ``NeverBegan``."""
        pause = _PAUSE
        first = number == 1
        while not self._stopping.is_set():
            began = time.monotonic()
            code = await self._live(number, first=first)
            first = False
            if self._stopping.is_set():
                self._codes.append(code)
                return
            if not self._begun:
                raise NeverBegan(code)
            if time.monotonic() - began > _STEADY:
                pause = _PAUSE
            _log.error("process %d ended with %d; it is started again in %g s", number, code, pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _live(self, number: int, *, first: bool) -> int:
        """Start a worker, wait for its end, and return its exit code."""
        loop = asyncio.get_running_loop()
        mine, its = socket.socketpair()
        mine.setblocking(False)
        passed = [its.fileno(), *(sock.fileno() for sock in self._listening)]
        passed += [descriptor for _, lock in self._locks for descriptor in lock.descriptors]
        told = {
            "number": number,
            "first": first,
            "name": self._name(),
            "line": its.fileno(),
            "listening": [sock.fileno() for sock in self._listening],
            "locked": [str(path) for path, _ in self._locks],
        }
        environ = {**os.environ, VARIABLE: json.dumps(told)}
        environ.pop("NOTIFY_SOCKET", None)
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "saga_server",
                *sys.argv[1:],
                env=environ,
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=passed,
                start_new_session=True,  # Ctrl-C in a terminal reaches only the parent, which tells the workers
            )
        finally:
            its.close()
        found = self._processes[number] = _Process(number, process, mine, time.monotonic())
        if first:
            found.ready = self._answers
        loop.add_reader(mine, found.read, loop)
        if self._stopping.is_set():
            self._send(found, signal.SIGTERM)
        watching = asyncio.create_task(self._watch(found))
        try:
            return await process.wait()
        finally:
            watching.cancel()
            loop.remove_reader(mine)
            mine.close()
            if process.returncode is not None:
                del self._processes[number]

    async def _watch(self, found: _Process) -> None:
        """Kill a worker that sends no heartbeats, because others may be waiting for something that it holds."""
        await found.ready.wait()
        seconds = self.config.server.lease_seconds
        looked = time.monotonic()
        while True:
            await asyncio.sleep(seconds / _LOOKS)
            before, looked = looked, time.monotonic()
            found.read(asyncio.get_running_loop())
            if looked - before > seconds / 2:
                found.heard = looked  # the parent itself was suspended
            if looked - found.heard > seconds:
                _log.error("process %d gave no sign of life for %g s, and is ended", found.number, seconds)
                self._send(found, signal.SIGKILL)
                return

    def _name(self) -> str:
        server = self.config.server
        return server.name or f"{socket.gethostname()}:{self._listening[0].getsockname()[1]}"

    # -- the end -----------------------------------------------------------------------------------------------

    def _hear_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._asked, number)
        if sys.stdin is not None and sys.stdin.isatty():  # SIGHUP means that the terminal was closed
            loop.add_signal_handler(signal.SIGHUP, self._asked, signal.SIGHUP)
        else:
            loop.add_signal_handler(signal.SIGHUP, self._send_all, signal.SIGHUP)

    def _asked(self, number: int) -> None:
        if self._stopping.is_set():
            self.say("SAGA ends at once; what was recorded is safe, and the rest waits in the journal")
            self._send_all(signal.SIGKILL)
        self._stopping.set()

    def _send_all(self, what: signal.Signals) -> None:
        for each in self._processes.values():
            self._send(each, what)

    def _send(self, to: _Process, what: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            to.process.send_signal(what)

    async def _end(self, keeping: list[asyncio.Task[None]]) -> None:
        """Let all workers end, and kill those that take too long."""
        for sock in self._listening:
            sock.close()
        seconds = self.config.server.drain_timeout
        self.say(f"SAGA is stopping: {len(self._processes)} processes get {seconds:g} s; again to end at once")
        self._send_all(signal.SIGTERM)
        _, late = await asyncio.wait(keeping, timeout=seconds + _CLOSING)
        if late:
            _log.error("%d processes did not end in time, and are ended", len(late))
            self._send_all(signal.SIGKILL)
            await asyncio.wait(late)
        self.say("SAGA stopped")


_TOGETHER: tuple[Mapping[str, frozenset[str]], ...] = (
    {
        "state": frozenset({"sqlite"}),
        "graph": frozenset({"networkx"}),
        "vector": frozenset({"sqlite"}),
        "cache": frozenset({"files"}),
    },
    {
        "state": frozenset({"postgres"}),
        "graph": frozenset({"networkx", "postgres"}),
        "vector": frozenset({"pgvector"}),
        "cache": frozenset({"postgres"}),
    },
)
"""The backends that several processes can share, one mapping for each kind of journal.

A graph in memory is not shared: each process has its own.
"""


def check_workers(config: Config) -> None:
    """Raise ``ConfigError`` when ``config`` does not allow ``server.workers`` processes. It says what to change."""
    workers = config.server.workers
    if workers == 1:
        return
    problems = []
    if os.name != "posix":
        problems.append(
            f"server.workers: {workers} processes on one port need Linux, macOS or another Unix; set it to 1 here"
        )
    if config.server.address is not None:
        problems.append("server.address: each of server.workers has an address of its own; leave it out")
    kinds = [kind for kind in ("state", "graph", "vector", "cache") if kind != "cache" or config.md_cache.enabled]
    named = {kind: backend_of(config, kind) for kind in kinds}
    fitting = next((each for each in _TOGETHER if named["state"] in each["state"]), _TOGETHER[0])
    problems += [
        f"server.workers: storage.{kind}.backend is {named[kind]}, whose data only one process may open; use "
        f"{' or '.join(sorted(fitting[kind]))} (storage.profile lite or scale), or set server.workers to 1"
        for kind in kinds
        if named[kind] not in fitting[kind]
    ]
    if problems:
        raise ConfigError("config", tuple(problems))
