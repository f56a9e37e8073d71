"""``saga serve`` as a process: signals, shutdown, and exit code."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from attrs import define, field

from saga_core.config import Config
from saga_core.errors import SagaError
from saga_server.cli.announce import announce, at_once, farewell, leaving
from saga_server.cli.settings import SURROUNDINGS
from saga_server.process import READY, STOPPING, Tidying, running_watch, set_up_logging, settle, tell_manager
from saga_server.server import Server

if TYPE_CHECKING:
    from saga_server.hosting import Worker

_log = logging.getLogger("saga.config")

_ENDING = (signal.SIGINT, signal.SIGTERM)
_CONSOLE: tuple[signal.Signals, ...] = tuple(filter(None, [getattr(signal, "SIGBREAK", None)]))
"""The signal of Windows for Ctrl-Break and for a console window that is closed."""


async def serve(config: Config, read_again: Callable[[], Config], file: Path, worker: Worker | None = None) -> None:
    """Serve until a signal asks the server to stop. Raises ``SagaError`` when it cannot start.

    After the first signal, open replies and background work may finish; a second signal ends the process at once.
    SIGHUP reads the settings again, unless stdin is a terminal: then it means that the terminal was closed. When
    something does not end in time, the process ends without it, with exit code 1. A ``worker`` is one of several
    processes. It prints nothing, except that the first one announces the server when it starts, and it also stops when
    the process that started it is gone.
    """
    for warning in config.warnings:
        _log.warning("%s", warning)
    server = Server(
        config,
        read_again=read_again,
        settings_file=file,
        on_reload=set_up_logging,
        worker=worker,
        asks_context_sizes=True,
    )
    signals = _Signals(server)
    await server.start()
    signals.listen()
    tidying = asyncio.create_task(Tidying(lambda: server.open_requests > 0).keep(), name="saga-tidying")
    beating: asyncio.Task[None] | None = None
    if worker is not None:
        beating = asyncio.create_task(worker.beat(config.server.lease_seconds, signals.asked.set), name="saga-worker")
        worker.ready()
    try:
        if worker is None or worker.first:
            announce(server)
        tell_manager(READY)
        settle()
        watch = running_watch()
        if watch is not None:
            watch.forget()
        await signals.asked.wait()
        tell_manager(STOPPING)
        if worker is None:
            leaving(server)
    finally:
        tidying.cancel()
        report = await server.stop()
        if beating is not None:
            beating.cancel()
    if worker is None:
        farewell(server.config, report, server.abandoned)
    if server.abandoned:  # hanging threads would keep the interpreter from exiting
        end_at_once(SURROUNDINGS)


@define(eq=False)
class _Signals:
    server: Server
    asked: asyncio.Event = field(factory=asyncio.Event)
    """Set when a signal asked the server to stop."""
    _reloads: set[asyncio.Task[None]] = field(factory=set)

    def listen(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            for number in _ENDING:
                loop.add_signal_handler(number, self._end, number)
        except NotImplementedError:
            self._listen_beside(loop)
            return
        if sys.stdin.isatty():  # SIGHUP means that the terminal was closed
            loop.add_signal_handler(signal.SIGHUP, self._end, signal.SIGHUP)
        else:
            loop.add_signal_handler(signal.SIGHUP, self._reload)

    def _listen_beside(self, loop: asyncio.AbstractEventLoop) -> None:
        """Install plain signal handlers, for event loops that take none, as on Windows.

        A handler passes the first signal on to the loop. A second signal ends the process from the handler itself,
        because the loop may be what hangs.
        """

        def heard(number: int, _frame: FrameType | None) -> None:
            if self.asked.is_set():
                self._end(number)
            loop.call_soon_threadsafe(self._end, number)

        for number in (*_ENDING, *_CONSOLE):
            signal.signal(number, heard)

    def _end(self, number: int) -> None:
        if self.asked.is_set():
            at_once(self.server.config)
            end_at_once(128 + number)
        self.asked.set()

    def _reload(self) -> None:
        task = asyncio.create_task(self._read(), name="saga-reload")
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def _read(self) -> None:
        try:
            await self.server.reload()
        except (SagaError, OSError):
            return  # the refused settings were logged


def end_at_once(code: int) -> NoReturn:
    """End the process with ``code`` without waiting for its threads."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
