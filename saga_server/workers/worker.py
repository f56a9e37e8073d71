"""One of several processes of a server: what it was given, and its line to the process that started it."""

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
from saga_core.ownership import Siblings
from saga_core.storage import backend_of
from saga_server.workers.life import LifeFiles

VARIABLE = "SAGA_WORKER"
"""Tells a process that it is one of several, as JSON."""
BEAT, READY = b".", b"R"
_LOOKS = 5
"""Beats in the time after which a process counts as hanging."""


@frozen(kw_only=True)
class Worker:
    """This process, as the one that started it made it."""

    number: int
    """From 1."""
    first: bool
    """Whether it is the first process of a start, which says to people where the server is."""
    name: str
    """Of all processes together."""
    listening: Sequence[socket.socket]
    """The sockets that all processes answer on."""
    line: socket.socket
    """Beats go out; when it ends, so did the process that started this one."""

    @classmethod
    def of(cls, environ: MutableMapping[str, str] = os.environ) -> Self | None:
        """What ``VARIABLE`` tells, which is taken out of ``environ``; None for a process of its own."""
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
        """``config`` with this process's own name."""
        return evolve(config, server=evolve(config.server, name=f"{self.name}.w{self.number}"))

    def siblings(self, config: Config) -> Siblings | None:
        """Who of the processes lives, where they share files. None where the journal is a database's."""
        return LifeFiles(config.data_dir) if backend_of(config, "state") == "sqlite" else None

    def ready(self) -> None:
        """Say that requests are answered."""
        self._say(READY)

    async def beat(self, seconds: float, orphaned: Callable[[], None]) -> None:
        """Give signs of life, several in ``seconds``, until cancelled; ``orphaned`` is called when nobody hears them
        any more.
        """
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
            return  # it has heard enough, and reads it when it is awake again
        except (BrokenPipeError, ConnectionError):
            return  # the reader is told
