"""``python -m tests.postgres.pinned --servers 1,3``: turns a second of many chats, each with its share of a core.

The share is a quota of a control group, so that servers do not take the cores from each other. Linux with control
groups of the first version, and root. The narrator answers at once, and players do not pause.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, TCPConnector

from tests.postgres.cluster import Member
from tests.postgres.real_server import RealServer, missing
from tests.postgres.throughput import Narrator, text_of
from tests.server.upstream import Upstream

_GROUPS = Path("/sys/fs/cgroup/cpu")
_PERIOD = 20_000
"""Microseconds in which a quota is spent: short, or a server would stand still for long."""


class Share:
    """A control group whose processes have ``share`` of a core together."""

    def __init__(self, name: str, share: float) -> None:
        self._folder = _GROUPS / f"saga-pinned-{os.getpid()}-{name}"
        self._folder.mkdir()
        (self._folder / "cpu.cfs_period_us").write_text(str(_PERIOD))
        (self._folder / "cpu.cfs_quota_us").write_text(str(int(_PERIOD * share)))

    def take(self, pid: int) -> None:
        (self._folder / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        self._folder.rmdir()


class Chats:
    """Players who speak again as soon as they were answered, until told to stop."""

    def __init__(self, servers: list[Member], sticky: bool) -> None:
        self.servers, self.sticky = servers, sticky
        self.turns = 0
        self.over = False

    async def play(self, http: ClientSession, name: str, home: Member) -> None:
        draw = random.Random(name)
        history = [{"role": "system", "content": f"You narrate the tale of {name}."}]
        while not self.over:
            history.append({"role": "user", "content": f"{name} walks on for the {len(history)}th time and looks."})
            server = home if self.sticky else draw.choice(self.servers)
            body = {"model": "narrator-1", "messages": history, "stream": True}
            async with http.post(f"{server.url}/v1/chat/completions", json=body) as answer:
                raw = await answer.read()
                assert answer.status == 200 and b"[DONE]" in raw, raw[-300:]
            history.append({"role": "assistant", "content": text_of(raw)})
            self.turns += 1


async def measure(
    count: int, share: float, chats: int, seconds: float, sticky: bool, folder: Path, db: RealServer
) -> float:
    """Turns a second, once all chats have begun."""
    db.clear()
    async with Upstream(otherwise=Narrator()) as upstream:
        sections: dict[str, Any] = {
            "storage": {"profile": "scale", "url": db.url},
            "session": {"default_world": "ersia", "loaded": chats + 50},
            "extraction": {"automatic": "never"},
            "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
        }
        servers = [Member(folder / f"{count}{name}", name, sections) for name in "abcdef"[:count]]
        shares = [Share(each.name, share) for each in servers]
        try:
            for each, its in zip(servers, shares, strict=True):
                each.start()
                await each.ready()
                assert each._process is not None
                its.take(each._process.pid)
            found = Chats(servers, sticky)
            async with ClientSession(timeout=ClientTimeout(total=600), connector=TCPConnector(limit=0)) as http:
                playing = [
                    asyncio.create_task(found.play(http, f"Aria {number}", servers[number % count]))
                    for number in range(chats)
                ]
                while found.turns < 2 * chats:  # noqa: ASYNC110 - a condition of many players
                    await asyncio.sleep(0.1)
                before, began = found.turns, time.monotonic()
                await asyncio.sleep(seconds)
                turns, took = found.turns - before, time.monotonic() - began
                found.over = True
                await asyncio.gather(*playing)
            return turns / took
        finally:
            for each in servers:
                await asyncio.to_thread(each.remove)
            for its in shares:
                its.remove()


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.postgres.pinned", description=__doc__)
    given.add_argument("--servers", default="1,3")
    given.add_argument("--share", type=float, default=0.15, help="of a core, for each server")
    given.add_argument("--chats", type=int, default=300)
    given.add_argument("--seconds", type=float, default=40.0)
    given.add_argument("--any", action="store_true", help="each request goes to any server; else chats stay with one")
    asked = given.parse_args()
    if reason := missing():
        raise SystemExit(reason)
    database = RealServer(options=("fsync=off",))
    try:
        for count in map(int, asked.servers.split(",")):
            with tempfile.TemporaryDirectory(prefix="saga-pinned-") as folder:
                told = measure(count, asked.share, asked.chats, asked.seconds, not asked.any, Path(folder), database)
                print(f"{count} servers: {asyncio.run(told):.2f} turns a second", flush=True)
    finally:
        database.remove()


if __name__ == "__main__":
    main()
