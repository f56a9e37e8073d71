"""Ollama's API as a door: requests as its clients send them, and providers of other wires behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.fake_providers.server import ProtocolServer
from tests.fake_providers.steps import calls, errors, fails, says
from tests.server.client import BLOCK, Client, Reply
from tests.wire.dialects import DIALECTS, provider_server, settings_for
from tests.wire.text_server import TextServer

REPLY = "She lifts the lamp to your face and waits for a name."


@asynccontextmanager
async def staged(case: str) -> AsyncIterator[tuple[Client, ProtocolServer, str]]:
    dialect, model = DIALECTS[case]
    async with (
        provider_server(dialect) as upstream,
        Client.of({"providers": {"up": settings_for(dialect, upstream)}}, {}) as saga,
    ):
        yield saga, upstream, model


@asynccontextmanager
async def before_ollama() -> AsyncIterator[tuple[Client, TextServer]]:
    async with (
        TextServer(kind="ollama", lenient=True) as upstream,
        Client.of({"providers": {"local": {"base_url": upstream.url, "max_retries": 0}}}, {}) as saga,
    ):
        yield saga, upstream


def said(*texts: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


def lines(answer: Reply) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.raw.split(b"\n") if line]


@pytest.mark.parametrize(("case", "stream"), [("local", True), ("local", False), ("anthropic", True)])
async def test_a_chat_is_one_session(case: str, stream: bool) -> None:
    async with staged(case) as (saga, upstream, model):
        upstream.then(says(REPLY[:20], REPLY[20:], "\n\n" + BLOCK, finish="length"))
        asked = {
            "model": model,
            "options": {"num_predict": 300, "stop": ["\nAlex:"], "num_ctx": 16_384, "top_p": 1},
            "keep_alive": "5m",
            **({} if stream else {"stream": False}),
        }
        first = await saga.post("/api/chat", json={"messages": said("I came by the river road."), **asked})
        told = lines(first)
        assert "".join(line["message"]["content"] for line in told).strip() == REPLY
        assert [line["done"] for line in told] == [False] * (len(told) - 1) + [True]
        assert (told[-1]["done_reason"], told[-1]["eval_count"]) == ("length", 20)
        assert upstream.refusals == []
        sent = upstream.requests[-1].body
        assert sent["stop_sequences" if case == "anthropic" else "stop"] == ["\nAlex:"]
        more = said("I came by the river road.", REPLY, "I show the brass key.")
        await saga.post("/api/chat/", json={"messages": more, **asked})
        path = await saga.turns(first.session)
        assert [turn["user"] for turn in path] == ["I came by the river road.", "I show the brass key."]
        assert (await saga.get(f"/api/sessions/{first.session}/state")).json["location"] == "어둠의 숲"


@pytest.mark.parametrize("stream", [True, False])
async def test_thoughts_tools_and_pictures_pass(stream: bool) -> None:
    async with staged("local") as (saga, upstream, model):
        tool = {"type": "function", "function": {"name": "roll", "description": "dice", "parameters": {}}}
        asked = {"model": model, "tools": [tool], "stream": stream}
        upstream.then(says(REPLY, thoughts=("Hm.",)), calls("roll", '{"sides": 20}', "Let me see."))
        first = lines(await saga.post("/api/chat", json={"messages": said("I knock."), **asked}))
        assert "".join(line["message"].get("thinking", "") for line in first) == "Hm."
        called = lines(await saga.post("/api/chat", json={"messages": said("I roll the dice."), **asked}))
        (call,) = [each for line in called for each in line["message"].get("tool_calls", ())]
        assert call["function"] == {"name": "roll", "arguments": {"sides": 20}}
        result = [
            {"role": "user", "content": "I roll the dice.", "images": ["/9j/aGVsbG8="]},
            {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
            {"role": "tool", "tool_name": "roll", "content": "17"},
        ]
        await saga.post("/api/chat", json={"messages": result, **asked})
        assert upstream.refusals == []
        *_, asking, calling, told = upstream.requests[-1].body["messages"]
        assert {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/aGVsbG8="}} in asking["content"]
        assert told["tool_call_id"] == calling["tool_calls"][0]["id"]


async def test_a_prompt_without_a_template_is_a_chat() -> None:
    async with staged("openai") as (saga, upstream, model):
        upstream.then(says(REPLY, "\n\n" + BLOCK))
        body = {"model": model, "prompt": "I knock at the gate.", "system": "Ysolde keeps it.", "stream": False}
        answer = (await saga.post("/api/generate", json=body)).json
        assert (answer["response"].strip(), answer["done_reason"]) == (REPLY, "stop")
        sent = upstream.requests[-1].body["messages"]
        assert sent[0] == {"role": "system", "content": "Ysolde keeps it."}
        assert sent[-1]["content"].endswith("I knock at the gate.")
        assert (await saga.post("/api/generate", json={"model": model})).json["done_reason"] == "load"
        assert (await saga.post("/api/chat", json={"model": model})).json["done_reason"] == "load"


async def test_sagas_own_paths_are_where_they_were() -> None:
    async with Client.of({}, {}) as saga:
        for path in ("/api/status", "/api/sessions", "/api/jobs"):
            assert (await saga.get(path)).status == 200
        assert (await saga.get("/api/tags")).json["models"][0]["name"] == "saga-offline"
        assert "version" in (await saga.get("/api/version")).json
        assert (await saga.get("/api/ps")).json == {"models": []}
        assert (await saga.post("/api/show", json={"model": "x"})).json["capabilities"]
        refused = await saga.post("/api/embed", json={"model": "x", "input": "y"})
        assert (refused.status, list(refused.json)) == (501, ["error"])


async def test_what_ollama_knows_it_is_asked() -> None:
    async with before_ollama() as (saga, _):
        assert (await saga.get("/api/tags")).json["models"][0]["name"] == "mock:7b"
        assert (await saga.get("/s/mine/api/version")).json == {"version": "0.99.1"}
        assert (await saga.post("/api/show", json={"model": "mock:7b"})).json["template"] == "{{ .Prompt }}"
        assert (await saga.post("/api/embed", json={"model": "m", "input": "y"})).json == {"embeddings": [[0.5]]}
        assert (await saga.get("/api/ps")).json == {"models": []}, "a server that has none"


BAD: list[tuple[Any, ...]] = [
    ("/api/chat", {"messages": [{"role": "owner", "content": "x"}]}, "messages[0].role"),
    ("/api/chat", {"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
    ("/api/chat", {"messages": [{"role": "user", "images": "x"}]}, "messages[0].images"),
    ("/api/generate", {"prompt": "x", "suffix": "y"}, "suffix"),
    ("/api/generate", {"prompt": "x", "template": "{{ .Prompt }}"}, "raw: true"),
    ("/api/generate", {"raw": True, "prompt": 7}, "prompt"),
    ("/api/generate", [], "object"),
]


async def test_bad_requests_are_told_in_the_shape_of_the_api() -> None:
    async with Client.of({}, {}) as saga:
        for path, body, words in BAD:
            answer = await saga.post(path, json=body)
            assert (answer.status, list(answer.json)) == (400, ["error"])
            assert words in answer.json["error"]


async def test_failures_are_told() -> None:
    async with staged("openai") as (saga, upstream, model):
        upstream.then(fails(429, "slow down"), errors("The rain "))
        body = {"model": model, "messages": said("I wait for the rain to end.")}
        first = await saga.post("/api/chat", json=body)
        assert (first.status, "slow down" in first.json["error"]) == (429, True)
        broken = lines(await saga.post("/api/chat", json=body))
        assert broken[0]["message"]["content"] == "The rain"
        assert "Overloaded" in broken[-1]["error"]
    async with before_ollama() as (saga, ollama):
        ollama.then(errors("The rain "))
        raw = {"model": "m", "raw": True, "prompt": "[INST] I wait. [/INST]", "options": {"stop": ["[INST]"]}}
        assert "Overloaded" in lines(await saga.post("/api/generate", json=raw))[-1]["error"]
