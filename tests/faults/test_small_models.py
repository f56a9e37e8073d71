"""Models behind the story answer monstrously, with nothing, or not before the server ends: no player notices."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from saga_server import server as server_module
from saga_server.process.logs import formatter
from tests.server.client import Client, words
from tests.server.upstream import Upstream, hangs, says

MONSTERS: dict[str, str] = {
    "prose": "나무꾼이 운다. " * 20_000,
    "brackets": "나무꾼 " + "[" * 300_000,
    "nothing": "",
}


@pytest.fixture
async def small() -> AsyncIterator[Upstream]:
    async with Upstream() as server:
        yield server


@pytest.fixture
async def client(upstream: Upstream, small: Upstream) -> AsyncIterator[Client]:
    providers = {
        "openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0},
        "cheap": {"base_url": small.url, "api_key": "sk-small", "max_retries": 0},
    }
    models = {"extraction": "cheap/tiny-1", "curator": "cheap/tiny-1"}
    curator = {"interval": 1, "backend": "direct"}
    async with Client.of({"providers": providers, "models": models, "curator": curator}, {}) as found:
        yield found


async def play(client: Client, upstream: Upstream, turns: int = 3) -> tuple[str, list[str]]:
    said: list[str] = []
    for number in range(turns):
        upstream.then(says(f"{number}번째 골목은 길고 어둡다. 바람이 분다."))
        reply = await client.chat(words(*said, f"{number}번째 길로 간다."))
        assert reply.status == 200
        said += [f"{number}번째 길로 간다.", reply.text]
    return reply.session, said


@pytest.mark.parametrize("kind", MONSTERS)
async def test_a_monstrous_answer(
    client: Client, upstream: Upstream, small: Upstream, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is paid, listed with its reason, asked again when somebody wants that, and stops nobody meanwhile."""
    small.otherwise = says(MONSTERS[kind])
    began = time.process_time()
    session, said = await play(client, upstream)
    await client.post("/api/drain?timeout=10")
    assert time.process_time() - began < 5
    jobs = (await client.get("/api/jobs")).json["jobs"]
    failed = [job for job in jobs if job["kind"] == "extract" and job["stuck"]]
    assert failed and all(job["reason"] and len(job["reason"]) < 1_000 for job in failed)
    form = formatter("text", ())
    assert not [record for record in caplog.records if "나무꾼" in form.format(record)], "a log tells no story"
    cost = (await client.get(f"/api/sessions/{session}/cost")).json
    assert cost["extraction"]["calls"] + cost["curation"]["calls"] == len(small.requests)
    small.otherwise = says("```state\nhp_change: -3\n```")
    for _ in range(3):
        await client.post("/api/jobs/retry")
        await client.post("/api/drain")
    assert not [job for job in (await client.get("/api/jobs")).json["jobs"] if job["kind"] == "extract"]
    turns = await client.turns(session)
    assert [text for turn in turns for text in (turn["user"], turn["reply"])] == said
    assert (await client.get(f"/api/sessions/{session}/state")).json["hp"] == 100 - 3 * 3
    assert [str(each) for each in (await client.server.saga.maintenance.verify()).findings] == []


async def test_no_answer_before_the_server_ends(
    upstream: Upstream, small: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing keeps the server."""
    monkeypatch.setattr(server_module, "CLOSING_SECONDS", 2.0)
    small.otherwise = hangs()
    providers = {"openai": {"base_url": upstream.url, "api_key": "k"}, "cheap": {"base_url": small.url, "api_key": "k"}}
    models = {"extraction": "cheap/tiny-1", "curator": "cheap/tiny-1"}
    sections = {"providers": providers, "models": models, "curator": {"interval": 1, "backend": "direct"}}
    async with Client.of({**sections, "server": {"drain_timeout": 0.2}}, {}) as client:
        await play(client, upstream)
        async with asyncio.timeout(5):
            while not small.requests:
                await client.get("/healthz")
            await client.server.stop()
        assert client.server.abandoned == ()
