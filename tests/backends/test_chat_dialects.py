"""What the OpenAI backend sends in each dialect, what it learns from refusals, and what no chunk can do to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, get_args

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.chat.anthropic import MessagePieces
from saga_backends.chat.dialect import Pieces
from saga_backends.chat.gemini import GeminiPieces
from saga_backends.chat.lessons import lesson_of, neutral
from saga_backends.chat.openai import BACKEND, ChatPieces, OpenAIClient, dialect_at
from saga_backends.chat.reply import ModelReply
from saga_backends.chat.text_completion import TextPieces
from saga_backends.provider_error import Blame
from saga_core.errors import UpstreamError
from saga_core.language import Unrepeated
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import AdjustedPart, ChatPart, ChatRequest, TextPart, TextWire
from saga_core.registry import OpenOptions
from saga_core.upstream.parameters import ParameterRules
from tests.fake_providers.openai import Dialect, OpenAIChatServer
from tests.fake_providers.server import Wire
from tests.fake_providers.steps import fails, says

PLAN = PromptPlan(
    (
        Block("system", "Narrate.", Origin.CLIENT, breakpoint="30m"),
        Block("assistant", "어서 와.", Origin.HISTORY, {"reasoning": "x"}, breakpoint="1h"),
        Block("user", "나는 문을 연다.", Origin.WORDS, {"name": "aria"}, lead="문맥"),
    )
)


@asynccontextmanager
async def stage(
    dialect: Dialect, spoken: str = "", **options: Any
) -> AsyncIterator[tuple[OpenAIChatServer, OpenAIClient]]:
    async with OpenAIChatServer(dialect=dialect) as server:
        given = {"base_url": server.url, "api_key": "k", "max_retries": 0, "dialect": spoken or dialect, **options}
        if given["dialect"] == "local":
            given["dialect"] = "any"
        model: OpenAIClient = await BACKEND.open(OpenOptions(options=given))
        yield server, model
        await model.aclose()


async def parts(model: OpenAIClient, name: str, plan: PromptPlan = PLAN, **params: Any) -> list[ChatPart]:
    return [part async for part in model.stream(ChatRequest(plan, name, params, thread="s1"))]


def changed(found: list[ChatPart]) -> list[str]:
    return [part.name for part in found if isinstance(part, AdjustedPart)]


class TestMarks:
    async def test_of_openai(self) -> None:
        async with stage("openai") as (server, model):
            await parts(model, "gpt-5.6-sol")
            body = server.requests[0].body
        assert server.refusals == []
        mark = {"mode": "explicit"}
        assert body["messages"] == [
            {"role": "system", "content": [{"type": "text", "text": "Narrate.", "prompt_cache_breakpoint": mark}]},
            {"role": "assistant", "content": "어서 와."},  # a reply cannot carry one; the block before it does
            {"role": "user", "content": "문맥\n\n나는 문을 연다.", "name": "aria"},
        ]
        assert body["prompt_cache_options"] == mark
        assert len(body["prompt_cache_key"]) == 32

    async def test_of_openrouter(self) -> None:
        async with stage("openrouter") as (server, model):
            await parts(model, "anthropic/claude-sonnet-5.5")
            found = [message["content"] for message in server.requests[0].body["messages"]]
        assert found == [
            [{"type": "text", "text": "Narrate.", "cache_control": {"type": "ephemeral"}}],
            [{"type": "text", "text": "어서 와.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
            "문맥\n\n나는 문을 연다.",
        ]

    @pytest.mark.parametrize(
        ("dialect", "model_name"),
        [("openai", "gpt-4.1"), ("google", "gemini-3"), ("local", "gpt-5.6"), ("local", "qwen")],
    )
    async def test_where_there_are_none(self, dialect: Dialect, model_name: str) -> None:
        async with stage(dialect) as (server, model):
            await parts(model, model_name)
            sent = json.dumps(server.requests[0].body)
        assert server.refusals == []
        assert "cache_control" not in sent
        assert "breakpoint" not in sent
        assert ("prompt_cache_key" in sent) == (dialect == "openai")

    async def test_a_conversation_keeps_its_key(self) -> None:
        async with stage("openai") as (server, model):
            await parts(model, "gpt-4.1")
            await parts(model, "gpt-4.1", prompt_cache_key="mine")
            await parts(model, "gpt-4.1")
            keys = [request.body["prompt_cache_key"] for request in server.requests]
        assert (keys[0] == keys[2], keys[1]) == (True, "mine")


class TestParameters:
    @pytest.mark.parametrize(
        ("dialect", "name", "sent", "dropped"),
        [
            ("openai", "gpt-5.6", {"max_completion_tokens": 300}, ["temperature", "stop", "min_p"]),
            ("openai", "gpt-4.1", {"max_tokens": 300, "temperature": 0.9, "stop": ["\n나:"]}, ["min_p"]),
            ("google", "gemini-2.5-pro", {"max_tokens": 300, "temperature": 0.9, "stop": ["\n나:"]}, ["seed", "min_p"]),
            ("openrouter", "x/y", {"max_tokens": 300, "temperature": 0.9, "min_p": 0.1, "seed": 7}, []),
            ("local", "gpt-5.6", {"max_tokens": 300, "temperature": 0.9, "min_p": 0.1, "seed": 7}, []),
        ],
    )
    async def test_in_each_dialect(self, dialect: Dialect, name: str, sent: dict[str, Any], dropped: list[str]) -> None:
        async with stage(dialect) as (server, model):
            got = await parts(
                model, name, max_tokens=300, temperature=0.9, stop=["\n나:"], seed=7, min_p=0.1, presence_penalty=0
            )
            body = server.requests[0].body
        assert server.refusals == []
        assert changed(got) == dropped
        assert {key: body.get(key) for key in sent} == sent
        assert all(key not in body for key in dropped)

    async def test_fields_of_messages(self) -> None:
        for dialect, kept in (("openai", False), ("google", False), ("openrouter", True), ("local", True)):
            async with stage(dialect) as (server, model):  # type: ignore[arg-type]
                await parts(model, "m")
                assert ("reasoning" in server.requests[0].body["messages"][1]) == kept

    async def test_a_strict_server_that_nobody_announced_teaches(self) -> None:
        async with stage("openai", "any") as (server, model):
            for _ in range(2):
                got = await parts(model, "gpt-5.6", PLAN, max_tokens=300, temperature=0.9, min_p=0.1, top_a=0.2)
                assert "".join(part.text for part in got if isinstance(part, TextPart)) == "The rain stops."
                assert sorted(changed(got)) == ["min_p", "temperature", "top_a"]
        assert server.requests[-1].body["max_completion_tokens"] == 300
        assert len(server.requests) == len(server.refusals) + 2

    async def test_what_only_gemini_has_is_left_out_and_named(self) -> None:
        own = {"labels": {"a": "b"}, "tools": [], "generationConfig": {"thinkingConfig": {}, "responseSchema": {}}}
        for dialect in ("openai", "google", "openrouter", "local"):
            async with stage(dialect) as (server, model):  # type: ignore[arg-type]
                (told,) = [part for part in await parts(model, "m", google=own) if isinstance(part, AdjustedPart)]
                assert told.why == "labels, thinkingConfig: left out; only Gemini's own API has this"
                assert "google" not in server.requests[0].body
                assert changed(await parts(model, "m", google={"tools": []})) == []
        async with stage("local") as (server, model):
            await parts(model, "m", google="a field of this server")
            assert server.requests[0].body["google"] == "a field of this server"

    async def test_google_teaches_too(self) -> None:
        async with stage("google", "any") as (server, model):
            plain = PromptPlan((Block("user", "a", Origin.WORDS),))
            assert sorted(changed(await parts(model, "g", plain, frequency_penalty=0.3, seed=3))) == [
                "frequency_penalty",
                "seed",
            ]
        assert len(server.refusals) == 1

    async def test_a_model_without_schemas_is_held_to_json_and_then_to_nothing(self) -> None:
        form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
        async with stage("any") as (server, model):
            server.then(fails(400, "This response_format type is unavailable now"), says("{}"), says("{}"))
            assert changed(await parts(model, "m", response_format=form)) == ["response_format"]
            await parts(model, "m", response_format=form)
            server.then(fails(400, "response_format is not supported"), says("{}"))
            await parts(model, "m", response_format=form)
            sent = [each.body.get("response_format", {}).get("type") for each in server.requests]
        assert sent == ["json_schema", "json_object", "json_object", "json_object", None]

    async def test_a_value_that_is_refused_once_may_be_taken_later(self) -> None:
        async with stage("local") as (server, model):
            server.then(fails(400, "'temperature' must be at most 2"), says("a"), says("b"))
            assert changed(await parts(model, "m", temperature=3)) == ["temperature"]
            assert changed(await parts(model, "m", temperature=0.5)) == []
        assert server.requests[-1].body["temperature"] == 0.5

    async def test_what_cannot_be_left_out_is_told(self) -> None:
        async with stage("local") as (server, model):
            server.otherwise = fails(400, "messages: this is too long; max_tokens is 9")
            with pytest.raises(UpstreamError, match="too long"):
                await parts(model, "m", max_tokens=9)
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 500])
async def test_a_template_that_wants_voices_in_turns(status: int) -> None:
    good = says("a")

    async def template(wire: Wire) -> web.StreamResponse:
        roles = [message["role"] for message in wire.received.body["messages"]]
        turns = roles[1:] if roles[0] == "system" else roles
        if any(role != ("user", "assistant")[at % 2] for at, role in enumerate(turns)):
            return wire.error(status, "Conversation roles must alternate user/assistant/user/assistant/...")
        return await good(wire)

    said = [("system", "s1"), ("system", "s2"), ("assistant", "어서 와."), ("user", "a"), ("system", "note")]
    plan = PromptPlan(tuple(Block(role, content, Origin.HISTORY) for role, content in [*said, ("assistant", "")]))
    async with stage("local") as (server, model):
        server.otherwise = template
        for _ in range(2):
            assert TextPart("a") in await parts(model, "m", plan)
        assert [(message["role"], message["content"]) for message in server.requests[-1].body["messages"]] == [
            ("system", "s1\n\ns2"),
            ("user", "[Start]"),
            ("assistant", "어서 와."),
            ("user", "a\n\nnote"),
        ]
    assert len(server.requests) == 3


async def test_one_connection_serves_one_call_after_the_other() -> None:
    clients: list[object] = []
    good = says("a")

    async def noted(wire: Wire) -> web.StreamResponse:
        assert wire.request.transport is not None
        clients.append(wire.request.transport.get_extra_info("peername"))
        return await good(wire)

    async with stage("local") as (server, model):
        server.otherwise = noted
        for _ in range(3):
            await parts(model, "m")
    assert len(set(clients)) == 1


async def test_a_provider_that_does_not_hang_up_holds_nobody_up() -> None:
    async def lingering(wire: Wire) -> web.StreamResponse:
        await wire.text("a")
        await wire.end()
        await asyncio.Event().wait()
        raise AssertionError("the event is never set")

    async with stage("local") as (server, model):
        server.otherwise = lingering
        async with asyncio.timeout(5):
            found = await parts(model, "m")
            await server.gone.wait()
    assert "".join(part.text for part in found if isinstance(part, TextPart)) == "a"


@pytest.mark.parametrize(
    ("said", "refuses", "together", "limit"),
    [
        ("`temperature` is deprecated for this model.", ("temperature",), (), ""),
        ("temperature: Extra inputs are not permitted", ("temperature",), (), ""),
        ("Unsupported parameter: 'stop' is not supported with this model.", ("stop",), (), ""),
        ("Unrecognized request arguments supplied: seed, top_k", ("seed", "top_k"), (), ""),
        ('Invalid JSON payload received. Unknown name "seed": Cannot find field.', ("seed",), (), ""),
        ("Penalty is not enabled for models/x", ("presence_penalty",), (), ""),
        ("`temperature` and `top_p` cannot both be specified for this model.", (), ("temperature", "top_p"), ""),
        ("'max_tokens' is not supported. Use 'max_completion_tokens' instead.", (), (), "max_completion_tokens"),
    ],
)
def test_lessons(said: str, refuses: tuple[str, ...], together: tuple[str, ...], limit: str) -> None:
    names = ("temperature", "top_p", "stop", "seed", "top_k", "presence_penalty", "max_tokens")
    lesson = lesson_of(UpstreamError(said, status=400), dict.fromkeys(names, 1), ParameterRules())
    assert lesson is not None
    assert (lesson.rules.refuses, lesson.rules.together, lesson.rules.limit) == (refuses, together, limit)
    assert lesson.lasting


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("please stop asking: the seed of doubt", 400),
        ("this model's maximum context length is 8192 tokens", 400),
        ("`temperature` is deprecated", 500),
        ("the user is not allowed here, and neither are tools", 400),
    ],
)
def test_what_teaches_nothing(said: str, status: int) -> None:
    body = {"stop": ["x"], "seed": 1, "temperature": 1, "tools": [], "model": "m", "messages": []}
    assert lesson_of(UpstreamError(said, status=status), body, ParameterRules()) is None


def test_neutral_values() -> None:
    assert neutral("temperature", 1.0)
    assert neutral("anything", None)
    assert not neutral("anything", 0)
    assert not neutral("temperature", "1")
    assert not neutral("logprobs", True)


@pytest.mark.parametrize(
    ("address", "dialect"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "google"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("http://127.0.0.1:5001/v1", "any"),
        ("https://api.openai.com.example.org/v1", "any"),
    ],
)
def test_a_dialect_is_told_from_the_address(address: str, dialect: str) -> None:
    assert dialect_at(address) == dialect


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    "choices delta message index content finish_reason usage error type text thinking content_block stop_reason "
    "partial_json input tool_calls prompt_tokens prompt_tokens_details cached_tokens input_tokens cache_creation "
    "cache_read_input_tokens stop_details code candidates parts functionCall args thought thoughtSignature "
    "finishReason inlineData mimeType data usageMetadata promptTokenCount promptFeedback blockReason id name".split()
)
TYPES = st.sampled_from(
    "message_start message_delta message_stop content_block_start content_block_delta text_delta thinking_delta "
    "input_json_delta text thinking tool_use error ping".split()
)
CHUNKS = st.recursive(
    JSON | TYPES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=14,
)


READERS: list[Callable[[], Pieces]] = [
    MessagePieces,
    GeminiPieces,
    ChatPieces,
    *(partial(TextPieces, wire) for wire in get_args(TextWire)),
]


@given(st.lists(CHUNKS, max_size=5), st.sampled_from(READERS))
def test_nothing_that_a_chunk_says_is_more_than_an_upstream_error(
    chunks: list[Any], reads: Callable[[], Pieces]
) -> None:
    blame = Blame("up", "h", 1.0)
    reader = ModelReply(blame, reads())
    found: list[ChatPart] = []
    try:
        for chunk in chunks:
            found += reader.event(json.dumps(chunk))
        found += reader.end()
    except UpstreamError:
        pass
    whole = ModelReply(blame, reads())
    for chunk in chunks:
        try:
            found += whole.whole(json.dumps(chunk).encode())
        except UpstreamError:
            continue
    assert all(getattr(part, "index", 0) >= 0 for part in found)
    for part in found:
        json.dumps(getattr(part, "fields", {}), allow_nan=False)  # what goes on to the client is JSON


@given(st.text(max_size=8), st.text(max_size=12), st.data())
def test_a_beginning_is_taken_off_however_the_text_is_cut(beginning: str, rest: str, data: st.DataObject) -> None:
    whole, shown = beginning + rest, ""
    cut = Unrepeated(beginning)
    while whole:
        size = data.draw(st.integers(1, len(whole)))
        shown += cut.feed(whole[:size])
        whole = whole[size:]
    shown += cut.finish()
    assert "".join(shown.split()) == "".join(rest.split())
    assert cut.finish() == ""
