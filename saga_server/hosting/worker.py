"""A worker process: what it gets from the parent process, and its connection to it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Self

from attrs import evolve, frozen

from saga_backends.path_lock import inherit
from saga_core.config import Config
from saga_core.storage import backend_of
from saga_server.hosting.liveness import LivenessFiles, Siblings

VARIABLE = "SAGA_WORKER"
"""Environment variable with the worker's parameters, as JSON."""
BEAT, READY = b".", b"R"
_LOOKS = 5
"""Heartbeats in the time after which a process counts as hanging."""


@frozen(kw_only=True)
class Worker:
    """The parameters that this process got from its parent."""

    number: int
    """The number of the worker, from 1."""
    first: bool
    """Whether it is the first process after a start, which prints the server's address."""
    name: str
    """The name of the server, which all its processes share."""
    listening: Sequence[socket.socket]
    """The listening sockets that all processes share."""
    line: socket.socket
    """Carries the heartbeats to the parent. It is closed when the parent has ended."""

    @classmethod
    def of(cls, environ: MutableMapping[str, str] = os.environ) -> Self | None:
        """Read the parameters from ``VARIABLE``, and remove it from ``environ``. Returns None if it is not set."""
        raw = environ.pop(VARIABLE, None)
        if raw is None:
            return None
        told = json.loads(raw)
        inherit([Path(each) for each in told["locked"]], first=told["first"])
        line = socket.socket(fileno=told["line"])
        line.setblocking(False)
        listening = [socket.socket(fileno=each) for each in told["listening"]]
        return cls(number=told["number"], first=told["first"], name=told["name"], listening=listening, line=line)

    def settings(self, config: Config) -> Config:
        """Return ``config`` with the name of this process."""
        return evolve(config, server=evolve(config.server, name=f"{self.name}.w{self.number}"))

    def siblings(self, config: Config) -> Siblings | None:
        """Return what tells which processes are alive, or None when the journal is in a database server."""
        return LivenessFiles(config.data_dir) if backend_of(config, "state") == "sqlite" else None

    def ready(self) -> None:
        """Tell the parent that this process answers requests."""
        self._say(READY)

    async def beat(self, seconds: float, orphaned: Callable[[], None]) -> None:
        """Send heartbeats, several in ``seconds``, until cancelled. Calls ``orphaned`` when the parent has ended."""
        loop = asyncio.get_running_loop()

        def heard() -> None:
            loop.remove_reader(self.line)
            orphaned()

        loop.add_reader(self.line, heard)
        try:
            while True:
                self._say(BEAT)
                await asyncio.sleep(seconds / _LOOKS)
        finally:
            loop.remove_reader(self.line)

    def _say(self, what: bytes) -> None:
        try:
            self.line.send(what)
        except BlockingIOError:
            return  # the parent is suspended, and has unread heartbeats already
        except (BrokenPipeError, ConnectionError):
            return  # the reader of the socket notices as well
