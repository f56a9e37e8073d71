"""A server of several processes, each of which may be killed, stopped and continued."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout
from attrs import frozen

from saga_backends.key_bytes import decode
from tests.postgres.chaos.record import Commit
from tests.postgres.cluster import ROOT, free_port

_SECONDS = 180.0


@frozen
class Door:
    """Where one is asked: all processes together, or one of them."""

    name: str
    url: str


class Together:
    """``saga serve`` with ``server.workers``. Its name and port stay when it is started again."""

    def __init__(self, folder: Path, workers: int, sections: dict[str, Any], *, recorded: bool = False) -> None:
        """``recorded``: each commit of the journal is written down (``changes_since``)."""
        self._paths = [str(ROOT), *([str(Path(__file__).parent / "recording")] if recorded else [])]
        self.workers, self.port, self.data = workers, free_port(), folder / "data"
        self.door = Door("all", f"http://127.0.0.1:{self.port}")
        keys = sections["server"].get("api_keys")
        self.headers = {"Authorization": f"Bearer {keys[0]}"} if keys else {}
        self._file, self._log = folder / "saga.json", folder / "log"
        server = {"port": self.port, "name": "home", "workers": workers, "drain_timeout": 5, **sections["server"]}
        storage = {"profile": "lite", "path": str(self.data)}
        self._file.write_text(json.dumps({**sections, "server": server, "storage": storage}))
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "saga_server", "serve", "--config", str(self._file)]
        with self._log.open("ab") as log:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(self._paths)}
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    async def doors(self) -> list[Door]:
        """Each process's own door, when all of them answer."""
        deadline = time.monotonic() + _SECONDS
        async with ClientSession(timeout=ClientTimeout(total=5), headers=self.headers) as http:
            while True:
                try:
                    async with http.get(f"{self.door.url}/api/status") as answer:
                        told = (await answer.json())["servers"] if answer.status == 200 else None
                    if told is not None:
                        seen = [told, *(each for each in told["others"] if each["alive"])]
                        doors = [Door(each["server"].partition("#")[0], each["address"]) for each in seen]
                        if len(doors) == self.workers and all([await _answers(http, each) for each in doors]):
                            return sorted(doors, key=lambda each: each.name)
                except (ClientError, OSError, TimeoutError):
                    pass
                assert self.process is not None and self.process.poll() is None, self.log()
                assert time.monotonic() < deadline, self.log()
                await asyncio.sleep(0.1)

    def children(self) -> list[int]:
        """The processes that serve, as the system has them."""
        assert self.process is not None
        told = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(each) for each in told.split()]

    def children_left(self) -> list[int]:
        """Processes of this data directory that are left when the first one has ended."""
        found = []
        for each in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(self._file).encode() in each.read_bytes():
                    found.append(int(each.parent.name))
            except OSError:
                continue  # it has ended meanwhile
        return found

    def stop(self) -> int:
        """End it in order; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def remove(self) -> None:
        """End whatever is left."""
        process, self.process = self.process, None
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def changes_since(data: Path, number: int) -> list[Commit]:
    """All commits of a recorded journal with numbers above ``number``."""
    with closing(sqlite3.connect(data / "state.db", timeout=60)) as line:
        line.execute("PRAGMA query_only=ON")
        rows = line.execute("SELECT number, at, who, rows FROM changes WHERE number > ? ORDER BY number", (number,))
        return [
            Commit(found, found, at, who, {decode(key): value for key, value in pickle.loads(changed)})
            for found, at, who, changed in rows
        ]


async def _answers(http: ClientSession, door: Door) -> bool:
    async with http.get(f"{door.url}/readyz") as answer:
        return answer.status == 200
