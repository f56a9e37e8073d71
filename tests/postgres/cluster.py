"""Servers in processes of their own, on one database; each may be killed, stopped and continued."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 180.0


def free_port() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        port: int = line.getsockname()[1]
        return port


class Member:
    """One server. Its name and port stay when it is started again."""

    def __init__(self, folder: Path, name: str, sections: dict[str, Any]) -> None:
        self.name = name
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        folder.mkdir(parents=True, exist_ok=True)
        self._file, self._log = folder / "saga.json", folder / "log"
        server = {"port": self.port, "name": name, "drain_timeout": 2, **sections.get("server", {})}
        storage = {"path": str(folder / "data"), **sections["storage"]}
        # JSON is YAML too.
        self._file.write_text(json.dumps({**sections, "server": server, "storage": storage}))
        self._process: subprocess.Popen[bytes] | None = None
        self.asleep = False

    def start(self) -> None:
        command = [sys.executable, "-m", "saga_server", "serve", "--config", str(self._file)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    async def ready(self) -> None:
        """Wait until it answers."""
        deadline = time.monotonic() + _START_SECONDS
        async with ClientSession(timeout=ClientTimeout(total=2)) as http:
            while True:
                try:
                    async with http.get(f"{self.url}/readyz") as answer:
                        if answer.status == 200:
                            return
                except (ClientError, OSError, TimeoutError):
                    pass
                assert self._process is not None
                if self._process.poll() is not None:
                    self.start()  # the database was away when it started; a service manager does the same
                assert time.monotonic() < deadline, self.log()
                await asyncio.sleep(0.1)

    def send(self, what: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(what)
        if what is signal.SIGKILL:
            self._process.wait()

    def wait(self) -> None:
        """Wait until it has ended."""
        assert self._process is not None
        self._process.wait(60)

    def sleep(self) -> None:
        self.asleep = True
        self.send(signal.SIGSTOP)

    def wake(self) -> None:
        self.asleep = False
        self.send(signal.SIGCONT)

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def remove(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
