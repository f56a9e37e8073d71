"""Anthropic's Messages API as a door: the official SDK, SAGA, and providers of two wires behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anthropic
import pytest

from tests.fake_providers.server import ProtocolServer
from tests.fake_providers.steps import calls, errors, fails, hangs, says
from tests.server.client import BLOCK, Client
from tests.wire.dialects import DIALECTS, provider_server, settings_for

RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "providers"
PROVIDERS = ("anthropic", "local")
REPLY = "She lifts the lamp to your face and waits for a name."


@asynccontextmanager
async def staged(case: str) -> AsyncIterator[tuple[anthropic.AsyncAnthropic, Client, ProtocolServer, str]]:
    dialect, model = DIALECTS[case]
    async with provider_server(dialect) as upstream:
        settings = {"providers": {"up": settings_for(dialect, upstream)}}
        async with (
            Client.of(settings, {}) as saga,
            anthropic.AsyncAnthropic(base_url=saga.server.url, api_key="mine", max_retries=0, timeout=20.0) as sdk,
        ):
            yield sdk, saga, upstream, model


def said(*texts: str) -> list[Any]:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": [{"type": "text", "text": text}]} for at, text in enumerate(texts)]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("case", PROVIDERS)
async def test_a_chat_is_one_session(case: str, stream: bool) -> None:
    async with staged(case) as (sdk, saga, upstream, model):
        upstream.then(says(REPLY[:20], REPLY[20:], "\n\n" + BLOCK, finish="length"))
        asked: dict[str, Any] = {
            "model": model,
            "max_tokens": 300,
            "system": [{"type": "text", "text": "Ysolde keeps the gate.", "cache_control": {"type": "ephemeral"}}],
            "stop_sequences": ["\nAlex:"],
        }
        words = said("I came by the river road, alone and late.")
        if stream:
            async with sdk.messages.stream(messages=words, **asked) as events:
                message = await events.get_final_message()
                session = events.response.headers["X-SAGA-Session"]
        else:
            raw = await sdk.messages.with_raw_response.create(messages=words, **asked)
            message, session = await raw.parse(), raw.headers["X-SAGA-Session"]
        assert [block.type for block in message.content] == ["text"]
        assert message.content[0].text.strip() == REPLY  # type: ignore[union-attr]
        assert message.stop_reason == "max_tokens"
        assert message.usage.output_tokens > 0
        assert upstream.refusals == []
        sent = upstream.requests[-1].body
        assert sent["stop_sequences" if case == "anthropic" else "stop"] == ["\nAlex:"]
        more = said("I came by the river road, alone and late.", REPLY, "I show the brass key.")
        await sdk.messages.create(messages=more, **asked)
        path = await saga.turns(session)
        assert [turn["user"] for turn in path] == ["I came by the river road, alone and late.", "I show the brass key."]
        assert (await saga.get(f"/api/sessions/{session}/state")).json["location"] == "어둠의 숲"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("case", PROVIDERS)
async def test_thoughts_and_tools_pass(case: str, stream: bool) -> None:
    async with staged(case) as (sdk, _, upstream, model):
        tools: Any = [{"name": "roll", "description": "dice", "input_schema": {"type": "object", "properties": {}}}]
        upstream.then(says(REPLY, thoughts=("Hm, ", "a gate.")), calls("roll", '{"sides": 20}', "Let me see."))
        found = []
        for words in ("I knock at the gate.", "I roll the dice."):
            asked: dict[str, Any] = {"model": model, "max_tokens": 300, "messages": said(words), "tools": tools}
            if stream:
                async with sdk.messages.stream(**asked) as events:
                    found.append(await events.get_final_message())
            else:
                found.append(await sdk.messages.create(**asked))
        *thoughts, spoken = found[0].content
        assert (spoken.type, {thought.type for thought in thoughts}) == ("text", {"thinking"})
        assert "".join(thought.thinking for thought in thoughts) == "Hm, a gate."  # type: ignore[union-attr]
        text, used = found[1].content
        assert (text.text.strip(), used.name, used.input) == ("Let me see.", "roll", {"sides": 20})  # type: ignore[union-attr]
        assert found[1].stop_reason == "tool_use"
        result: Any = [
            *said("I roll the dice."),
            {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in found[1].content]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": used.id, "content": "17"}]},  # type: ignore[union-attr]
        ]
        await sdk.messages.create(model=model, max_tokens=300, messages=result, tools=tools)
        assert upstream.refusals == []
        assert "17" in json.dumps(upstream.requests[-1].body["messages"])


@pytest.mark.parametrize("stream", [False, True])
async def test_signed_thoughts_before_a_call_come_back_as_they_were(stream: bool) -> None:
    """Without them Anthropic refuses to go on thinking behind the result."""
    async with staged("anthropic") as (sdk, _, upstream, model):
        tools: Any = [{"name": "roll", "input_schema": {"type": "object", "properties": {}}}]

        async def thinks_and_calls(wire: Any) -> Any:
            await wire.think("A die, then.")
            await wire.call("roll", "{}")
            return await wire.end("tool")

        upstream.then(thinks_and_calls)
        asked: dict[str, Any] = {"model": model, "max_tokens": 3_000, "tools": tools}
        if stream:
            async with sdk.messages.stream(messages=said("I roll the dice."), **asked) as events:
                called = await events.get_final_message()
        else:
            called = await sdk.messages.create(messages=said("I roll the dice."), **asked)
        kept = [block.model_dump(exclude_none=True) for block in called.content]
        thought = {"type": "thinking", "thinking": "A die, then.", "signature": "c2ln"}
        assert kept[0] == thought
        assert [block["type"] for block in kept] == ["thinking", "tool_use"]
        result = {"type": "tool_result", "tool_use_id": kept[1]["id"], "content": "17"}
        answered: Any = [{"role": "assistant", "content": kept}, {"role": "user", "content": [result]}]
        await sdk.messages.create(messages=[*said("I roll the dice."), *answered], **asked)
        assert upstream.refusals == []
        sent = upstream.requests[-1].body["messages"]
        assert sent[-2]["content"][0] == thought


async def test_pictures_pass() -> None:
    async with staged("anthropic") as (sdk, _, upstream, model):
        source: Any = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
        content: Any = [{"type": "image", "source": source}, {"type": "text", "text": "I show you this."}]
        await sdk.messages.create(model=model, max_tokens=300, messages=[{"role": "user", "content": content}])
        blocks = upstream.requests[-1].body["messages"][-1]["content"]
        assert {"type": "image", "source": source} in blocks


@pytest.mark.parametrize("case", ["anthropic", "openai", "local"])
async def test_a_picture_that_a_tool_gave_passes_or_is_told_of(case: str) -> None:
    async with staged(case) as (sdk, _, upstream, model):
        source: Any = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
        shown = [{"type": "text", "text": "the map"}, {"type": "image", "source": source}]
        given: Any = [
            {"role": "user", "content": "Show me the map."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "map", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": shown}]},
        ]
        raw = await sdk.messages.with_raw_response.create(model=model, max_tokens=300, messages=given)
        assert upstream.refusals == []
        assert ("picture" in raw.headers.get("x-saga-notice", "")) is (case == "openai")
        sent = json.dumps(upstream.requests[-1].body, ensure_ascii=False)
        assert "the map" in sent
        assert ("aGVsbG8=" in sent) is (case != "openai")
        if case == "anthropic":
            results = [block for message in upstream.requests[-1].body["messages"] for block in message["content"]
                       if isinstance(block, dict) and block["type"] == "tool_result"]  # fmt: skip
            assert results[0]["content"] == shown
        # The history is cut behind the call: what the tool gave is the user's own then.
        cut: Any = [given[0], {"role": "assistant", "content": "Well."}, given[2]]
        await sdk.messages.create(model=model, max_tokens=300, messages=cut)
        assert upstream.refusals == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"messages": []}, "missing or empty"),
        ({"messages": [{"role": "owner", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "document"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "web_search"}]}, "tools[0]"),
    ],
)
async def test_bad_requests_are_told_in_the_shape_of_the_api(body: dict[str, Any], words: str) -> None:
    async with Client.of({}, {}) as saga:
        answer = await saga.post("/v1/messages", json={"max_tokens": 5, "model": "claude", **body})
        assert answer.status == 400
        assert (answer.json["type"], answer.json["error"]["type"]) == ("error", "invalid_request_error")
        assert words in answer.json["error"]["message"]


async def test_failures_reach_the_sdk() -> None:
    async with staged("anthropic") as (sdk, _, upstream, model):
        upstream.then(fails(429, "slow down", kind="rate_limit_error"), errors("The rain "))
        asked: dict[str, Any] = {"model": model, "max_tokens": 300, "messages": said("I wait for the rain to end.")}
        with pytest.raises(anthropic.RateLimitError, match="slow down"):
            await sdk.messages.create(**asked)
        with pytest.raises(anthropic.APIStatusError):
            async with sdk.messages.stream(**asked) as events:
                await events.get_final_message()


async def test_a_key_of_its_own_header_is_the_key() -> None:
    async with Client.of({"server": {"api_keys": ["open-sesame-1"]}}, {}) as saga:
        body = {"model": "claude", "max_tokens": 50, "messages": said("I knock.")}
        assert (await saga.post("/v1/messages", json=body)).status == 401
        told = await saga.post("/v1/messages", json=body, headers={"X-Api-Key": "open-sesame-1"})
        assert told.status == 200
        same = await saga.post("/s/x/v1/messages", json=body, headers={"X-Api-Key": "open-sesame-1"})
        other = await saga.post("/s/x/v1/messages", json=body, headers={"Authorization": "Bearer open-sesame-1"})
        assert same.session == other.session


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=f"the recordings of a real client are not at {RECORDINGS}")
async def test_a_recorded_client_plays() -> None:
    """SillyTavern's Claude source: the card stands in the first user message, nudges are the user's."""
    operations = json.loads((RECORDINGS / "claude.json").read_text("utf-8"))["operations"]
    asked = {operation["op"]: operation["requests"][-1]["body"] for operation in operations if operation["requests"]}

    def reply_to(op: str, later: str) -> str:
        """What a later request shows below what ``op`` sent."""
        text = asked[later]["messages"][len(asked[op]["messages"])]["content"][0]["text"]
        assert isinstance(text, str)
        return text

    shown = {op: reply_to(op, later) for op, later in (("turn", "turn2"), ("swipe", "continue"), ("stream", "stop"))}
    shown["edit"] = reply_to("edit", "impersonate")
    begun = reply_to("stop", "turn_after_stop")
    async with provider_server("anthropic") as upstream:
        settings = {"providers": {"anthropic": settings_for("anthropic", upstream)}}
        async with Client.of(settings, {}) as saga:
            found: dict[str, Any] = {}
            for op, body in asked.items():
                if op == "stop":
                    upstream.then(hangs(begun))
                    async with saga.request("POST", "/v1/messages", json=body) as response:
                        await response.content.readuntil(b"text_delta")
                        await response.content.readuntil(b"\n\n")
                    async with asyncio.timeout(5):
                        await upstream.gone.wait()
                    continue
                upstream.then(says(shown.get(op, f"Nothing that would be said twice, for {op}."), "\n\n" + BLOCK))
                found[op] = await saga.post("/v1/messages", json=body)
                assert found[op].status == 200, found[op].raw
                assert b"```" not in found[op].raw
            assert upstream.refusals == []
            parents = {op: answer.headers["X-SAGA-Parent"] for op, answer in found.items()}
            assert parents["turn2"] == parents["swipe"] == found["turn"].turn
            assert parents["continue"] == found["swipe"].turn
            assert parents["stream"] == found["edit"].turn
            sessions = {found[op].session for op in ("turn", "turn2", "swipe", "edit", "stream", "turn_after_stop")}
            assert len(sessions) == 1
