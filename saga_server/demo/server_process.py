"""Runs the real server as a separate process, which can be killed and restarted on the same data and port."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path

import yaml
from attrs import define, field

from saga_server.process import READY_AT

_READY = re.compile(re.escape(READY_AT) + r"http://127\.0\.0\.1:(\d+)/")
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_LOG_LINES = 40


class ServerFailed(Exception):
    """The server did not start. The message has the last lines of its output."""


@define(eq=False)
class ServerProcess:
    """``saga serve`` on a free loopback port, with its data below ``folder``."""

    folder: Path
    profile: str
    world: str
    port: int = 0
    stores: Mapping[str, str] = field(factory=dict)
    """Backends that replace those of the profile, by kind of store."""
    _process: asyncio.subprocess.Process | None = field(default=None, init=False)
    _reader: asyncio.Task[None] | None = field(default=None, init=False)
    _ready: asyncio.Event = field(factory=asyncio.Event, init=False)
    _log: deque[str] = field(factory=lambda: deque(maxlen=_LOG_LINES), init=False)

    @property
    def base(self) -> str:
        """The base URL of the server after it has started."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start the server, and wait until it prints its address. Raises ``ServerFailed``."""
        config = self.folder / "saga.yaml"
        settings = {
            "models": {"narration": "offline"},
            "storage": {
                "profile": self.profile,
                "path": "data",
                **{kind: {"backend": name} for kind, name in self.stores.items()},
            },
            "session": {"default_world": self.world},
            "server": {"host": "127.0.0.1"},
            # A long deadline, so that no source of context is late on a busy machine and all runs are the same.
            "recall": {"deadline_ms": 5_000},
        }
        config.write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
        self._ready.clear()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "saga_server", "serve", "--config", str(config), "--host", "127.0.0.1", "--port", str(self.port)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"},
        )
        self._reader = asyncio.create_task(self._read(self._process), name="demo-server-output")
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._ready.wait()
        except TimeoutError:
            await self.kill()
            raise ServerFailed(f"the server was not ready after {_START_SECONDS:g} s:\n{self.log}") from None
        if self._process.returncode is not None:
            raise ServerFailed(f"the server ended with code {self._process.returncode}:\n{self.log}")

    async def kill(self) -> None:
        """Kill the server at once (SIGKILL), so that it cannot write anything more."""
        process = self._process
        if process is not None and process.returncode is None:
            process.kill()
        await self._gone()

    async def stop(self) -> None:
        """Ask the server to stop, and wait for it. Kill it if it takes longer than 20 seconds."""
        process = self._process
        if process is not None and process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(_STOP_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
        await self._gone()

    @property
    def log(self) -> str:
        """The last lines of the server's output."""
        return "\n".join(self._log)

    async def _gone(self) -> None:
        if self._process is not None:
            await self._process.wait()
        if self._reader is not None:
            await self._reader

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        with (self.folder / "server.log").open("a", encoding="utf-8") as log:
            while line := await process.stdout.readline():
                text = line.decode("utf-8", "replace").rstrip()
                self._log.append(text)
                log.write(text + "\n")
                found = _READY.match(text)
                if found and not self._ready.is_set():
                    self.port = int(found[1])
                    self._ready.set()
        await process.wait()
        self._ready.set()
