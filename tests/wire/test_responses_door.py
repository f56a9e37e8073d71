"""OpenAI's Responses API as a door: the official SDK, SAGA, and providers of two wires behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest

from tests.fake_providers.server import ProtocolServer
from tests.fake_providers.steps import calls, errors, fails, says
from tests.server.client import BLOCK, Client
from tests.wire.dialects import DIALECTS, provider_server, settings_for

REPLY = "She lifts the lamp to your face and waits for a name."
TOOLS: Any = [{"type": "function", "name": "roll", "description": "dice", "parameters": {"type": "object"}}]


@asynccontextmanager
async def staged(case: str) -> AsyncIterator[tuple[openai.AsyncOpenAI, Client, ProtocolServer, str]]:
    dialect, model = DIALECTS[case]
    async with (
        provider_server(dialect) as upstream,
        Client.of({"providers": {"up": settings_for(dialect, upstream)}}, {}) as saga,
        openai.AsyncOpenAI(base_url=f"{saga.server.url}/v1", api_key="mine", max_retries=0, timeout=20.0) as sdk,
    ):
        yield sdk, saga, upstream, model


async def told(sdk: openai.AsyncOpenAI, stream: bool, **asked: Any) -> tuple[Any, str]:
    """The response as the SDK puts it together, and the session."""
    if not stream:
        raw = await sdk.responses.with_raw_response.create(**asked)
        return raw.parse(), raw.headers["X-SAGA-Session"]
    numbers: list[int] = []
    text = ""
    async with sdk.responses.stream(**asked) as events:
        async for event in events:
            numbers.append(event.sequence_number)
            if event.type == "response.output_text.delta":
                text += event.delta
            if event.type in ("response.completed", "response.incomplete"):
                whole = event.response
        assert numbers == list(range(len(numbers)))
        assert whole.output_text == text
        return whole, events._response.headers["X-SAGA-Session"]


@pytest.mark.parametrize(("case", "stream"), [("openai", True), ("local", False), ("anthropic", True)])
async def test_a_chat_is_one_session(case: str, stream: bool) -> None:
    async with staged(case) as (sdk, saga, upstream, model):
        upstream.then(says(REPLY[:20], REPLY[20:], "\n\n" + BLOCK), says("It is cold.", finish="length"))
        asked = {"model": model, "instructions": "Ysolde keeps the gate.", "max_output_tokens": 300}
        first, session = await told(sdk, stream, input="I came by the river road.", **asked)
        assert (first.status, first.output_text.strip()) == ("completed", REPLY)
        assert (first.usage.output_tokens, first.instructions) == (20, "Ysolde keeps the gate.")
        more: Any = [
            {"role": "user", "content": "I came by the river road."},
            *(item.model_dump(exclude_none=True) for item in first.output),
            {"role": "user", "content": [{"type": "input_text", "text": "I show the brass key."}]},
        ]
        second, _ = await told(sdk, stream, input=more, **asked)
        assert (second.status, second.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        assert upstream.refusals == []
        path = await saga.turns(session)
        assert [turn["user"] for turn in path] == ["I came by the river road.", "I show the brass key."]
        assert (await saga.get(f"/api/sessions/{session}/state")).json["location"] == "어둠의 숲"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_turn_with_thoughts_and_tools(stream: bool) -> None:
    async with staged("local") as (sdk, saga, upstream, model):
        upstream.then(
            calls("roll", '{"sides": 20}', "Let me see."), says(REPLY, "\n\n" + BLOCK, thoughts=("Hm, ", "17."))
        )
        asked = {"model": model, "tools": TOOLS}
        words: list[Any] = [{"role": "user", "content": "I roll the dice."}]
        first, _ = await told(sdk, stream, input=words, **asked)
        message, call = first.output
        assert (message.content[0].text, call.name, call.arguments) == ("Let me see.", "roll", '{"sides": 20}')
        words += [item.model_dump(exclude_none=True) for item in first.output]
        words.append({"type": "function_call_output", "call_id": call.call_id, "output": "17"})
        second, session = await told(sdk, stream, input=words, **asked)
        thought, reply = second.output
        assert (thought.summary[0].text, reply.content[0].text.strip()) == ("Hm, 17.", REPLY)
        sent = upstream.requests[-1].body["messages"]
        assert (sent[-1]["role"], sent[-1]["content"]) == ("tool", "17")
        assert sent[-1]["tool_call_id"] == sent[-2]["tool_calls"][0]["id"]
        assert upstream.refusals == []
        (turn,) = await saga.turns(session)
        assert (turn["user"], turn["reply"]) == ("I roll the dice.", REPLY)


async def test_pictures_and_forms_pass() -> None:
    async with staged("local") as (sdk, _, upstream, model):
        image = {"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8=", "detail": "low"}
        words: Any = [{"role": "user", "content": [image, {"type": "input_text", "text": "I show you this."}]}]
        schema: Any = {"format": {"type": "json_schema", "name": "mood", "schema": {"type": "object"}}}
        await sdk.responses.create(model=model, input=words, text=schema, reasoning={"effort": "low"})
        sent = upstream.requests[-1].body
        assert sent["messages"][-1]["content"][0]["image_url"]["detail"] == "low"
        assert sent["response_format"]["json_schema"] == {"name": "mood", "schema": {"type": "object"}}
        assert sent["reasoning_effort"] == "low"


BAD: list[tuple[Any, ...]] = [
    ({}, "input: missing"),
    ({"input": []}, "input: missing"),
    ({"input": "x", "previous_response_id": "resp_1"}, "keeps no responses"),
    ({"input": "x", "background": True}, "background"),
    ({"input": [{"role": "owner", "content": "x"}]}, "input[0].role"),
    ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "input[0].content[0]"),
    ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].type"),
    ({"input": "x", "tools": [{"type": "web_search"}]}, "tools[0]"),
]


async def test_bad_requests_name_the_field() -> None:
    async with Client.of({}, {}) as saga:
        for body, words in BAD:
            answer = await saga.post("/v1/responses", json={"model": "x", **body})
            assert (answer.status, answer.error["type"]) == (400, "invalid_request_error")
            assert words in answer.error["message"]


async def test_failures_reach_the_sdk() -> None:
    async with staged("openai") as (sdk, _, upstream, model):
        upstream.then(fails(429, "slow down"), errors("The rain "))
        with pytest.raises(openai.RateLimitError, match="slow down"):
            await sdk.responses.create(model=model, input="I wait for the rain to end.")
        events = await sdk.responses.create(model=model, input="I wait for the rain to end.", stream=True)
        last = [event async for event in events][-1]
        assert last.type == "response.failed"
        assert last.response.error is not None
        assert "Overloaded" in last.response.error.message
