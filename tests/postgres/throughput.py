"""``python -m tests.postgres.throughput --servers 3``: what a turn costs where each request goes to any of the servers.

CPU time of the servers and of PostgreSQL, views and everything behind the reply included, so that other work on the
machine hardly matters. The narrator answers at once. ``--sticky``: each chat stays with one server.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout

from tests.postgres.cluster import Member
from tests.postgres.real_server import RealServer, missing
from tests.server.client import BLOCK
from tests.server.upstream import Received, Upstream, says

_TICKS = os.sysconf("SC_CLK_TCK")
_WORDS = 120


class Narrator:
    """No reply is like another one."""

    def __init__(self) -> None:
        self.told = 0

    async def __call__(self, request: Any, received: Received) -> Any:
        draw = random.Random(self.told)
        self.told += 1
        words = [f"{draw.choice('bcdfghklmnprst')}{draw.randrange(10**6):06d} " for _ in range(_WORDS)]
        return await says(f"Chapter {self.told}. ", *words, "\n\n" + BLOCK)(request, received)


def _seconds(pids: Iterable[int]) -> float:
    """CPU time of processes so far, with that of their children that ended."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(int(each) for each in fields[11:15])
    return total / _TICKS


def _tree(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in _tree(int(child)))]


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1_024 for line in lines if line.startswith("VmRSS"))


async def _chat(http: ClientSession, servers: list[Member], name: str, turns: int, sticky: bool) -> None:
    draw = random.Random(name)
    home = draw.choice(servers)
    history = [{"role": "system", "content": f"You narrate the tale of {name}."}]
    for number in range(turns):
        history.append({"role": "user", "content": f"{name} walks on for the {number}th time and looks about."})
        server = home if sticky else draw.choice(servers)
        body = {"model": "narrator-1", "messages": history, "stream": True}
        async with http.post(f"{server.url}/v1/chat/completions", json=body) as answer:
            raw = await answer.read()
            assert answer.status == 200, raw
        told = raw.decode().count('"content"')
        assert told > _WORDS // 2 and b"[DONE]" in raw, raw[-300:]
        history.append({"role": "assistant", "content": text_of(raw)})


def text_of(raw: bytes) -> str:
    import json

    events = [line.removeprefix("data: ") for line in raw.decode().splitlines() if line.startswith("data: {")]
    return "".join(
        choice["delta"].get("content") or "" for event in events for choice in json.loads(event).get("choices", ())
    )


async def measure(count: int, chats: int, turns: int, sticky: bool, folder: Path, database: RealServer) -> str:
    """Play, and say what a turn cost."""
    database.clear()
    async with Upstream(otherwise=Narrator()) as upstream:
        sections: dict[str, Any] = {
            "storage": {"profile": "scale", "url": database.url},
            "session": {"default_world": "ersia"},
            "extraction": {"automatic": "never"},
            "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
        }
        servers = [Member(folder / name, name, sections) for name in "abcdef"[:count]]
        try:
            for each in servers:
                each.start()
                await each.ready()
            async with ClientSession(timeout=ClientTimeout(total=120)) as http:
                # What is imported and opened by the first turns is no turn's cost.
                await asyncio.gather(*(_chat(http, servers, f"Warm {number}", 3, False) for number in range(chats)))
                await _drained(http, servers)
                pids = [each._process.pid for each in servers if each._process is not None]
                before, database_before = _seconds(pids), _seconds(_tree(database.pid))
                await asyncio.gather(
                    *(_chat(http, servers, f"Aria {number}", turns, sticky) for number in range(chats))
                )
                await _drained(http, servers)
                many = chats * turns
                server = (_seconds(pids) - before) / many * 1_000
                postgres = (_seconds(_tree(database.pid)) - database_before) / many * 1_000
                memory = ", ".join(f"{_memory(pid):.0f}" for pid in pids)
            moved = "sticky" if sticky else "any"
            return f"{count} servers ({moved}): {server:.1f} ms a turn, PostgreSQL {postgres:.1f} ms, {memory} MB"
        finally:
            for each in servers:
                await asyncio.to_thread(each.remove)


async def _drained(http: ClientSession, servers: list[Member]) -> None:
    for each in servers:
        async with http.post(f"{each.url}/api/drain") as answer:
            assert answer.status == 200, await answer.text()


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.postgres.throughput", description=__doc__)
    given.add_argument("--servers", type=int, default=3)
    given.add_argument("--chats", type=int, default=8)
    given.add_argument("--turns", type=int, default=30, help="of each chat")
    given.add_argument("--sticky", action="store_true")
    asked = given.parse_args()
    if reason := missing():
        raise SystemExit(reason)
    database = RealServer(options=("fsync=off",))
    try:
        with tempfile.TemporaryDirectory(prefix="saga-throughput-") as folder:
            told = measure(asked.servers, asked.chats, asked.turns, asked.sticky, Path(folder), database)
            print(asyncio.run(told), flush=True)
    finally:
        database.remove()


if __name__ == "__main__":
    main()
