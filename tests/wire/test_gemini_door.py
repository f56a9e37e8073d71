"""Gemini's API as a door: requests as its SDK and SillyTavern send them, and providers of three wires behind it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fake_providers.server import ProtocolServer
from tests.fake_providers.steps import calls, errors, fails, hangs, raw, says
from tests.server.client import BLOCK, Client, Reply, words
from tests.wire.dialects import DIALECTS, OLDER, provider_server, settings_for

RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "providers"
PROVIDERS = ("google", "anthropic", "local", "google-openai")
REPLY = "She lifts the lamp to your face and waits for a name."
PATH = "/v1beta/models/{}:{}"


@asynccontextmanager
async def staged(case: str, **sections: Any) -> AsyncIterator[tuple[Client, ProtocolServer, str]]:
    dialect, model = {**DIALECTS, **OLDER}[case]
    async with provider_server(dialect) as upstream:
        settings = {"providers": {"up": settings_for(dialect, upstream)}, **sections}
        async with Client.of(settings, {}) as saga:
            yield saga, upstream, model


def said(*texts: str) -> list[dict[str, Any]]:
    roles = ("user", "model")
    return [{"role": roles[at % 2], "parts": [{"text": text}]} for at, text in enumerate(texts)]


def parts(answer: Reply) -> list[dict[str, Any]]:
    """The parts of the first candidate, of an object, a list of objects, or events."""
    return [
        part
        for chunk in chunks(answer.raw)
        for candidate in chunk.get("candidates", ())
        for part in candidate["content"]["parts"]
    ]


def chunks(raw: bytes) -> list[dict[str, Any]]:
    if raw.startswith(b"data:"):
        events = [event for event in raw.decode().split("\r\n\r\n") if event]
        assert all(event.startswith("data: ") for event in events)
        return [json.loads(event.removeprefix("data: ")) for event in events]
    found = json.loads(raw)
    return found if isinstance(found, list) else [found]


def text(answer: Reply) -> str:
    return "".join(part.get("text", "") for part in parts(answer) if not part.get("thought"))


VERBS = ["generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent", "generateContent"]


@pytest.mark.parametrize(("case", "verb"), list(zip(PROVIDERS, VERBS, strict=True)))
async def test_a_chat_is_one_session(case: str, verb: str) -> None:
    async with staged(case) as (saga, upstream, model):
        path = PATH.format(model, verb)
        upstream.then(says(REPLY[:20], REPLY[20:], "\n\n" + BLOCK, finish="length"))
        asked: dict[str, Any] = {
            "systemInstruction": {"parts": [{"text": "Ysolde keeps"}, {"text": "the gate."}]},
            "generationConfig": {"maxOutputTokens": 300, "stopSequences": ["\nAlex:"], "topP": 0.9},
            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
        }
        first = await saga.post(path, json={"contents": said("I came by the river road."), **asked})
        assert (first.status, text(first).strip()) == (200, REPLY)
        last = chunks(first.raw)[-1]
        assert last["candidates"][0]["finishReason"] == "MAX_TOKENS"
        assert last["usageMetadata"]["totalTokenCount"] > 0
        assert b"```" not in first.raw
        assert ("safetySettings: left out" in first.headers.get("X-SAGA-Notice", "")) == (case != "google")
        assert upstream.refusals == []
        sent = upstream.requests[-1].body
        if case == "google":
            assert sent["safetySettings"] == asked["safetySettings"]
            sent = sent["generationConfig"]
            sent = {**sent, "stop": sent["stopSequences"], "max_tokens": sent["maxOutputTokens"]}
        assert sent["stop_sequences" if case == "anthropic" else "stop"] == ["\nAlex:"]
        assert sent["max_tokens"] >= 500, "room for the block"
        assert "Ysolde keeps\\n\\nthe gate." in upstream.requests[-1].text
        more = said("I came by the river road.", REPLY, "I show the brass key.")
        await saga.post(path, json={"contents": more, **asked})
        path_ = await saga.turns(first.session)
        assert [turn["user"] for turn in path_] == ["I came by the river road.", "I show the brass key."]
        assert (await saga.get(f"/api/sessions/{first.session}/state")).json["location"] == "어둠의 숲"


@pytest.mark.parametrize(("case", "verb"), list(zip(PROVIDERS, VERBS, strict=True)))
async def test_thoughts_and_tools_pass(case: str, verb: str) -> None:
    async with staged(case) as (saga, upstream, model):
        path = PATH.format(model, verb)
        schema = {"type": "OBJECT", "properties": {"sides": {"type": "INTEGER"}}}
        tools = {"tools": [{"functionDeclarations": [{"name": "roll", "description": "dice", "parameters": schema}]}]}
        upstream.then(says(REPLY, thoughts=("Hm, ", "a gate.")), calls("roll", '{"sides": 20}', "Let me see."))
        thinking = parts(await saga.post(path, json={"contents": said("I knock at the gate."), **tools}))
        assert "".join(part["text"] for part in thinking if part.get("thought")) == "Hm, a gate."
        told = await saga.post(path, json={"contents": said("I roll the dice."), **tools})
        (call,) = [part["functionCall"] for part in parts(told) if "functionCall" in part]
        assert (call["name"], call["args"], text(told).strip()) == ("roll", {"sides": 20}, "Let me see.")
        assert chunks(told.raw)[-1]["candidates"][0]["finishReason"] == "STOP"
        result = [
            *said("I roll the dice."),
            {"role": "model", "parts": parts(told)},
            {"role": "user", "parts": [{"functionResponse": {"name": "roll", "response": {"result": 17}}}]},
        ]
        await saga.post(path, json={"contents": result, **tools})
        assert upstream.refusals == []
        sent = upstream.requests[-1].body
        assert "17" in json.dumps(sent.get("messages") or sent["contents"])
        if case == "google":
            assert sent["tools"] == tools["tools"], "as they came"
            return
        schemas = [tool.get("input_schema") or tool["function"]["parameters"] for tool in sent["tools"]]
        assert schemas == [{"type": "object", "properties": {"sides": {"type": "integer"}}}]


async def test_pictures_and_signatures_pass() -> None:
    async with staged("local") as (saga, upstream, model):
        call = {"functionCall": {"name": "roll", "args": {}}, "thoughtSignature": "c2ln"}
        contents = [
            {"parts": [{"inline_data": {"mime_type": "image/png", "data": "aGVsbG8="}}, {"text": "I show you this."}]},
            {"role": "model", "parts": [call]},
            {"role": "function", "parts": [{"functionResponse": {"name": "roll", "response": {"result": 3}}}]},
        ]
        answer = await saga.post(PATH.format(model, "generateContent"), json={"contents": contents})
        assert answer.status == 200, answer.raw
        sent = upstream.requests[-1].body["messages"][-3:]
        assert {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}} in sent[0]["content"]
        assert sent[1]["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "c2ln"}}
        assert sent[2]["tool_call_id"] == sent[1]["tool_calls"][0]["id"]


async def test_nothing_is_lost_before_a_provider_of_the_same_shape() -> None:
    """Files, tools that run at Google, settings, signatures; and on the way back what Google tells of a reply."""
    video = {"fileData": {"fileUri": "https://files.example/1", "mimeType": "video/mp4"}}
    code, ran = {"executableCode": {"language": "PYTHON", "code": "1+1"}}, {"codeExecutionResult": {"output": "2"}}
    body = {
        "contents": [
            *said("I came by the river road."),
            {"role": "model", "parts": [code, ran, {"text": REPLY, "thoughtSignature": "c2ln"}]},
            {"role": "user", "parts": [video, {"text": "I show the brass key."}]},
        ],
        "tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "roll", "behavior": "BLOCKING"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["roll", "look"]}},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
        "generationConfig": {"thinkingConfig": {"thinkingBudget": -1}, "mediaResolution": "MEDIA_RESOLUTION_LOW"},
    }

    def grounding(**words: str) -> dict[str, Any]:
        segment = {"startIndex": 4, "endIndex": 99, **words}
        return {"webSearchQueries": ["salt gates"], "groundingSupports": [{"segment": segment}, "no support"]}

    found = {"groundingMetadata": grounding(), "safetyRatings": [{"probability": "LOW"}]}
    quoted = {**found, "groundingMetadata": grounding(text=BLOCK)}

    def told(*shown: Any, **about: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": list(shown), "role": "model"}, "index": 0, **about}]}

    replied = told({"text": "The key turns."}, code, {"text": "", "thoughtSignature": "c2ln"})
    ended = told({"text": "\n\n" + BLOCK}, finishReason="RECITATION", finishMessage="too much", **quoted)
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    async with staged("google") as (saga, upstream, model):
        for verb in VERBS[:3]:
            listed = [replied, ended]
            events = b"".join(b"data: %s\r\n\r\n" % json.dumps(each).encode() for each in listed)
            whole = raw(json.dumps(listed).encode(), "application/json")
            upstream.then(whole if verb == "generateContent" else raw(events))
            answer = await saga.post(PATH.format(model, verb), json=body)
            assert answer.status == 200, answer.raw
            assert b"```" not in answer.raw
            shown = parts(answer)
            assert text(answer).strip() == "The key turns."
            assert code in shown and {"text": "", "thoughtSignature": "c2ln"} in shown
            candidate = chunks(answer.raw)[-1]["candidates"][0]
            assert (candidate["finishReason"], candidate["finishMessage"]) == ("RECITATION", "too much")
            assert {name: candidate[name] for name in found} == found
            sent = upstream.requests[-1].body
            assert {name: sent[name] for name in ("tools", "toolConfig", "safetySettings")} == {
                name: body[name] for name in ("tools", "toolConfig", "safetySettings")
            }
            assert sent["generationConfig"] == body["generationConfig"]
            history = [part for content in sent["contents"] for part in content["parts"]]
            for part in (code, ran, video, {"text": REPLY, "thoughtSignature": "c2ln"}):
                assert part in history
            upstream.then(raw(json.dumps(blocked).encode(), "application/json"))
            refused = chunks((await saga.post(PATH.format(model, verb), json=body)).raw)[-1]
            assert refused["promptFeedback"] == blocked["promptFeedback"]
        assert upstream.refusals == []


async def test_the_reasons_of_the_provider_hide_what_players_should_not_see() -> None:
    """A key of another provider, an address and a path, in the fields in which Google says why it stopped."""
    keys = {"server": {"api_keys": ["admin-key-1"], "chat_keys": ["chat-key-1"]}}
    why = "admin-key-1 of http://10.0.0.1:99/v1 in /srv/saga/data.json"
    feedback = {"promptFeedback": {"blockReason": why, "blockReasonMessage": why}}
    candidate = {"content": {"parts": [{"text": "The key turns."}]}, "finishReason": why, "finishMessage": why}
    found = {"citationMetadata": {"citationSources": [{"uri": "https://example.org/a"}]}}
    async with staged("google", **keys) as (saga, upstream, model):
        saga.key = "chat-key-1"
        for told in (feedback, {"candidates": [{**candidate, **found}]}):
            upstream.then(raw(json.dumps(told).encode(), "application/json"))
            for_google = await saga.post(PATH.format(model, VERBS[0]), json={"contents": said("I knock.")})
            upstream.then(raw(json.dumps(told).encode(), "application/json"))
            for_openai = await saga.post("/v1/chat/completions", json={"model": model, "messages": words("I knock.")})
            for answer in (for_google, for_openai):
                assert answer.status == 200 and b"(key) of (address) in (path)" in answer.raw
                assert not [each for each in (b"admin-key", b"10.0.0.1", b"/srv") if each in answer.raw]
        assert b"https://example.org/a" in for_google.raw


BAD: list[tuple[Any, ...]] = [
    ({"contents": []}, "missing or empty"),
    ({"contents": [{"role": "owner", "parts": []}]}, "contents[0].role"),
    ({"contents": [{"role": "user", "parts": 7}]}, "contents[0].parts"),
    ({"contents": [{"parts": [{"executableCode": {}}]}]}, "contents[0].parts[0]"),
    ({"contents": [{"parts": [{"inlineData": {"mimeType": "video/mp4", "data": "eA=="}}]}]}, "is not taken here"),
    ({"contents": said("x"), "tools": [{"googleSearch": {}}]}, "tools[0]"),
    ({"contents": said("x"), "generationConfig": {"candidateCount": 17}}, "1 to 16"),
]


async def test_bad_requests_are_told_in_the_shape_of_the_api() -> None:
    async with Client.of({}, {}) as saga:
        for body, words in BAD:
            answer = await saga.post(PATH.format("gemini", "generateContent"), json=body)
            error = answer.json["error"]
            assert (answer.status, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
            assert words in error["message"]
            assert (await saga.post(PATH.format("gemini", "embedContent"), json=body)).json["error"]["code"] == 501


async def test_failures_are_told() -> None:
    async with staged("google") as (saga, upstream, model):
        upstream.then(fails(429, "slow down"), errors("The rain "), errors("The rain "))
        body = {"contents": said("I wait for the rain to end.")}
        first = await saga.post(PATH.format(model, "generateContent"), json=body)
        assert (first.status, first.json["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
        for verb in VERBS[1:3]:
            broken = chunks((await saga.post(PATH.format(model, verb), json=body)).raw)
            assert broken[0]["candidates"][0]["content"]["parts"] == [{"text": "The rain"}]
            assert "Overloaded" in broken[-1]["error"]["message"]


async def test_the_key_is_in_the_query_or_a_header_and_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key, path = "open-sesame-1", PATH.format("gemini", "generateContent")
    async with Client.of({"server": {"api_keys": [key]}}, {}) as saga:
        body = {"contents": said("I knock.")}
        refused = await saga.post(path, json=body)
        assert (refused.status, refused.json["error"]["status"]) == (401, "UNAUTHENTICATED")
        found = [
            await saga.post(f"/s/x{path}?key={key}", json=body),
            await saga.post(f"/s/x{path}", json=body, headers={"X-Goog-Api-Key": key}),
            await saga.post(f"/s/x{path}", json=body, headers={"Authorization": f"Bearer {key}"}),
        ]
        assert len({answer.session for answer in found}) == 1
        assert (await saga.get(f"/api/status?key={key}")).status == 401, "at this door alone"
        assert (await saga.get(f"/v1/models?key={key}")).status == 401
        assert (await saga.get(f"/v1beta/models/nowhere/at/all?key={key}")).status == 404
        await saga.post(f"{path}?key={key}", data=b"{")
    assert key not in caplog.text


async def test_models_are_listed_as_each_client_reads_them() -> None:
    async with staged("google") as (saga, _, model):
        names = [each["name"] for each in (await saga.get("/v1beta/models?key=k&pageSize=1000")).json["models"]]
        assert names == ["models/narrator-1", "models/narrator-2"]
        google = {"X-Goog-Api-Key": "k"}
        assert (await saga.get("/v1/models/narrator-1", headers=google)).json["name"] == "models/narrator-1"
        listed = (await saga.get("/v1/models", headers={"Anthropic-Version": "2023-06-01"})).json
        assert (listed["data"][0]["type"], listed["has_more"], listed["first_id"]) == ("model", False, "narrator-1")
        assert (await saga.get("/v1/models")).json["data"][0]["object"] == "model"
        assert (await saga.get("/v1/models/narrator-1")).json["id"] == "narrator-1"
        assert "GET /v1/models" in (await saga.get("/v1/models/nobody:7b")).error["message"]
        counted = await saga.post(PATH.format(model, "countTokens"), json={"contents": said("I knock at the gate.")})
        assert counted.json["totalTokens"] > 3


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=f"the recordings of a real client are not at {RECORDINGS}")
async def test_a_recorded_client_plays() -> None:
    """SillyTavern's Google AI Studio: the card stands in the first user message, nudges are the user's."""
    operations = json.loads((RECORDINGS / "gemini.json").read_text("utf-8"))["operations"]
    asked = {each["op"]: each["requests"][-1] for each in operations if each["requests"][-1]["body"]}

    def shown(op: str, later: str) -> str:
        """What a later request shows below what ``op`` sent."""
        contents = asked[later]["body"]["contents"]
        return str(contents[len(asked[op]["body"]["contents"])]["parts"][0]["text"])

    replies = {
        op: shown(op, later)
        for op, later in (("turn", "turn2"), ("swipe", "continue"), ("edit", "impersonate"), ("stream", "stop"))
    }
    begun = shown("stop", "turn_after_stop")
    async with provider_server("google") as upstream:
        settings = {"providers": {"google": settings_for("google", upstream)}}
        async with Client.of(settings, {}) as saga:
            found: dict[str, Reply] = {}
            for op, request in asked.items():
                if op == "stop":
                    upstream.then(hangs(begun))
                    async with saga.request("POST", request["path"], json=request["body"]) as response:
                        await response.content.readuntil(b'"text"')
                        await response.content.readuntil(b"\r\n\r\n")
                    async with asyncio.timeout(5):
                        await upstream.gone.wait()
                    continue
                upstream.then(says(replies.get(op, f"Nothing that would be said twice, for {op}."), "\n\n" + BLOCK))
                found[op] = await saga.post(request["path"], json=request["body"])
                assert found[op].status == 200, found[op].raw
                assert b"```" not in found[op].raw
            assert upstream.refusals == []
            parents = {op: answer.headers["X-SAGA-Parent"] for op, answer in found.items()}
            assert parents["turn2"] == parents["swipe"] == found["turn"].turn
            assert parents["continue"] == found["swipe"].turn
            assert parents["stream"] == found["edit"].turn
            sessions = {found[op].session for op in ("turn", "turn2", "swipe", "edit", "stream", "turn_after_stop")}
            assert len(sessions) == 1
