"""kill -9 in the middle of play: no turn is lost whose reply had ended at the client, and every view follows.

A real server, real stores, real HTTP. Three players play at once; at a random moment the server is killed and started
again on the same data. What a client saw to its end must be in the journal; in the end graph, vectors, pages and the
key-value view must equal what a rebuild from the journal gives.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from attrs import define, field

from saga_core import Saga

KILLS = 3
MANY = 200
READY_SECONDS = 3.0
"""Within which a server is to take requests again."""
WORDS = (
    "어둠의 숲으로 간다.",
    "고블린을 공격한다.",
    "마을 광장으로 돌아간다.",
    "에르겐에게 인사한다.",
    "I look around.",
    "치유 물약을 산다.",
    "쉰다.",
)


@define(eq=False)
class Server:
    """A server process on a data directory."""

    folder: Path
    process: asyncio.subprocess.Process | None = None
    url: str = ""

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "saga_server", "serve", "--port", "0", "--data", str(self.folder / "data")),
            cwd=self.folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "NO_COLOR": "1"},
        )
        assert self.process.stdout is not None
        printed = []
        async for line in self.process.stdout:
            text = line.decode()
            printed.append(text)
            if text.startswith("SAGA ready at "):
                self.url = text.removeprefix("SAGA ready at ").strip()
                return
        assert self.process.stderr is not None
        raise AssertionError("".join(printed) + (await self.process.stderr.read()).decode())

    async def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        await self.process.communicate()


@define(eq=False)
class Player:
    """A frontend: keeps the chat, and which turns it saw to their end."""

    name: str
    rng: random.Random
    history: list[dict[str, str]] = field(factory=list)
    acknowledged: list[tuple[str, str, str]] = field(factory=list)
    """(session, turn, reply) of every reply that ended."""

    async def play(self, client: aiohttp.ClientSession, url: str) -> None:
        while True:
            words = f"{len(self.acknowledged)}. {self.rng.choice(WORDS)}"
            messages = [
                {"role": "system", "content": "너는 에르시아의 이야기꾼이다."},
                {"role": "assistant", "content": f"{self.name}의 이야기가 시작된다."},
                *self.history,
                {"role": "user", "content": words},
            ]
            stream = self.rng.random() < 0.5
            body = {"model": "saga-offline", "messages": messages, "stream": stream}
            async with client.post(f"{url}/chat/completions", json=body) as response:
                assert response.status == 200, await response.text()
                raw = await response.read()
            reply = _streamed(raw) if stream else json.loads(raw)["choices"][0]["message"]["content"]
            if reply is None:
                # The connection broke before [DONE]: the client never saw this reply end.
                continue
            turn = response.headers["X-SAGA-Turn"]
            self.acknowledged.append((response.headers["X-SAGA-Session"], turn, reply))
            self.history += [{"role": "user", "content": words}, {"role": "assistant", "content": reply}]
            if len(self.history) >= 40:
                del self.history[: 2 * self.rng.randrange(8)]


def _streamed(raw: bytes) -> str | None:
    if not raw.endswith(b"data: [DONE]\n\n"):
        return None
    chunks = [json.loads(row[6:]) for row in raw.decode().split("\n\n") if row.startswith("data: {")]
    return "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"])


async def _until_killed(players: list[Player], server: Server, replies: int, seconds: float) -> None:
    """Let all play until so many replies ended, and a little longer; then kill the server under them."""
    before = sum(len(player.acknowledged) for player in players)
    async with aiohttp.ClientSession() as client:
        tasks = [asyncio.create_task(player.play(client, server.url)) for player in players]
        while sum(len(player.acknowledged) for player in players) < before + replies:
            done, _ = await asyncio.wait(tasks, timeout=0.005)
            for task in done:
                task.result()
        done, _ = await asyncio.wait(tasks, timeout=seconds)
        for task in done:
            task.result()
        await server.kill()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        assert isinstance(result, aiohttp.ClientError | asyncio.CancelledError | ConnectionError), result


async def _check(url: str, players: list[Player], since: dict[str, int]) -> None:
    """Every acknowledged turn is there, with the text that the client saw."""
    async with aiohttp.ClientSession() as client:
        for player in players:
            fresh = player.acknowledged[since.get(player.name, 0) :]
            since[player.name] = len(player.acknowledged)
            for session, turn, reply in fresh:
                async with client.get(f"{url}/api/sessions/{session}/turns", params={"head": turn}) as response:
                    assert response.status == 200, await response.text()
                    turns: list[dict[str, Any]] = (await response.json())["turns"]
                assert turns[-1]["turn_id"] == turn
                assert turns[-1]["reply"] == reply


async def test_three_kills_lose_nothing(tmp_path: Path) -> None:
    await _killed(tmp_path, KILLS)


@pytest.mark.deep
async def test_two_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    ready = await _killed(tmp_path, MANY)
    print(f"ready after kill: median {statistics.median(ready):.2f} s, longest {max(ready):.2f} s")
    assert max(ready) <= READY_SECONDS


async def _killed(tmp_path: Path, kills: int) -> list[float]:
    """Play through so many kills and check everything; the seconds that each start took."""
    ready: list[float] = []
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    server = Server(tmp_path)
    players = [Player(name, random.Random(rng.random())) for name in ("아리아", "마라", "Tom")]
    checked: dict[str, int] = {}
    for _ in range(kills):
        began = time.perf_counter()
        await server.start()
        ready.append(time.perf_counter() - began)
        await _check(server.url.removesuffix("/v1"), players, checked)
        await _until_killed(players, server, rng.randint(1, 5), rng.uniform(0.0, 0.1))
    assert sum(len(player.acknowledged) for player in players) >= kills
    async with Saga.open({"storage": {"path": str(tmp_path / "data")}}) as saga:
        await saga.drain(60)
        for player in players:
            for session, turn, reply in player.acknowledged:
                turns = await saga.views.turns(session, head=turn)
                assert turns[-1].reply == reply
        for summary in await saga.sessions.list():
            assert await saga.maintenance.differences(summary.session.id) == []
            before = await saga.views.pages(summary.session.id)
            await saga.maintenance.rebuild(summary.session.id)
            assert await saga.maintenance.differences(summary.session.id) == []
            if summary.turns:  # the pages of a story whose first turn was cut off are rendered with its next one
                assert (await saga.views.pages(summary.session.id))[0] == before[0]
    played = sum(len(player.acknowledged) for player in players)
    print(f"{kills} kills, {played} replies that ended, none lost")
    return ready
