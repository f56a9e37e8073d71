"""Every dialect end to end: the official SDK, SAGA, the provider's official SDK inside it, a strict provider."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest

from tests.fake_providers.server import Step
from tests.fake_providers.steps import (
    calls,
    errors,
    fails,
    hangs,
    page,
    raw,
    resets,
    says,
    truncates,
    waits,
)
from tests.server.client import BLOCK, CHAT, words
from tests.wire.dialects import DIALECTS, KEY, OLDER, Stage

SAMPLED = {
    "temperature": 0.9,
    "top_p": 0.95,
    "presence_penalty": 0.2,
    "frequency_penalty": 0.1,
    "max_tokens": 300,
    "stop": ["\n나:"],
}
EXOTIC = {"min_p": 0.05, "top_k": 40, "repetition_penalty": 1.1, "dry_multiplier": 0.8}


@pytest.fixture(params=DIALECTS)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    async with Stage.of(request.param) as found:
        yield found


@pytest.fixture(params=[True, False], ids=["stream", "whole"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("case", [*DIALECTS, *OLDER])
async def test_a_reply(case: str, stream: bool) -> None:
    async with Stage.of(case) as stage:
        await _reply(stage, stream)


async def _reply(stage: Stage, stream: bool) -> None:
    stage.upstream.then(says("비가 ", "그친다. ", "The rain stops.\n\n" + BLOCK[:20], BLOCK[20:]))
    text = await stage.say(words("나는 문을 연다."), stream=stream, **SAMPLED, extra_body=EXOTIC)
    assert text.rstrip() == "비가 그친다. The rain stops."
    assert stage.upstream.refusals == []
    (request,) = stage.upstream.requests
    assert KEY in (request.headers.get("Authorization") or request.headers.get("x-goog-api-key") or "")
    assert "나는 문을 연다." in request.text


async def test_a_chat_of_three_turns_is_one_session(stage: Stage, stream: bool) -> None:
    said = ["안녕"]
    for number in range(3):
        stage.upstream.then(says(f"답 {number}. ", "그는 오래도록 말없이 강을 바라본다. " * 3, BLOCK))
        said += [await stage.say(words(*said), stream=stream), f"다음 {number}"]
    assert stage.upstream.refusals == []
    sessions = (await stage.saga.get("/api/sessions")).json["sessions"]
    assert len(await stage.saga.turns(sessions[0]["id"])) == 3


async def test_what_a_frontend_really_sends(stage: Stage, stream: bool) -> None:
    """A greeting first, notes in between, names, a note at the end."""
    messages = [
        {"role": "system", "content": "You are the narrator."},
        {"role": "system", "content": "", "name": "example_user"},
        {"role": "assistant", "content": "어서 와, 여행자."},
        {"role": "user", "content": "안녕", "name": "아리아"},
        {"role": "system", "content": "[Note: it is night.]"},
        {"role": "assistant", "content": "밤이 깊었군."},
        {"role": "user", "content": [{"type": "text", "text": "문을 연다."}]},
        {"role": "system", "content": "[Write one paragraph.]"},
    ]
    await stage.say(messages, stream=stream)
    assert stage.upstream.refusals == []
    assert "[Note: it is night.]" in stage.upstream.requests[0].text


async def test_a_prefill(stage: Stage, stream: bool) -> None:
    if stage.dialect == "any":
        stage.upstream.then(fails(400, "This model does not support assistant message prefill."))
    stage.upstream.then(says("웃으며 말했다."), says("웃으며 말했다."))
    messages = [*words("문을 연다."), {"role": "assistant", "content": "그녀가 "}]
    assert await stage.say(messages, stream=stream) == "웃으며 말했다."
    assert stage.upstream.refusals == []


async def test_the_bill_is_asked_for_and_told_only_to_who_asks(stage: Stage) -> None:
    ask: Any = stage.sdk.chat.completions.create
    for options, bills in ((None, 0), ({"include_usage": True}, 1)):
        chunks = [
            chunk
            async for chunk in await ask(
                model=stage.model, messages=words("안녕"), stream=True, stream_options=options or openai.omit
            )
        ]
        usages = [chunk.usage for chunk in chunks if chunk.usage is not None]
        assert len(usages) == bills
    assert (usages[0].prompt_tokens, usages[0].prompt_tokens_details.cached_tokens) == (100, 64)
    assert await stage.saga.metric('saga_upstream_tokens_total{kind="cache_read",purpose="narration"}') == 128
    written = 0 if stage.dialect == "google" else 12  # Gemini's API tells nothing of it
    assert await stage.saga.metric('saga_upstream_tokens_total{kind="cache_write",purpose="narration"}') == written
    whole = await ask(model=stage.model, messages=words("안녕"))
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (100, 20)


async def test_a_tool(stage: Stage, stream: bool) -> None:
    stage.upstream.then(calls("roll", '{"dice": 2}', "그럼. "))
    tool = {"type": "function", "function": {"name": "roll", "parameters": {"type": "object", "properties": {}}}}
    ask: Any = stage.sdk.chat.completions.create
    answer = await ask(model=stage.model, messages=words("굴려"), tools=[tool], stream=stream)
    if stream:
        deltas = [call async for chunk in answer for choice in chunk.choices for call in choice.delta.tool_calls or ()]
        found = deltas[0].function.name, "".join(call.function.arguments or "" for call in deltas)
    else:
        (call,) = answer.choices[0].message.tool_calls
        found = call.function.name, call.function.arguments
    assert found == ("roll", '{"dice": 2}')


async def test_thoughts(stage: Stage, stream: bool) -> None:
    stage.upstream.then(says("말.", thoughts=("음… ", "그래.")))
    reply = await stage.saga.chat(words("안녕"), model=stage.model, stream=stream)
    if stream:
        deltas = [choice["delta"] for event in reply.events if isinstance(event, dict) for choice in event["choices"]]
        thought = "".join(delta.get("reasoning_content", "") for delta in deltas)
    else:
        thought = reply.json["choices"][0]["message"]["reasoning_content"]
    assert thought == "음… 그래."


async def test_why_it_ended(stage: Stage, stream: bool) -> None:
    for finish, told in (("length", "length"), ("filtered", "content_filter")):
        await _ended(stage, stream, finish, told)


async def _ended(stage: Stage, stream: bool, finish: str, told: str) -> None:
    stage.upstream.then(says("말", finish=finish))
    reply = await stage.saga.chat(words("안녕"), model=stage.model, stream=stream)
    if stream:
        finishes = [choice["finish_reason"] for event in reply.events[:-1] for choice in event["choices"]]
        assert [reason for reason in finishes if reason] == [told]
    else:
        assert reply.json["choices"][0]["finish_reason"] == told


FAULTS: dict[str, tuple[Step, int]] = {
    "400": (fails(400, "messages: too long"), 400),
    "401": (fails(401, "bad key"), 401),
    "404": (fails(404, "no such model"), 404),
    "429": (fails(429, "slow down", retry_after="7"), 429),
    "500": (fails(500), 502),
    "503": (fails(503), 503),
    "529": (fails(529, "Overloaded"), 503),
    "page-502": (page(502), 502),
    "page-200": (page(200), 502),
    "reset": (resets(), 502),
    "empty": (raw(b"", "application/json"), 502),
    "null": (raw(b"null", "application/json"), 502),
    "nothing-in-it": (raw(b'{"choices": null, "content": null}', "application/json"), 502),
    "no-json": (raw(b"data: {\n\n"), 502),
    "error-first": (raw(b'data: {"error": {"message": "x"}}\n\n'), 502),
    "empty-stream": (raw(b""), 502),
}


async def test_faults_before_the_first_byte(stage: Stage, stream: bool) -> None:
    """Each becomes an error of the OpenAI API, with the status that fits, and no turn."""
    for name, (step, status) in FAULTS.items():
        stage.upstream.then(step)
        with pytest.raises(openai.APIStatusError) as caught:
            await stage.say(words("안녕"), stream=stream)
        assert caught.value.status_code == status, name
        error: Any = caught.value.body
        assert set(error) == {"message", "type", "param", "code"}, name
        assert KEY not in str(error), name
        assert caught.value.response.headers.get("Retry-After") == ("7" if name == "429" else None)
    assert await _turns(stage) == []


async def _turns(stage: Stage) -> list[dict[str, Any]]:
    sessions = (await stage.saga.get("/api/sessions")).json["sessions"]
    return [turn for session in sessions for turn in await stage.saga.turns(session["id"])]


@pytest.mark.parametrize("step", [resets, truncates, errors])
async def test_a_fault_in_mid_stream_is_seen(stage: Stage, step: Any) -> None:
    stage.upstream.then(step("옛날 ", "옛적에 "))
    ask: Any = stage.sdk.chat.completions.create
    text = ""
    with pytest.raises(openai.APIError) as caught:
        async for chunk in await ask(model=stage.model, messages=words("안녕"), stream=True):
            text += chunk.choices[0].delta.content or ""
    assert text == "옛날 옛적에 "
    assert "127.0.0.1" in caught.value.message
    (turn,) = await _turns(stage)
    assert (turn["reply"].strip(), turn["finish"]) == ("옛날 옛적에", "aborted")


async def test_silence(stream: bool) -> None:
    for case in ("anthropic", "openai", "google"):
        async with Stage.of(case, timeout=0.1) as stage:
            stage.upstream.otherwise = hangs()
            with pytest.raises(openai.APIStatusError) as caught:
                await stage.say(words("안녕"), stream=stream)
            assert caught.value.status_code == 504


async def test_a_client_that_goes_away_ends_the_call(stage: Stage) -> None:
    stage.upstream.then(hangs("옛날 옛적에 "))
    async with stage.saga.request(
        "POST", CHAT, json={"model": stage.model, "messages": words("안녕"), "stream": True}
    ) as answer:
        await answer.content.readany()
    async with asyncio.timeout(5):
        await stage.upstream.gone.wait()


@pytest.mark.parametrize("case", ["anthropic", "openai", "google", "local"])
class TestBeforeTheFirstByte:
    async def test_it_is_tried_again(self, case: str, stream: bool) -> None:
        async with Stage.of(case, max_retries=3) as stage:
            again = {"retry_after_ms": "1"}
            stage.upstream.then(fails(529, **again), fails(429, **again), fails(500, **again), says("그래."))
            assert await stage.say(words("안녕"), stream=stream) == "그래."

    async def test_an_overload_told_inside_a_stream_is_tried_again(self, case: str) -> None:
        async with Stage.of(case, max_retries=1, retry_seconds=30) as stage:
            stage.upstream.then(errors(), says("그래."))
            assert await stage.say(words("안녕"), stream=True) == "그래."

    async def test_another_model_narrates(self, case: str, stream: bool) -> None:
        async with (
            Stage.of("local") as other,
            Stage.of(case) as stage,
        ):
            tree = {
                "providers": {
                    "up": {"base_url": stage.upstream.url, "api_key": KEY, "dialect": stage.dialect, "max_retries": 0},
                    "spare": {"base_url": other.upstream.url, "api_key": KEY},
                },
                "models": {"fallback": ["spare/second"]},
            }
            async with type(stage.saga).of(tree, {}) as saga:
                stage.upstream.then(fails(529), errors() if stream else fails(500), fails(400, "too long"))
                for _ in range(2):
                    reply = await saga.chat(words("안녕"), model=f"up/{stage.model}", stream=stream)
                    assert (reply.streamed() if stream else reply.text) == "The rain stops."
                    assert "second narrates instead of" in reply.headers["X-SAGA-Notice"]
                assert (await saga.chat(words("안녕"), model=f"up/{stage.model}")).status == 400
                assert [request.body["model"] for request in other.upstream.requests] == ["second", "second"]
                assert await saga.metric("saga_upstream_fallbacks_total") == 2
                turns = await saga.turns(reply.session)
                assert {turn["model"] for turn in turns} == {"second"}


async def test_nothing_else_narrates_once_a_reply_began() -> None:
    async with Stage.of("local", sections={"models": {"fallback": ["up/second"]}}) as stage:
        stage.upstream.then(errors("옛날 "))
        reply = await stage.saga.chat(words("안녕"), model=stage.model, stream=True)
        assert reply.streamed() == "옛날 "
        assert "error" in reply.events[-2]
        assert len(stage.upstream.requests) == 1


@pytest.mark.parametrize("case", ["anthropic", "google", "local"])
async def test_a_slow_model_is_waited_for(case: str) -> None:
    gate = asyncio.Event()
    async with Stage.of(case, sections={"server": {"keep_alive": 0.02}}) as stage:
        stage.upstream.then(waits(gate, says("드디어."), pings=2))
        body = {"model": stage.model, "messages": words("안녕"), "stream": True}
        async with stage.saga.request("POST", CHAT, json=body) as answer:
            begun = await answer.content.readline()
            assert (answer.status, begun) == (200, b": waiting\n")
            gate.set()
            assert "드디어." in (await answer.read()).decode()
        gate.clear()
        stage.upstream.then(waits(gate, fails(500) if case == "local" else errors()))
        async with stage.saga.request("POST", CHAT, json=body) as answer:
            assert await answer.content.readline() == b": waiting\n"
            gate.set()
            rest = (await answer.read()).decode()
        assert '"error"' in rest
        assert rest.endswith("data: [DONE]\n\n")


async def test_what_was_left_out_is_counted_and_told() -> None:
    async with Stage.of("anthropic") as stage:
        reply = await stage.saga.chat(words("안녕"), model=stage.model, temperature=0.5, min_p=0.1, weird=1)
        assert reply.status == 200
        assert "temperature is left out" in reply.headers["X-SAGA-Notice"]
        for name in ("temperature", "min_p", "other"):
            assert await stage.saga.metric(f'saga_upstream_adjusted_total{{name="{name}"}}') == 1


@pytest.mark.parametrize("case", ["openai", "openrouter", "google", "anthropic"])
async def test_a_turn_of_gibberish_is_still_a_turn(case: str, stream: bool) -> None:
    """Half characters, wrong types, unknown events: nothing that upstream says breaks the turn."""
    if case == "anthropic":
        events: list[str] = [
            '{"type":"message_start","message":null}',
            '{"type":"content_block_delta","delta":3}',
            '{"type":"content_block_delta","delta":{"type":"text_delta","text":"a\\ud800b"}}',
            '{"type":"content_block_delta","delta":{"type":"text_delta","text":null}}',
            '{"type":"unheard_of"}',
            '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":"many"}}',
            '{"type":"message_stop"}',
        ]
    elif case == "google":
        events = [
            '{"candidates":null}',
            '{"candidates":[null,3],"usageMetadata":7}',
            '{"candidates":[{"content":{"parts":[3,{"text":5},{"functionCall":"no"},{"text":"a"}]}}]}',
            '{"candidates":[{"content":{"parts":[{"text":"\\ud800b"}]}}],"usageMetadata":{"promptTokenCount":"x"}}',
            '{"candidates":[{"content":[],"finishReason":7}],"promptFeedback":[]}',
            '{"candidates":[{"finishReason":"STOP"}],"unheard":"of"}',
        ]
    else:
        events = [
            '{"choices":null}',
            '{"choices":[null,3,{"delta":null}]}',
            '{"choices":[{"index":-1,"delta":{"content":"a"}}]}',
            '{"choices":[{"index":0,"delta":{"content":"\\ud800b","tool_calls":7}}],"usage":[]}',
            '{"choices":[{"index":99,"delta":{"content":"z"}}],"usage":{"prompt_tokens":"x"}}',
            '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
            "[DONE]",
        ]
    async with Stage.of(case) as stage:
        stage.upstream.then(raw("".join(f"data: {event}\n\n" for event in events).encode()))
        reply = await stage.saga.chat(words("안녕"), model=stage.model, stream=stream)
        assert reply.status == 200
        (turn,) = await _turns(stage)
        assert turn["reply"].startswith("a")
        assert turn["finish"] == "stop"
