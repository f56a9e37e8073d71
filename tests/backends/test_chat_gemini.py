"""Gemini's own API: what is sent, against a strict server, and what is read."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

import pytest

from saga_backends.chat.gemini import BACKEND, GeminiClient, is_made
from saga_core.errors import BadInput, UpstreamError
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import AdjustedPart, ChatPart, ChatRequest, ExtraPart, FinishPart, TextPart, Usage, UsagePart
from saga_core.registry import OpenOptions
from tests.fake_providers.gemini import GeminiServer
from tests.fake_providers.steps import calls, errors, fails, hangs, page, raw, resets, says, truncates

KEY = "AIza-geheim-geheim-1"
MODEL = "gemini-2.5-flash"
PIXEL = "iVBORw0KGgo="


def blocks(*said: tuple[str, Any]) -> PromptPlan:
    return PromptPlan(tuple(Block(role, content, Origin.HISTORY) for role, content in said))


def ask(*said: tuple[str, Any], model: str = MODEL, key: str | None = None, **params: Any) -> ChatRequest:
    return ChatRequest(blocks(*(said or (("system", "Narrate."), ("user", "나는 문을 연다.")))), model, params, key)


async def opened(**options: Any) -> GeminiClient:
    model: GeminiClient = await BACKEND.open(OpenOptions(options={"max_retries": 0, "timeout": 5.0, **options}))
    return model


@pytest.fixture
async def upstream() -> AsyncIterator[GeminiServer]:
    async with GeminiServer(key=KEY) as server:
        yield server


@pytest.fixture
async def model(upstream: GeminiServer) -> AsyncIterator[GeminiClient]:
    chat = await opened(base_url=upstream.url, api_key=KEY)
    yield chat
    await chat.aclose()


async def parts(model: GeminiClient, request: ChatRequest, *, streaming: bool = True) -> list[ChatPart]:
    return [part async for part in model.stream(request, streaming=streaming)]


def text(found: list[ChatPart], index: int = 0) -> str:
    return "".join(part.text for part in found if isinstance(part, TextPart) and part.index == index)


def changed(found: list[ChatPart]) -> list[str]:
    return [part.name for part in found if isinstance(part, AdjustedPart)]


def extra(found: list[ChatPart], name: str) -> list[Any]:
    return [part.fields[name] for part in found if isinstance(part, ExtraPart) and name in part.fields]


async def failure(model: GeminiClient, *, streaming: bool = True) -> tuple[UpstreamError, str]:
    got: list[ChatPart] = []
    with pytest.raises(UpstreamError) as caught:
        async for part in model.stream(ask(), streaming=streaming):
            got.append(part)
    assert KEY not in str(caught.value)
    return caught.value, text(got)


def chunk(*shown: Mapping[str, Any], **about: Any) -> bytes:
    candidate = {"content": {"parts": list(shown), "role": "model"}, **about}
    return f"data: {json.dumps({'candidates': [candidate]})}\r\n\r\n".encode()


@pytest.mark.parametrize("streaming", [True, False])
class TestReplies:
    async def test_text_finish_and_bill(self, upstream: GeminiServer, model: GeminiClient, streaming: bool) -> None:
        upstream.then(says("비가 ", "그친다.", finish="length", thoughts=("음…", "그래.")))
        got = await parts(model, ask(), streaming=streaming)
        assert (text(got), "".join(extra(got, "reasoning_content"))) == ("비가 그친다.", "음…그래.")
        assert FinishPart("length") in got
        bills = [part.usage for part in got if isinstance(part, UsagePart)]
        assert bills[-1] == Usage(input=100, output=20, cache_read=64)
        (request,) = upstream.requests
        assert request.path == f"/v1beta/models/{MODEL}:{'streamGenerateContent' if streaming else 'generateContent'}"
        assert request.body == {
            "systemInstruction": {"parts": [{"text": "Narrate."}]},
            "contents": [{"role": "user", "parts": [{"text": "나는 문을 연다."}]}],
        }

    @pytest.mark.parametrize(
        ("reason", "finish"),
        [
            ("STOP", "stop"),
            ("MAX_TOKENS", "length"),
            ("SAFETY", "content_filter"),
            ("PROHIBITED_CONTENT", "content_filter"),
            ("SOMETHING_NEW", "stop"),
        ],
    )
    async def test_reasons(
        self, upstream: GeminiServer, model: GeminiClient, streaming: bool, reason: str, finish: str
    ) -> None:
        upstream.then(says("a", finish=reason))
        got = await parts(model, ask(), streaming=streaming)
        assert FinishPart(finish) in got
        told = [about["finishReason"] for about in extra(got, "google") if "finishReason" in about]
        assert told == ([] if reason in ("STOP", "MAX_TOKENS") else [reason])

    async def test_a_prompt_that_is_blocked(self, upstream: GeminiServer, model: GeminiClient, streaming: bool) -> None:
        body = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
        whole = json.dumps(body).encode()
        upstream.then(raw(b"data: " + whole + b"\n\n") if streaming else raw(whole, "application/json"))
        got = await parts(model, ask(), streaming=streaming)
        assert FinishPart("content_filter") in got
        assert "PROHIBITED_CONTENT" in extra(got, "refusal")[0]
        assert extra(got, "google") == [{"promptFeedback": body["promptFeedback"]}]

    async def test_tools(self, upstream: GeminiServer, model: GeminiClient, streaming: bool) -> None:
        upstream.then(calls("roll", '{"dice": 2}', "그럼."))
        tool = {"type": "function", "function": {"name": "roll", "parameters": {"type": "object"}}}
        got = await parts(model, ask(tools=[tool], tool_choice="required"), streaming=streaming)
        ((call,),) = extra(got, "tool_calls")
        assert (call["index"], call["function"]) == (0, {"name": "roll", "arguments": '{"dice": 2}'})
        assert is_made(call["id"]), "it came without one"
        assert call["extra_content"] == {"google": {"thought_signature": "c2ln"}}
        assert FinishPart("tool_calls") in got
        body = upstream.requests[0].body
        assert body["tools"] == [
            {"functionDeclarations": [{"name": "roll", "parametersJsonSchema": {"type": "object"}}]}
        ]
        assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}

    async def test_several_choices_are_several_requests_and_one_bill(
        self, upstream: GeminiServer, model: GeminiClient, streaming: bool
    ) -> None:
        upstream.then(says("하나"), says("둘"), says("셋"))
        got = await parts(model, ask(n=3), streaming=streaming)
        assert sorted(text(got, index) for index in range(3)) == ["둘", "셋", "하나"]
        assert {part.index for part in got if isinstance(part, FinishPart)} == {0, 1, 2}
        assert [part.usage for part in got if isinstance(part, UsagePart)][-1] == Usage(300, 60, 192)
        assert (len(upstream.requests), upstream.refusals) == (3, [])

    async def test_it_is_tried_again(self, upstream: GeminiServer, streaming: bool) -> None:
        model = await opened(base_url=upstream.url, api_key=KEY, max_retries=3)
        again = {"retry_after_ms": "1"}
        upstream.then(fails(503, **again), fails(429, **again), fails(500, **again), says("그래."))
        assert text(await parts(model, ask(), streaming=streaming)) == "그래."
        await model.aclose()

    async def test_a_pause_that_google_asks_for_is_told(
        self, upstream: GeminiServer, model: GeminiClient, streaming: bool
    ) -> None:
        about = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
        body = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [about, 3]}}
        upstream.then(raw(json.dumps(body).encode(), "application/json", 429))
        error, _ = await failure(model, streaming=streaming)
        assert (error.status, error.retry_after, error.passing) == (429, 34.5, True)

    async def test_failures(self, upstream: GeminiServer, model: GeminiClient, streaming: bool) -> None:
        for step, status in (
            (fails(400, "no such thing"), 400),
            (fails(404, "models/x is not found"), 404),
            (fails(500), 502),
            (page(200), 502),
            (resets(), 502),
            (raw(b"", "application/json"), 502),
            (raw(b"null", "application/json"), 502),
            (raw(b'{"models": []}', "application/json"), 502),
            (raw(b"[3]", "application/json"), 502),
            (raw(b'[{"error": {"code": 503, "message": "x"}}]', "application/json"), 503),
            (raw(b"data: {\n\n"), 502),
            (raw(b""), 502),
        ):
            upstream.then(step)
            error, said = await failure(model, streaming=streaming)
            assert (error.status, said) == (status, "")

    async def test_a_wrong_key_is_named_as_one(self, upstream: GeminiServer, streaming: bool) -> None:
        model = await opened(base_url=upstream.url, api_key="AIza-wrong-wrong-1")
        error, _ = await failure(model, streaming=streaming)
        assert (error.status, "check the key" in str(error), "wrong-wrong" in str(error)) == (401, True, False)
        await model.aclose()

    async def test_the_key_is_in_no_address_and_no_log(
        self, upstream: GeminiServer, model: GeminiClient, streaming: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        other = await opened(base_url=upstream.url, api_key="unused-unused")
        await parts(model, ask(), streaming=streaming)
        await parts(other, ask(key=KEY), streaming=streaming)
        await other.aclose()
        assert KEY not in caplog.text
        assert KEY not in repr(model) + repr(model.http)
        headers = {name.lower(): value for name, value in upstream.requests[-1].headers.items()}
        assert (headers["x-goog-api-key"], "authorization" in headers) == (KEY, False)


class TestStreams:
    @pytest.mark.parametrize("step", [resets, truncates, errors])
    async def test_a_fault_in_mid_stream(self, upstream: GeminiServer, model: GeminiClient, step: Any) -> None:
        upstream.then(step("옛날 ", "옛적에 "))
        error, said = await failure(model)
        assert (error.passing, said) == (True, "옛날 옛적에 ")

    async def test_the_prompt_is_billed_as_soon_as_it_is_known(
        self, upstream: GeminiServer, model: GeminiClient
    ) -> None:
        upstream.then(hangs("one"))
        async with aclosing(model.stream(ask())) as stream:
            assert isinstance(await anext(stream), UsagePart)

    async def test_what_only_google_has_is_passed_on(self, upstream: GeminiServer, model: GeminiClient) -> None:
        code = {"executableCode": {"language": "PYTHON", "code": "1"}}
        picture = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
        upstream.then(
            raw(
                chunk({"text": "a"}, code, picture)
                + chunk({"text": "", "thoughtSignature": "c2ln"}, groundingMetadata={"webSearchQueries": ["x"]})
                + chunk(finishReason="STOP", logprobsResult={"x": 1})
            )
        )
        got = await parts(model, ask())
        assert (text(got), extra(got, "google_parts")) == ("a", [[code]])
        assert extra(got, "images")[0][0]["image_url"]["url"] == f"data:image/png;base64,{PIXEL}"
        assert extra(got, "extra_content") == [{"google": {"thought_signature": "c2ln"}}]
        assert extra(got, "google") == [{"groundingMetadata": {"webSearchQueries": ["x"]}}]

    async def test_a_server_without_events_answers_with_a_list(
        self, upstream: GeminiServer, model: GeminiClient
    ) -> None:
        ended = {"content": {"parts": [{"text": "b"}]}, "finishReason": "STOP"}
        listed = [{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, {"candidates": [ended]}]
        upstream.then(raw(json.dumps(listed).encode(), "application/json"))
        assert text(await parts(model, ask())) == "ab"


class TestContents:
    """What is sent: the strict server refuses anything that the API would."""

    async def sent(self, upstream: GeminiServer, model: GeminiClient, request: ChatRequest) -> list[Any]:
        await parts(model, request)
        assert upstream.refusals == []
        return [(content["role"], content["parts"]) for content in upstream.requests[-1].body["contents"]]

    async def test_voices_and_system_messages(self, upstream: GeminiServer, model: GeminiClient) -> None:
        said = (("system", "s1"), ("developer", "s2"), ("assistant", "어서 와."), ("user", "a"), ("system", "n"))
        found = await self.sent(upstream, model, ask(*said, ("assistant", "b"), ("assistant", ""), ("user", "c")))
        assert found == [
            ("model", [{"text": "어서 와."}]),
            ("user", [{"text": "a"}, {"text": "n"}]),
            ("model", [{"text": "b"}]),
            ("user", [{"text": "c"}]),
        ]
        assert upstream.requests[-1].body["systemInstruction"] == {"parts": [{"text": "s1"}, {"text": "s2"}]}

    async def test_nothing_but_a_system(self, upstream: GeminiServer, model: GeminiClient) -> None:
        assert await self.sent(upstream, model, ask(("system", "s"))) == [("user", [{"text": "[Start]"}])]

    async def test_files(self, upstream: GeminiServer, model: GeminiClient) -> None:
        urls = [f"data:image/jpg;base64,{PIXEL}", "https://example.org/a.png", "https://example.org/files/1", "blob:x"]
        content = [
            *({"type": "image_url", "image_url": {"url": url}} for url in urls),
            {"type": "input_audio", "input_audio": {"data": PIXEL, "format": "mp3"}},
            {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PIXEL}"}},
            {"type": "google", "part": {"fileData": {"fileUri": "u", "mimeType": "video/mp4"}}},
            {"type": "text", "text": "봐"},
        ]
        got = await parts(model, ask(("user", content)))
        assert (upstream.refusals, changed(got)) == ([], ["content"])
        assert upstream.requests[0].body["contents"][0]["parts"] == [
            {"inlineData": {"mimeType": "image/jpeg", "data": PIXEL}},
            {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}},
            {"fileData": {"fileUri": "https://example.org/files/1"}},
            {"inlineData": {"mimeType": "audio/mp3", "data": PIXEL}},
            {"inlineData": {"mimeType": "application/pdf", "data": PIXEL}},
            {"fileData": {"fileUri": "u", "mimeType": "video/mp4"}},
            {"text": "봐"},
        ]

    async def test_calls_results_and_signatures(self, upstream: GeminiServer, model: GeminiClient) -> None:
        def call(number: str, name: str, **more: Any) -> dict[str, Any]:
            return {"id": number, "function": {"name": name, "arguments": '{"dice": 2}'}, **more}

        signed = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
        both = {"tool_calls": [call("call_1", "roll", **signed), call("g7", "look")]}
        plan = PromptPlan(
            (
                Block("user", "굴려", Origin.HISTORY, {"name": "아리아"}),
                Block("assistant", "그럼.", Origin.HISTORY, both),
                Block("tool", '{"n": 7}', Origin.HISTORY, {"tool_call_id": "call_1"}),
                Block("tool", "a wall", Origin.HISTORY, {"tool_call_id": "g7"}),
                Block("assistant", "일곱.", Origin.HISTORY, signed),
                Block("user", "그래서?", Origin.WORDS),
            )
        )
        assert await self.sent(upstream, model, ChatRequest(plan, MODEL)) == [
            ("user", [{"text": "아리아: 굴려"}]),
            (
                "model",
                [
                    {"text": "그럼."},
                    {"functionCall": {"name": "roll", "args": {"dice": 2}}, "thoughtSignature": "c2ln"},
                    {"functionCall": {"id": "g7", "name": "look", "args": {"dice": 2}}},
                ],
            ),
            (
                "user",
                [
                    {"functionResponse": {"name": "roll", "response": {"n": 7}}},
                    {"functionResponse": {"id": "g7", "name": "look", "response": {"result": "a wall"}}},
                ],
            ),
            ("model", [{"text": "일곱.", "thoughtSignature": "c2ln"}]),
            ("user", [{"text": "그래서?"}]),
        ]

    async def test_a_history_cut_between_call_and_result(self, upstream: GeminiServer, model: GeminiClient) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "roll", "arguments": "{"}}
        lone_result = Block("tool", "7", Origin.HISTORY, {"tool_call_id": "c0"})
        lone_call = Block("assistant", "", Origin.HISTORY, {"tool_calls": [call]})
        words = Block("user", "a", Origin.WORDS)
        for order in ((lone_result, lone_call, words), (words, lone_call, words, lone_result), (lone_call,)):
            await parts(model, ChatRequest(PromptPlan(order), MODEL))
            assert upstream.refusals == []
        assert "roll" in upstream.requests[-1].text

    async def test_a_prefill(self, upstream: GeminiServer, model: GeminiClient) -> None:
        said = (("user", "a"), ("assistant", "그녀가"))
        assert (await self.sent(upstream, model, ask(*said)))[-1] == ("model", [{"text": "그녀가"}])
        upstream.then(fails(400, "Please ensure that multiturn requests end with a user role"))
        upstream.then(says("그녀가", " 웃는다."), says("그녀가 웃는다."))
        for _ in range(2):
            got = await parts(model, ask(*said))
            assert (text(got), changed(got)) == (" 웃는다.", ["prefill"])
        assert len(upstream.requests) == 4, "it is learned"


class TestParameters:
    async def test_settings(self, upstream: GeminiServer, model: GeminiClient) -> None:
        form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
        given = {"temperature": 0.9, "top_p": 0.9, "top_k": 40, "seed": 7, "presence_penalty": 0.2, "max_tokens": 300}
        stops = [f"{n}:" for n in range(7)]
        got = await parts(model, ask(**given, stop=stops, response_format=form, min_p=0.1, user="u", logit_bias={}))
        assert upstream.refusals == []
        assert changed(got) == ["min_p", "stop"]
        assert upstream.requests[0].body["generationConfig"] == {
            "temperature": 0.9,
            "topP": 0.9,
            "topK": 40,
            "seed": 7,
            "presencePenalty": 0.2,
            "maxOutputTokens": 300,
            "stopSequences": stops[:5],
            "responseMimeType": "application/json",
            "responseJsonSchema": {"type": "object"},
        }

    async def test_what_says_nothing_is_left_out(self, upstream: GeminiServer, model: GeminiClient) -> None:
        await parts(model, ask(top_k=0, seed=-1, stop=None, response_format={"type": "text"}))
        assert "generationConfig" not in upstream.requests[0].body

    async def test_a_refusal_is_learned_from_once(self, upstream: GeminiServer, model: GeminiClient) -> None:
        for _ in range(2):
            got = await parts(model, ask(model="gemini-3-pro", presence_penalty=0.3, frequency_penalty=0.3))
            assert sorted(changed(got)) == ["frequency_penalty", "presence_penalty"]
        assert len(upstream.refusals) == 1
        own = {"generationConfig": {"mediaResolution": "LOW", "newest": 1}}
        for _ in range(2):
            assert changed(await parts(model, ask(google=own))) == ["newest"]
        assert upstream.requests[-1].body["generationConfig"] == {"mediaResolution": "LOW"}
        assert len(upstream.refusals) == 2

    @pytest.mark.parametrize(
        ("name", "effort", "thinking"),
        [
            (MODEL, None, None),
            (MODEL, "none", {"thinkingBudget": 0}),
            (MODEL, "medium", {"thinkingBudget": 8_192}),
            ("gemini-2.5-pro", "none", {"thinkingBudget": 128}),
            ("gemini-3-pro-preview", "none", {"thinkingLevel": "low"}),
            ("gemini-3-flash", "none", {"thinkingLevel": "minimal"}),
            ("gemini-3-flash", "xhigh", {"thinkingLevel": "high"}),
            ("gemini-3-flash", "so-so", None),
        ],
    )
    async def test_thinking(
        self, upstream: GeminiServer, model: GeminiClient, name: str, effort: str | None, thinking: Any
    ) -> None:
        await parts(model, ask(model=name, reasoning_effort=effort))
        config = upstream.requests[0].body.get("generationConfig", {})
        assert (config.get("thinkingConfig"), upstream.refusals) == (thinking, [])

    async def test_googles_own_words(self, upstream: GeminiServer, model: GeminiClient) -> None:
        safety = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]
        own = {
            "safetySettings": safety,
            "tools": [{"googleSearch": {}}],
            "cachedContent": "cachedContents/1",
            "generationConfig": {"thinkingConfig": {"thinkingBudget": -1}, "responseSchema": {"type": "OBJECT"}},
        }
        form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
        got = await parts(model, ask(google=own, reasoning_effort="high", response_format=form))
        body = upstream.requests[0].body
        assert (upstream.refusals, changed(got)) == ([], ["cachedContent"])
        assert body["generationConfig"] == own["generationConfig"]
        assert (body["safetySettings"], body["tools"]) == (safety, own["tools"])

    async def test_what_googles_openai_api_takes_besides(self, upstream: GeminiServer, model: GeminiClient) -> None:
        beside = {"thinking_config": {"thinkingBudget": 9}, "safety_settings": [{"threshold": "OFF"}]}
        await parts(model, ask(extra_body={"google": beside}))
        body = upstream.requests[0].body
        assert body["generationConfig"] == {"thinkingConfig": {"thinkingBudget": 9}}
        assert body["safetySettings"] == [{"threshold": "OFF"}]


class TestBesideReplies:
    async def test_models(self, upstream: GeminiServer, model: GeminiClient) -> None:
        assert await model.models() == ["narrator-1", "narrator-2"], "those that write"

    async def test_other_requests_go_to_the_openai_api(self, upstream: GeminiServer, model: GeminiClient) -> None:
        passed = await model.pass_on("/embeddings", b"{}", "application/json", None)
        assert json.loads(passed.body) == {"path": "/v1beta/openai/embeddings", "key": f"Bearer {KEY}"}
        headers = {name.lower() for name in upstream.requests[-1].headers}
        assert "x-goog-api-key" not in headers, "Google takes one way to show a key, not two"

    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("tunedModels/mine-1", "/v1beta/tunedModels/mine-1:generateContent"),
            ("models/gemini-3", "/v1beta/models/gemini-3:generateContent"),
            ("../../secret?x=", "/v1beta/models/..%2F..%2Fsecret%3Fx=:generateContent"),
        ],
    )
    async def test_a_name_leads_nowhere_else(self, name: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
        model = await opened(base_url="http://127.0.0.1:9/v1beta/", api_key=KEY)
        seen: list[str] = []

        async def send(request: Any, **_: Any) -> Any:
            seen.append(request.url.raw_path.decode())
            raise OSError("nobody is there")

        monkeypatch.setattr(model.http, "send", send)
        with pytest.raises(UpstreamError, match="cannot reach"):
            await parts(model, ask(model=name), streaming=False)
        assert seen == [path.replace("x=:", "x%3D:")]
        await model.aclose()

    @pytest.mark.parametrize("options", [{"base_url": 3}, {"api_key": 3}, {"dialect": "google"}])
    async def test_bad_options(self, options: dict[str, Any]) -> None:
        with pytest.raises(BadInput):
            await opened(**options)
