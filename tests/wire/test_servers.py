"""The strict servers speak as the official SDKs expect, typed layer and all, and refuse what the APIs refuse."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest

from tests.fake_providers.anthropic import AnthropicMessages
from tests.fake_providers.openai import Dialect, OpenAIChatServer
from tests.fake_providers.steps import calls, errors, fails, says
from tests.wire.dialects import KEY

HELLO: list[Any] = [{"role": "user", "content": "안녕"}]


def claude(server: AnthropicMessages) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=server.url, api_key=KEY, max_retries=0)


def gpt(server: OpenAIChatServer) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=server.url, api_key=KEY, max_retries=0)


class TestAnthropic:
    async def test_a_message(self) -> None:
        async with AnthropicMessages(key=KEY) as server, claude(server) as sdk:
            server.then(says("비가 ", "그친다.", thoughts=("음",)))
            message = await sdk.messages.create(model="claude-sonnet-5-5", max_tokens=9, messages=HELLO)
            assert [block.type for block in message.content] == ["thinking", "text"]
            assert (message.stop_reason, message.usage.cache_read_input_tokens) == ("end_turn", 64)
            assert [model.id async for model in sdk.models.list()] == ["claude-sonnet-5-5", "claude-haiku-5-5"]

    async def test_a_stream(self) -> None:
        async with AnthropicMessages(key=KEY) as server, claude(server) as sdk:
            server.then(calls("roll", '{"dice": 2}', "비가 ", "그친다."))
            async with sdk.messages.stream(model="claude-sonnet-5-5", max_tokens=9, messages=HELLO) as stream:
                assert [text async for text in stream.text_stream] == ["비가 ", "그친다."]
                message = await stream.get_final_message()
            assert [block.type for block in message.content] == ["text", "tool_use"]
            assert getattr(message.content[1], "input", None) == {"dice": 2}
            assert (message.stop_reason, message.usage.output_tokens) == ("tool_use", 20)

    async def test_errors(self) -> None:
        async with AnthropicMessages(key=KEY) as server, claude(server) as sdk:
            server.then(fails(529), errors("a"))
            with pytest.raises(anthropic.APIStatusError) as caught:
                await sdk.messages.create(model="claude-sonnet-5-5", max_tokens=9, messages=HELLO)
            assert (caught.value.status_code, caught.value.type) == (529, "overloaded_error")
            with pytest.raises(anthropic.APIStatusError):
                async with sdk.messages.stream(model="claude-sonnet-5-5", max_tokens=9, messages=HELLO) as stream:
                    assert "".join([text async for text in stream.text_stream]) == "a"

    @pytest.mark.parametrize(
        ("body", "problem"),
        [
            ({"max_tokens": None}, "max_tokens: Field required"),
            ({"temperature": 1.0}, "temperature: Extra inputs are not permitted"),
            ({"n": 2}, "n: Extra inputs are not permitted"),
            ({"messages": []}, "at least one message"),
            ({"messages": [{"role": "assistant", "content": "a"}]}, 'must use the "user" role'),
            ({"messages": [{"role": "system", "content": "a"}]}, "use the top-level 'system' parameter"),
            (
                {"messages": [*HELLO, {"role": "assistant", "content": "a"}]},
                "does not support assistant message prefill",
            ),
            ({"messages": [{"role": "user", "content": ""}]}, "must be non-empty"),
            ({"messages": [{"role": "user", "content": " "}]}, "non-whitespace text"),
            ({"messages": [{"role": "user", "content": "a", "name": "b"}]}, "messages.0: Extra inputs"),
            ({"messages": [*HELLO, {"role": "system", "content": "a"}, *HELLO]}, "a system message must follow"),
            ({"system": [{"type": "text", "text": "a", "x": 1}]}, "system.0.text.x: Extra inputs"),
            ({"thinking": {"type": "disabled"}}, '"thinking.type.disabled" is not supported'),
            ({"stop_sequences": [" "]}, "non-whitespace"),
        ],
    )
    async def test_what_is_refused(self, body: dict[str, Any], problem: str) -> None:
        whole = {"model": "claude-sonnet-5-5", "max_tokens": 9, "messages": HELLO, **body}
        async with AnthropicMessages() as server, claude(server) as sdk:
            with pytest.raises(anthropic.BadRequestError, match=problem):
                await sdk.post("/v1/messages", cast_to=object, body=whole)

    async def test_breakpoints(self) -> None:
        def marked(*marks: dict[str, str]) -> list[Any]:
            return [
                {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": mark} for mark in marks]}
            ]

        five, hour = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
        async with AnthropicMessages() as server, claude(server) as sdk:
            await sdk.messages.create(model="claude-opus-5", max_tokens=9, messages=marked(hour, hour, five, five))
            for wrong, problem in ((marked(*[five] * 5), "maximum of 4"), (marked(five, hour), "must not come after")):
                with pytest.raises(anthropic.BadRequestError, match=problem):
                    await sdk.messages.create(model="claude-opus-5", max_tokens=9, messages=wrong)


class TestOpenAI:
    async def test_a_completion(self) -> None:
        async with OpenAIChatServer(key=KEY) as server, gpt(server) as sdk:
            server.then(calls("roll", "{}", "비가"))
            answer = await sdk.chat.completions.create(model="gpt-4.1", messages=HELLO)
            assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("비가", "tool_calls")
            assert answer.usage is not None
            assert (answer.usage.prompt_tokens, answer.usage.total_tokens) == (100, 120)
            assert [model.id async for model in sdk.models.list()] == ["narrator-1", "narrator-2"]

    async def test_a_stream(self) -> None:
        async with OpenAIChatServer(key=KEY) as server, gpt(server) as sdk:
            stream = await sdk.chat.completions.create(
                model="gpt-4.1", messages=HELLO, stream=True, stream_options={"include_usage": True}
            )
            chunks = [chunk async for chunk in stream]
            assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == "The rain stops."
            assert chunks[-1].usage is not None

    @pytest.mark.parametrize(
        ("dialect", "model", "body", "problem"),
        [
            ("openai", "gpt-4.1", {"min_p": 0.1}, "Unrecognized request arguments supplied: min_p"),
            ("openai", "gpt-5.6", {"max_tokens": 9}, "Use 'max_completion_tokens' instead"),
            ("openai", "gpt-5.6", {"temperature": 0.5}, "'temperature' does not support 0.5"),
            ("openai", "gpt-4.1", {"stream_options": {}}, "only allowed when 'stream'"),
            ("openai", "gpt-4.1", {"messages": [{"role": "user", "content": "a", "x": 1}]}, "Unknown parameter"),
            ("google", "gemini", {"seed": 1}, 'Unknown name "seed"'),
            ("google", "gemini", {"messages": [{"role": "user", "content": ""}]}, "at least one parts field"),
            ("local", "m", {"messages": []}, "messages must not be empty"),
        ],
    )
    async def test_what_is_refused(self, dialect: Dialect, model: str, body: dict[str, Any], problem: str) -> None:
        whole = {"model": model, "messages": HELLO, **body}
        async with OpenAIChatServer(dialect=dialect) as server, gpt(server) as sdk:
            with pytest.raises(openai.BadRequestError) as caught:
                await sdk.post("/chat/completions", cast_to=object, body=whole)
            assert problem in caught.value.response.text.encode().decode("unicode_escape").replace('\\"', '"')

    async def test_breakpoints(self) -> None:
        part = {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
        good: Any = [{"role": "system", "content": [part]}, {"role": "user", "content": "b"}]
        bad: Any = [{"role": "user", "content": "b"}, {"role": "assistant", "content": [part]}]
        async with OpenAIChatServer() as server, gpt(server) as sdk:
            await sdk.chat.completions.create(model="gpt-5.6", messages=good)
            with pytest.raises(openai.BadRequestError, match="assistant content cannot carry"):
                await sdk.chat.completions.create(model="gpt-5.6", messages=bad)
