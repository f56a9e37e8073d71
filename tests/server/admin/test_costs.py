"""What a session cost, over HTTP: narration, extraction and curation apart, and beside what it costs without SAGA."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.fake_providers.anthropic import AnthropicMessages
from tests.fake_providers.steps import errors
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, fails, says

USAGE = 100 * 2.5e-6 - 64 * 1.25e-6 + 20 * 10e-6
"""Dollars of a call of the scripted upstream by GPT-4o: 100 tokens, 64 of them read, 20 in reply."""
SMALL = 100 * 0.15e-6 - 64 * 0.075e-6 + 20 * 0.6e-6


@pytest.fixture
async def small() -> AsyncIterator[Upstream]:
    async with Upstream() as server:
        server.otherwise = says("```state\nhp_change: -3\n```")
        yield server


@pytest.fixture
async def client(upstream: Upstream, small: Upstream, serve: Serve) -> AsyncIterator[Client]:
    providers = {
        "openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0},
        "cheap": {"base_url": small.url, "api_key": "sk-small", "max_retries": 0},
    }
    models = {"narration": "gpt-4o", "extraction": "cheap/gpt-4o-mini", "curator": "cheap/gpt-4o-mini"}
    async with serve(providers=providers, models=models, curator={"interval": 3, "backend": "direct"}) as found:
        yield found


async def play(client: Client, upstream: Upstream) -> str:
    said: list[str] = []
    for number in range(4):
        upstream.then(says(f"{number}번째 골목은 길고 어둡다. 바람이 분다."))
        reply = await client.chat(words(*said, f"{number}번째 길로 간다."))
        said += [f"{number}번째 길로 간다.", reply.text]
    assert (await client.post("/api/drain")).json["settled"]
    return reply.session


async def test_every_call_is_billed_and_shown_apart(client: Client, upstream: Upstream, small: Upstream) -> None:
    session = await play(client, upstream)
    cost = (await client.get(f"/api/sessions/{session}/cost?turns=1")).json
    calls = {purpose: cost[purpose]["calls"] for purpose in ("narration", "extraction", "curation")}
    assert calls["narration"] == len(upstream.requests) == 4
    assert calls["extraction"] == 4
    assert calls["extraction"] + calls["curation"] == len(small.requests)
    assert calls["curation"] > 0, "its answers are of no use to a curator, and paid for all the same"
    assert cost["narration"]["dollars"] == pytest.approx(4 * USAGE)
    assert cost["extraction"]["dollars"] == pytest.approx(4 * SMALL)
    spent = 4 * USAGE + (4 + calls["curation"]) * SMALL
    assert cost["total"]["dollars"] == cost["comparison"]["with_saga"] == pytest.approx(spent)
    without = sum(bill["without"] for bill in cost["turns"])
    assert cost["comparison"]["without_saga"] == pytest.approx(without)
    assert cost["comparison"]["saved"] == pytest.approx(1 - spent / without)
    assert {bill["turn"] for bill in cost["turns"] if bill["purpose"] == "extraction"} == {
        bill["turn"] for bill in cost["turns"] if bill["purpose"] == "narration"
    }
    (listed,) = (await client.get("/api/sessions")).json["sessions"]
    assert listed["dollars"] == pytest.approx(spent)
    assert listed["spent"]["curation"] == pytest.approx(calls["curation"] * SMALL)


async def test_a_reply_says_what_it_cost_and_what_it_would_have(client: Client) -> None:
    whole = await client.chat(words("길로 간다."))
    bill = (await client.get(f"/api/sessions/{whole.session}/cost?turns=1")).json["turns"][0]
    assert whole.headers["X-SAGA-Tokens"] == "input=100, read=64, written=0, output=20"
    assert float(whole.headers["X-SAGA-Cost"]) == pytest.approx(USAGE, abs=1e-6)
    without = f"cache={bill['uncached']:.6f}, saga={bill['without']:.6f}"
    assert whole.headers["X-SAGA-Cost-Without"] == without
    assert whole.json["usage"]["cost"] == pytest.approx(USAGE, abs=1e-6)
    asked: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    streamed = await client.chat(words("길로 간다."), **asked)
    usage = next(each["usage"] for each in streamed.events[:-1] if each.get("usage"))
    assert usage["cost"] == pytest.approx(USAGE, abs=1e-6)
    silent = await client.chat(words("길로 간다."), stream=True)
    assert not any(each.get("usage") for each in silent.events[:-1])


async def test_metrics_count_each_purpose(client: Client, upstream: Upstream) -> None:
    session = await play(client, upstream)
    cost = (await client.get(f"/api/sessions/{session}/cost")).json
    for purpose in ("narration", "extraction", "curation"):
        spent = await client.metric(f'saga_dollars_total{{bill="spent",purpose="{purpose}"}}')
        assert spent == pytest.approx(cost[purpose]["dollars"])
        tokens = await client.metric(f'saga_upstream_tokens_total{{kind="input",purpose="{purpose}"}}')
        assert tokens == cost[purpose]["input"]


async def test_bills_are_events(client: Client, upstream: Upstream) -> None:
    async with client.request("GET", "/api/events") as answer:
        assert await answer.content.readline() == b": listening\n"
        session = await play(client, upstream)
        event = ""
        while event != "billed":
            line = (await answer.content.readline()).decode().strip()
            event = line.removeprefix("event: ") if line.startswith("event: ") else event
        about = json.loads((await answer.content.readline()).decode().removeprefix("data: "))
    assert (about["session"], about["purpose"], about["model"]) == (session, "extraction", "gpt-4o-mini")


async def test_what_a_model_billed_before_it_failed_is_no_bill_of_the_one_that_told(
    upstream: Upstream, serve: Serve
) -> None:
    """It reported its prompt's tokens and then failed, without a word: both bills are kept, each with its model."""
    async with AnthropicMessages() as first:
        providers = {
            "anthropic": {"base_url": first.url, "api_key": "sk-ant", "max_retries": 0},
            "openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0},
        }
        models = {"narration": "claude-sonnet-5-5", "fallback": ["gpt-4o"]}
        async with serve(providers=providers, models=models) as client:
            first.then(errors(), errors())
            reply = await client.chat(words("길로 간다."), stream=True)
            assert reply.streamed() == "The rain stops."
            upstream.then(fails(500))
            on = words("길로 간다.", "The rain stops.", "더 간다.")
            assert (await client.chat(on, stream=True)).status == 502
            cost = (await client.get(f"/api/sessions/{reply.session}/cost?turns=1")).json
    assert [(bill["model"], bill["input"]) for bill in cost["turns"]] == [
        ("gpt-4o", 100),
        ("claude-sonnet-5-5", 100),
        ("claude-sonnet-5-5", 100),
    ]
    assert cost["turns"][0]["turn"] == reply.turn == cost["turns"][2]["turn"]
    assert cost["narration"]["calls"] == 3
