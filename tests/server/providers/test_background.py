"""Extraction over HTTP: a small model of another provider reads in the background, and gives way to the narrator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Received, Upstream, fails, says

FIRST = ("나는 싸운다.", "고블린이 팔을 문다. 피가 흐른다.")
SECOND = ("나는 달아난다.", "골목은 어둡다. 아무도 없다.")
TOLD = "```state\nhp_change: -30\n```"


@pytest.fixture
async def small() -> AsyncIterator[Upstream]:
    async with Upstream() as server:
        server.otherwise = says(TOLD)
        yield server


@pytest.fixture
async def reading(upstream: Upstream, small: Upstream, serve: Serve) -> AsyncIterator[Client]:
    providers = {
        "openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0},
        "cheap": {"base_url": small.url, "api_key": "sk-small", "max_retries": 0},
    }
    async with serve(providers=providers, models={"extraction": "cheap/tiny-1"}) as found:
        yield found


async def play(client: Client, upstream: Upstream) -> str:
    upstream.then(says(FIRST[1]), says(SECOND[1]))
    first = await client.chat(words(FIRST[0]))
    await client.chat(words(*FIRST, SECOND[0]))
    return first.session


async def state(client: Client, session: str) -> dict[str, object]:
    found: dict[str, object] = (await client.get(f"/api/sessions/{session}/state")).json
    return found


async def test_what_the_narrator_does_not_report_is_read(reading: Client, upstream: Upstream, small: Upstream) -> None:
    session = await play(reading, upstream)
    assert (await reading.post("/api/drain")).json["settled"]
    assert (await state(reading, session))["hp"] == 40, "draining reads the last turn too"
    assert [request.body["model"] for request in small.requests] == ["tiny-1", "tiny-1"]
    assert all("temperature" not in request.body and request.body["max_tokens"] for request in small.requests)
    assert len(upstream.requests) == 2
    nodes = (await reading.get(f"/api/sessions/{session}/tree")).json["nodes"]
    assert [node["status"] for node in nodes] == ["none", "ok", "ok"]
    status = (await reading.get("/api/status")).json
    assert status["backfill"] == {session: {"done": 2, "waiting": 0}}
    assert status["counters"]["extraction.calls"] == 2


async def test_without_the_setting_nobody_is_asked(client: Client, upstream: Upstream) -> None:
    session = await play(client, upstream)
    assert (await client.post("/api/drain")).json["settled"]
    assert len(upstream.requests) == 2
    assert (await state(client, session))["hp"] == 100
    assert (await client.get("/api/status")).json["counters"]["extraction.skipped"] == 2
    refused = await client.post(f"/api/sessions/{session}/reextract")
    assert (refused.status, refused.error["type"]) == (501, "not_supported_error")
    assert "models.extraction" in refused.error["message"]


async def test_with_the_offline_narrator_alone_nobody_is_asked(serve: Serve) -> None:
    async with serve(models={"extraction": "tiny-1"}) as client:
        await client.chat(words("나는 싸운다."))
        assert (await client.post("/api/drain")).json["settled"]
        assert "extraction.calls" not in (await client.get("/api/status")).json["counters"]


async def test_a_failure_is_listed_and_asked_again(reading: Client, upstream: Upstream, small: Upstream) -> None:
    small.otherwise = says("I cannot help with that.")
    session = await play(reading, upstream)
    assert (await reading.post("/api/drain")).json["settled"]
    failed = (await reading.get("/api/status")).json["work"]["failed"]
    assert [(each["session"], each["tries"]) for each in failed] == [(session, 1), (session, 1)]
    assert "I cannot help with that." in failed[0]["reason"]
    small.otherwise = says(TOLD)
    turn = failed[-1]["turn"]
    asked = await reading.post(f"/api/sessions/{session}/reextract?only=1", json={"turn": turn})
    assert (asked.status, asked.json) == (200, {"asked": 1})
    assert (await reading.post("/api/drain")).json["settled"]
    assert (await reading.post(f"/api/sessions/{session}/reextract")).json == {"asked": 1}
    assert (await reading.post("/api/drain")).json["settled"]
    assert (await state(reading, session))["hp"] == 40
    assert (await reading.get("/api/status")).json["work"]["failed"] == []
    assert (await reading.post(f"/api/sessions/{session}/reextract", json={"turn": "none"})).status == 404
    assert (await reading.post(f"/api/sessions/{session}/reextract?below=1")).status == 400


async def test_a_provider_that_fails_costs_no_reply(reading: Client, upstream: Upstream, small: Upstream) -> None:
    small.otherwise = fails(503)
    session = await play(reading, upstream)
    drained = (await reading.post("/api/drain")).json
    assert {each["kind"] for each in drained["waiting"]} == {"extract"}
    third = await reading.chat(words(*FIRST, *SECOND, "쉰다."))
    assert third.status == 200
    assert third.headers["X-SAGA-Notice"].startswith("extraction: 127.0.0.1:")
    small.otherwise = says(TOLD)
    assert (await reading.post("/api/drain")).json["settled"]
    assert (await state(reading, session))["hp"] == 10


async def test_reading_waits_while_its_upstream_narrates(upstream: Upstream, serve: Serve) -> None:
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    async with serve(providers=providers, models={"extraction": "tiny-1"}) as client:
        gate, arrived = asyncio.Event(), asyncio.Event()

        async def slow(request: web.Request, received: Received) -> web.StreamResponse:
            arrived.set()
            return await says("비가 ", "온다.", gate=gate)(request, received)

        upstream.then(says(FIRST[1]), slow, says(SECOND[1]))
        await client.chat(words(FIRST[0]))
        other = asyncio.create_task(client.chat(words("Who is there?", "Nobody answers the call.", "I wait.")))
        await arrived.wait()
        await client.chat(words(*FIRST, SECOND[0]))
        await client.server.saga.background.drain_views(5)
        assert [request.body["model"] for request in upstream.requests] == ["narrator-1"] * 3
        upstream.otherwise = says(TOLD)
        gate.set()
        await other
        assert (await client.post("/api/drain")).json["settled"]
        assert "tiny-1" in [request.body["model"] for request in upstream.requests]
