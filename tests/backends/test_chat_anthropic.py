from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from saga_backends.chat.anthropic import BACKEND
from saga_backends.chat.client import ChatClient
from saga_core.errors import BadInput, UpstreamError
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import AdjustedPart, ChatPart, ChatRequest, ExtraPart, FinishPart, TextPart, Usage, UsagePart
from saga_core.registry import OpenOptions
from tests.fake_providers.anthropic import AnthropicMessages, Refuses
from tests.fake_providers.steps import calls, errors, fails, hangs, page, raw, resets, says, truncates

KEY = "sk-ant-geheim-geheim-1"
NEW, OLD = "claude-sonnet-5-5", "claude-sonnet-4-5"
PIXEL = "iVBORw0KGgo="


def blocks(*said: tuple[str, Any], **marks: Any) -> PromptPlan:
    """Messages by role and content; ``at3="5m"`` puts a breakpoint behind the fourth."""
    return PromptPlan(
        tuple(
            Block(role, content, Origin.HISTORY, breakpoint=marks.get(f"at{at}"))
            for at, (role, content) in enumerate(said)
        )
    )


def ask(*said: tuple[str, Any], model: str = NEW, key: str | None = None, **params: Any) -> ChatRequest:
    return ChatRequest(blocks(*(said or (("system", "Narrate."), ("user", "나는 문을 연다.")))), model, params, key)


async def opened(**options: Any) -> ChatClient:
    model: ChatClient = await BACKEND.open(OpenOptions(options={"max_retries": 0, "timeout": 5.0, **options}))
    return model


@pytest.fixture
async def upstream() -> AsyncIterator[AnthropicMessages]:
    async with AnthropicMessages() as server:
        yield server


@pytest.fixture
async def model(upstream: AnthropicMessages) -> AsyncIterator[ChatClient]:
    chat = await opened(base_url=upstream.url, api_key=KEY)
    yield chat
    await chat.aclose()


async def parts(model: ChatClient, request: ChatRequest, *, streaming: bool = True) -> list[ChatPart]:
    return [part async for part in model.stream(request, streaming=streaming)]


def text(found: list[ChatPart], index: int = 0) -> str:
    return "".join(part.text for part in found if isinstance(part, TextPart) and part.index == index)


def changed(found: list[ChatPart]) -> list[str]:
    return [part.name for part in found if isinstance(part, AdjustedPart)]


def extra(found: list[ChatPart], name: str) -> list[Any]:
    return [part.fields[name] for part in found if isinstance(part, ExtraPart) and name in part.fields]


async def failure(model: ChatClient, *, streaming: bool = True) -> tuple[UpstreamError, str]:
    got: list[ChatPart] = []
    with pytest.raises(UpstreamError) as caught:
        async for part in model.stream(ask(), streaming=streaming):
            got.append(part)
    assert KEY not in str(caught.value)
    return caught.value, text(got)


class TestReplies:
    @pytest.mark.parametrize("streaming", [True, False])
    async def test_text_finish_and_bill(self, upstream: AnthropicMessages, model: ChatClient, streaming: bool) -> None:
        upstream.then(says("비가 ", "그친다.", finish="length"))
        got = await parts(model, ask(), streaming=streaming)
        assert text(got) == "비가 그친다."
        assert FinishPart("length") in got
        bills = [part.usage for part in got if isinstance(part, UsagePart)]
        assert bills[-1] == Usage(input=100, output=20, cache_read=64, cache_write=6, cache_write_1h=4)
        assert len(bills) == (2 if streaming else 1)
        (request,) = upstream.requests
        assert request.body == {
            "model": NEW,
            "max_tokens": 4_096 + 8_192,
            "system": [{"type": "text", "text": "Narrate."}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "나는 문을 연다."}]}],
            **({"stream": True} if streaming else {}),
        }
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        assert {name.lower(): value for name, value in request.headers.items()}["anthropic-version"] == "2026-10-21"

    async def test_the_prompt_is_billed_as_soon_as_it_is_known(
        self, upstream: AnthropicMessages, model: ChatClient
    ) -> None:
        upstream.then(hangs("one"))
        async with aclosing(model.stream(ask())) as stream:
            first = await anext(stream)
        assert isinstance(first, UsagePart)
        assert (first.usage.input, first.usage.cache_read) == (100, 64)

    @pytest.mark.parametrize("streaming", [True, False])
    @pytest.mark.parametrize(
        ("reason", "finish"),
        [
            ("end_turn", "stop"),
            ("stop_sequence", "stop"),
            ("max_tokens", "length"),
            ("model_context_window_exceeded", "length"),
            ("pause_turn", "stop"),
            ("something_new", "stop"),
        ],
    )
    async def test_reasons(
        self, upstream: AnthropicMessages, model: ChatClient, streaming: bool, reason: str, finish: str
    ) -> None:
        upstream.then(says("a", finish=reason))
        assert FinishPart(finish) in await parts(model, ask(), streaming=streaming)

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_a_refusal(self, upstream: AnthropicMessages, model: ChatClient, streaming: bool) -> None:
        upstream.then(says(finish="filtered"))
        got = await parts(model, ask(), streaming=streaming)
        assert FinishPart("content_filter") in got
        assert extra(got, "refusal") == ["not that"]

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_thinking_comes_as_reasoning(
        self, upstream: AnthropicMessages, model: ChatClient, streaming: bool
    ) -> None:
        upstream.then(says("a", thoughts=("음…", "그래.")))
        got = await parts(model, ask(), streaming=streaming)
        assert "".join(extra(got, "reasoning_content")) == "음…그래."
        assert text(got) == "a"

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_tools(self, upstream: AnthropicMessages, model: ChatClient, streaming: bool) -> None:
        upstream.then(calls("roll", '{"dice": 2}', "그럼."))
        tool = {"type": "function", "function": {"name": "roll", "parameters": {"type": "object"}}}
        got = await parts(model, ask(tools=[tool], tool_choice="required"), streaming=streaming)
        deltas = [call for part in extra(got, "tool_calls") for call in part]
        assert {call["index"] for call in deltas} == {0}
        assert (deltas[0]["id"], deltas[0]["function"]["name"]) == ("toolu_1", "roll")
        assert "".join(call["function"]["arguments"] for call in deltas) == '{"dice": 2}'
        assert FinishPart("tool_calls") in got
        body = upstream.requests[0].body
        assert body["tools"] == [{"name": "roll", "input_schema": {"type": "object"}}]
        assert body["tool_choice"] == {"type": "any"}

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_several_choices_are_several_requests_and_one_bill(
        self, upstream: AnthropicMessages, model: ChatClient, streaming: bool
    ) -> None:
        upstream.then(says("하나"), says("둘"), says("셋"))
        got = await parts(model, ask(n=3), streaming=streaming)
        assert sorted(text(got, index) for index in range(3)) == ["둘", "셋", "하나"]
        assert {part.index for part in got if isinstance(part, FinishPart)} == {0, 1, 2}
        assert [part.usage for part in got if isinstance(part, UsagePart)][-1] == Usage(300, 60, 192, 18, 12)
        assert len(upstream.requests) == 3
        assert upstream.refusals == []

    async def test_one_of_several_choices_fails(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        upstream.then(says("하나"), fails(529))
        with pytest.raises(UpstreamError, match="529"):
            await parts(model, ask(n=2))


class TestMessages:
    """What is sent: the strict server refuses anything that the API would."""

    async def sent(self, upstream: AnthropicMessages, model: ChatClient, request: ChatRequest) -> list[Any]:
        await parts(model, request)
        assert upstream.refusals == []
        found: list[Any] = upstream.requests[-1].body["messages"]
        return [
            (message["role"], [block.get("text", block["type"]) for block in message["content"]]) for message in found
        ]

    async def test_a_greeting_first(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        found = await self.sent(upstream, model, ask(("system", "s"), ("assistant", "어서 와."), ("user", "안녕")))
        assert found == [("user", ["[Start]"]), ("assistant", ["어서 와."]), ("user", ["안녕"])]

    async def test_nothing_but_a_system(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        assert await self.sent(upstream, model, ask(("system", "s"))) == [("user", ["[Start]"])]
        assert await self.sent(upstream, model, ask(("user", " \n"))) == [("user", ["[Start]"])]

    async def test_the_same_voice_twice_is_one_message(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        found = await self.sent(upstream, model, ask(("user", "a"), ("user", "b"), ("assistant", "c"), ("user", "d")))
        assert found == [("user", ["a", "b"]), ("assistant", ["c"]), ("user", ["d"])]

    async def test_empty_messages_are_left_out(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        found = await self.sent(
            upstream,
            model,
            ask(("system", ""), ("user", "a"), ("assistant", " \n"), ("user", [{"type": "text", "text": ""}])),
        )
        assert found == [("user", ["a"])]
        assert "system" not in upstream.requests[-1].body

    async def test_system_messages_stay_where_they_stand(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        said = (
            ("system", "s"),
            ("user", "a"),
            ("system", "n1"),
            ("system", "n2"),
            ("assistant", "b"),
            ("system", "n3"),
        )
        found = await self.sent(upstream, model, ask(*said, ("user", "c"), ("system", "n4")))
        assert found == [
            ("user", ["a"]),
            ("system", ["n1", "n2"]),
            ("assistant", ["b"]),
            ("user", ["n3", "c"]),
            ("system", ["n4"]),
        ]
        assert upstream.requests[-1].body["system"] == [{"type": "text", "text": "s"}]
        found = await self.sent(upstream, model, ask(*said, ("user", "c"), ("system", "n4"), model=OLD))
        assert found == [("user", ["a", "n1", "n2"]), ("assistant", ["b"]), ("user", ["n3", "c", "n4"])]

    async def test_a_model_that_turns_out_to_take_no_system_message(
        self, upstream: AnthropicMessages, model: ChatClient
    ) -> None:
        upstream.refuses = Refuses(system=True)
        said = (("user", "a"), ("system", "n"))
        assert text(await parts(model, ask(*said))) == "The rain stops."
        assert text(await parts(model, ask(*said))) == "The rain stops."
        assert upstream.refusals == ["role 'system' is not supported on this model"]
        assert [message["role"] for message in upstream.requests[-1].body["messages"]] == ["user"]

    async def test_breakpoints(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        plan = blocks(
            ("system", "s"),
            ("user", "a"),
            ("assistant", "b"),
            ("system", " "),
            ("user", "c"),
            at0="1h",
            at1="1h",
            at3="5m",
        )
        await parts(model, ChatRequest(plan, NEW))
        assert upstream.refusals == []
        body = upstream.requests[0].body
        hour, five = {"type": "ephemeral", "ttl": "1h"}, {"type": "ephemeral"}
        assert body["system"] == [{"type": "text", "text": "s", "cache_control": hour}]
        assert [block.get("cache_control") for message in body["messages"] for block in message["content"]] == [
            hour,
            five,  # that of the empty message goes to the one before
            None,
        ]

    async def test_the_clients_own_breakpoints_hold_where_the_plan_has_none(
        self, upstream: AnthropicMessages, model: ChatClient
    ) -> None:
        own = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
        await parts(model, ChatRequest(blocks(("user", own)), NEW))
        await parts(model, ChatRequest(blocks(("user", own), ("assistant", "b"), ("user", "c"), at1="5m"), NEW))
        first, second = (request.body["messages"][0]["content"][0] for request in upstream.requests)
        assert ("cache_control" in first, "cache_control" in second) == (True, False)

    async def test_the_context_stands_before_the_words(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        plan = PromptPlan((Block("user", "말", Origin.WORDS, lead="문맥"),))
        await parts(model, ChatRequest(plan, NEW))
        assert upstream.requests[0].body["messages"][0]["content"] == [{"type": "text", "text": "문맥\n\n말"}]

    async def test_images(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        urls = [f"data:image/jpg;base64,{PIXEL}", "https://example.org/a.png", "data:text/plain,x", "blob:x"]
        content = [{"type": "text", "text": "봐"}, *({"type": "image_url", "image_url": {"url": url}} for url in urls)]
        got = await parts(model, ask(("user", [*content, {"type": "input_audio"}])))
        assert upstream.refusals == []
        assert [block.get("source") for block in upstream.requests[0].body["messages"][0]["content"]] == [
            None,
            {"type": "base64", "media_type": "image/jpeg", "data": PIXEL},
            {"type": "url", "url": "https://example.org/a.png"},
        ]
        assert changed(got) == ["content"] * 3

    async def test_names_are_said(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        plan = PromptPlan(
            (
                Block("user", "안녕", Origin.HISTORY, {"name": "아리아"}),
                Block("assistant", "크룩: 왔군.", Origin.HISTORY, {"name": "크룩"}),
                Block("user", "응", Origin.WORDS),
            )
        )
        found = await self.sent(upstream, model, ChatRequest(plan, NEW))
        assert found == [("user", ["아리아: 안녕"]), ("assistant", ["크룩: 왔군."]), ("user", ["응"])]

    async def test_calls_and_results_of_tools(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "roll", "arguments": '{"dice": 2}'}}
        plan = PromptPlan(
            (
                Block("user", "굴려", Origin.HISTORY),
                Block("assistant", "", Origin.HISTORY, {"tool_calls": [call], "content": None}),
                Block("tool", "7", Origin.HISTORY, {"tool_call_id": "c1"}),
                Block("user", "그래서?", Origin.WORDS),
            )
        )
        await parts(model, ChatRequest(plan, NEW))
        assert upstream.refusals == []
        sent = upstream.requests[0].body["messages"]
        assert sent[1]["content"] == [{"type": "tool_use", "id": "c1", "name": "roll", "input": {"dice": 2}}]
        assert sent[2]["content"][0] == {"type": "tool_result", "tool_use_id": "c1", "content": "7"}

    async def test_a_history_cut_between_call_and_result(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "roll", "arguments": "{"}}
        lone_result = Block("tool", "7", Origin.HISTORY, {"tool_call_id": "c0"})
        lone_call = Block("assistant", "", Origin.HISTORY, {"tool_calls": [call]})
        await parts(model, ChatRequest(PromptPlan((lone_result, lone_call, Block("user", "a", Origin.WORDS))), NEW))
        assert upstream.refusals == []


class TestPrefill:
    SAID = (("user", "a"), ("assistant", "그녀가 웃으며 \n"))

    async def test_a_model_that_takes_it(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        upstream.then(says("말했다."))
        got = await parts(model, ask(*self.SAID, model=OLD))
        assert (text(got), upstream.refusals) == ("말했다.", [])
        assert upstream.requests[0].body["messages"][-1]["content"] == [{"type": "text", "text": "그녀가 웃으며"}]

    @pytest.mark.parametrize("streaming", [True, False])
    @pytest.mark.parametrize(
        ("said", "shown"),
        [
            (("말했다.",), "말했다."),
            (("그녀", "가 웃", "으며 말했다."), " 말했다."),
            (("그녀가\n웃으며", " 말했다."), " 말했다."),
            (("그녀", "는 말이 없다."), "그녀는 말이 없다."),
            (("그녀",), "그녀"),
        ],
    )
    async def test_one_that_does_not_is_asked_to_go_on(
        self, upstream: AnthropicMessages, model: ChatClient, streaming: bool, said: tuple[str, ...], shown: str
    ) -> None:
        upstream.then(says(*said))
        got = await parts(model, ask(*self.SAID), streaming=streaming)
        assert (text(got), upstream.refusals, changed(got)) == (shown, [], ["prefill"])
        roles = [message["role"] for message in upstream.requests[0].body["messages"]]
        assert roles == ["user", "assistant", "user"]
        assert "이어 쓰세요" in upstream.requests[0].text

    async def test_it_is_learned(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        upstream.refuses = Refuses(sampling=False, system=True)
        for _ in range(2):
            assert changed(await parts(model, ask(*self.SAID, model=OLD))) == ["prefill"]
        assert len(upstream.refusals) == 1


class TestParameters:
    async def test_what_a_model_refuses_is_left_out(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        got = await parts(model, ask(temperature=0.9, top_p=0.9, top_k=40, min_p=0.1, frequency_penalty=0.5))
        assert upstream.refusals == []
        assert sorted(changed(got)) == ["frequency_penalty", "min_p", "temperature", "top_k", "top_p"]

    async def test_what_says_nothing_is_left_out_silently(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        neutral = {"temperature": 1, "top_p": 1.0, "top_k": 0, "presence_penalty": 0, "seed": -1, "logit_bias": {}}
        assert changed(await parts(model, ask(**neutral, user="u", stop=None))) == []

    async def test_an_older_model_is_asked_with_a_temperature(
        self, upstream: AnthropicMessages, model: ChatClient
    ) -> None:
        got = await parts(model, ask(model=OLD, temperature=0.7, top_p=0.9, top_k=5))
        assert (upstream.refusals, changed(got)) == ([], ["top_p"])
        request = upstream.requests[0]
        assert (request.body["temperature"], request.body["top_k"]) == (0.7, 5)
        assert {name.lower(): value for name, value in request.headers.items()}["anthropic-version"] == "2023-06-01"

    async def test_a_temperature_of_another_scale(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        got = await parts(model, ask(model=OLD, temperature=1.5))
        assert (upstream.refusals, changed(got)) == ([], ["temperature"])
        assert upstream.requests[0].body["temperature"] == 1.0

    async def test_a_refusal_is_learned_from_once(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        upstream.refuses = Refuses(prefill=False)
        for _ in range(2):
            got = await parts(model, ask(model=OLD, temperature=0.7))
            assert (text(got), changed(got)) == ("The rain stops.", ["temperature"])
        assert upstream.refusals == ["`temperature` is deprecated for this model."]

    async def test_a_refusal_that_teaches_nothing_is_told(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        upstream.then(fails(400, "messages: too long"))
        error, _ = await failure(model)
        assert (error.status, len(upstream.requests)) == (400, 1)

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_stops_and_limits(self, upstream: AnthropicMessages, model: ChatClient, streaming: bool) -> None:
        await parts(model, ask(model=OLD, stop=["\n나:", " ", ""], max_tokens=300), streaming=streaming)
        await parts(model, ask(model=OLD, stop="끝", max_completion_tokens=200, max_tokens=100), streaming=streaming)
        first, second = (request.body for request in upstream.requests)
        assert (first["stop_sequences"], first["max_tokens"]) == (["\n나:"], 300)
        assert (second["stop_sequences"], second["max_tokens"]) == (["끝"], 200)

    @pytest.mark.parametrize(
        ("name", "effort", "thinking", "room"),
        [
            (NEW, None, None, 8_192),
            (NEW, "none", {"type": "between_tools"}, 0),
            (NEW, "high", {"type": "adaptive"}, 16_384),
            ("claude-haiku-5-5", "none", {"type": "disabled"}, 0),
            ("claude-opus-5-5", "none", None, 2_048),
            ("claude-opus-4-6", "low", {"type": "adaptive"}, 2_048),
            (OLD, None, None, 0),
            (OLD, "none", None, 0),
            (OLD, "medium", {"type": "enabled", "budget_tokens": 7_168}, 8_192),
        ],
    )
    async def test_thinking(
        self,
        upstream: AnthropicMessages,
        model: ChatClient,
        name: str,
        effort: str | None,
        thinking: dict[str, Any] | None,
        room: int,
    ) -> None:
        await parts(model, ask(model=name, max_tokens=300, reasoning_effort=effort))
        assert upstream.refusals == []
        body = upstream.requests[0].body
        assert (body.get("thinking"), body["max_tokens"]) == (thinking, 300 + room)

    async def test_a_thinking_model_is_neither_sampled_nor_given_a_beginning(
        self, upstream: AnthropicMessages, model: ChatClient
    ) -> None:
        got = await parts(model, ask(*TestPrefill.SAID, model=OLD, temperature=0.5, reasoning_effort="low"))
        assert (changed(got), upstream.refusals) == (["temperature", "prefill"], [])

    async def test_no_thinking_by_configuration(self, upstream: AnthropicMessages) -> None:
        model = await opened(base_url=upstream.url, api_key=KEY, thinking="off")
        await parts(model, ask(max_tokens=300))
        assert upstream.requests[0].body["thinking"] == {"type": "between_tools"}
        await model.aclose()

    async def test_its_own_fields_pass(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        own = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}, "metadata": {"user_id": "u"}}
        await parts(model, ask(**own))
        assert upstream.refusals == []
        assert {name: upstream.requests[0].body[name] for name in own} == own

    async def test_a_schema_for_the_answer_is_said_as_the_api_says_it(
        self, upstream: AnthropicMessages, model: ChatClient
    ) -> None:
        schema = {"type": "object", "properties": {}, "additionalProperties": False}
        form = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}}
        got = await parts(model, ask(response_format=form, output_config={"effort": "low"}))
        said = {"effort": "low", "format": {"type": "json_schema", "schema": schema}}
        assert (upstream.requests[0].body["output_config"], changed(got)) == (said, [])
        upstream.then(fails(400, "output_config.format: this model does not support structured outputs"))
        got = await parts(model, ask(response_format=form))
        assert text(got) == "The rain stops." and changed(got) == ["response_format"]
        assert "output_config" not in upstream.requests[-1].body

    async def test_thinking_that_a_model_refuses_is_left_out(
        self, upstream: AnthropicMessages, model: ChatClient
    ) -> None:
        got = await parts(model, ask(thinking={"type": "disabled"}))
        assert text(got) == "The rain stops."
        assert len(upstream.refusals) == 1


class TestFailures:
    @pytest.mark.parametrize("streaming", [True, False])
    @pytest.mark.parametrize(
        ("status", "answered", "kind"),
        [
            (400, 400, "invalid_request_error"),
            (401, 401, "authentication_error"),
            (404, 404, "not_found_error"),
            (413, 413, "api_error"),
            (429, 429, "rate_limit_error"),
            (500, 502, "api_error"),
            (529, 503, "overloaded_error"),
        ],
    )
    async def test_a_status(
        self, upstream: AnthropicMessages, model: ChatClient, streaming: bool, status: int, answered: int, kind: str
    ) -> None:
        upstream.then(fails(status, f"because {KEY}", retry_after="7"))
        error, _ = await failure(model, streaming=streaming)
        assert (error.status, error.kind, error.retry_after) == (answered, kind, 7.0)
        assert f"answered {status} (because (key))" in str(error)

    @pytest.mark.parametrize("streaming", [True, False])
    @pytest.mark.parametrize("status", [200, 502])
    async def test_a_web_page(
        self, upstream: AnthropicMessages, model: ChatClient, streaming: bool, status: int
    ) -> None:
        upstream.then(page(status))
        assert (await failure(model, streaming=streaming))[0].status == 502

    @pytest.mark.parametrize(
        ("step", "words"),
        [
            (resets("one ", "two "), "broke off"),
            (truncates("one ", "two "), "in the middle"),
            (errors("one ", "two ", message="Overloaded"), "reported: Overloaded"),
        ],
    )
    async def test_in_mid_reply(self, upstream: AnthropicMessages, model: ChatClient, step: Any, words: str) -> None:
        upstream.then(step)
        error, before = await failure(model)
        assert words in str(error)
        assert before == "one two "

    async def test_silent(self, upstream: AnthropicMessages) -> None:
        upstream.otherwise = hangs("옛날")
        model = await opened(base_url=upstream.url, api_key=KEY, timeout=0.2)
        error, before = await failure(model)
        assert (error.status, before) == (504, "옛날")
        await model.aclose()

    @pytest.mark.parametrize("body", [b"", b"null", b"[1]", b'"text"', b"{}", b'{"type":"error","error":null}', b"{"])
    @pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
    async def test_bodies_that_are_no_reply(
        self, upstream: AnthropicMessages, model: ChatClient, body: bytes, kind: str
    ) -> None:
        for streaming in (True, False):
            upstream.then(raw(b"data: " + body + b"\n\n" if kind == "text/event-stream" else body, kind))
            assert (await failure(model, streaming=streaming))[0].status == 502

    @pytest.mark.parametrize(
        "step", [fails(529, retry_after_ms="1"), fails(500, retry_after_ms="1"), fails(429, retry_after_ms="1")]
    )
    async def test_it_tries_again_before_the_first_byte(self, upstream: AnthropicMessages, step: Any) -> None:
        model = await opened(base_url=upstream.url, api_key=KEY, max_retries=1)
        upstream.then(step, says("a"))
        assert text(await parts(model, ask())) == "a"
        upstream.then(step, step)
        assert (await failure(model))[0].retry_after == 0.001
        await model.aclose()

    async def test_it_does_not_wait_beyond_the_budget(self, upstream: AnthropicMessages) -> None:
        model = await opened(base_url=upstream.url, api_key=KEY, max_retries=5, retry_seconds=20.0)
        upstream.then(fails(529, retry_after="21"))
        assert (await failure(model))[0].retry_after == 21
        assert len(upstream.requests) == 1
        await model.aclose()

    async def test_nothing_is_tried_again_after_the_first_byte(self, upstream: AnthropicMessages) -> None:
        model = await opened(base_url=upstream.url, api_key=KEY, max_retries=5)
        upstream.then(errors("one"))
        assert (await failure(model))[1] == "one"
        assert len(upstream.requests) == 1
        await model.aclose()

    async def test_closing_the_iterator_ends_the_call(self, upstream: AnthropicMessages, model: ChatClient) -> None:
        upstream.then(hangs("one"))
        stream = model.stream(ask())
        assert isinstance(await anext(stream), UsagePart)
        await stream.aclose()
        async with asyncio.timeout(5):
            await upstream.gone.wait()


class TestOpening:
    async def test_models(self, model: ChatClient) -> None:
        assert await model.models() == ["claude-sonnet-5-5", "claude-haiku-5-5"]
        assert model.name == "anthropic"

    async def test_the_sdks_own_address(self) -> None:
        model = await opened(api_key=KEY)
        assert model.host == "api.anthropic.com"
        assert KEY not in repr(model)
        await model.aclose()

    async def test_an_address_that_ends_in_v1(self, upstream: AnthropicMessages) -> None:
        model = await opened(base_url=upstream.url + "/v1/", api_key=KEY)
        assert text(await parts(model, ask())) == "The rain stops."
        await model.aclose()

    async def test_keys(self, upstream: AnthropicMessages, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-env")
        model = await opened(base_url=upstream.url)
        await parts(model, ask())
        await parts(model, ask(key="sk-client"))
        assert [request.headers.get("Authorization") for request in upstream.requests] == [None, "Bearer sk-client"]
        await model.aclose()

    @pytest.mark.parametrize("options", [{"base_url": 3}, {"api_key": 3}, {"thinking": "x"}, {"speed": 1}])
    async def test_bad_options(self, options: dict[str, Any]) -> None:
        with pytest.raises(BadInput, match=next(iter(options))):
            await opened(**options)
