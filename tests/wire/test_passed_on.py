"""What is no story: passed on to the provider as it came, or refused with a sentence."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from aiohttp import ClientSession, FormData, web

from saga_backends.tokens.estimate import EstimateCounter
from saga_core import registry
from saga_core.errors import UpstreamError
from saga_core.registry import OpenOptions
from tests.server.client import Client
from tests.wire.dialects import DIALECTS, provider_server, settings_for


class Provider:
    """Takes what is passed on, and keeps it."""

    def __init__(self) -> None:
        self.bodies: list[tuple[str, str, bytes]] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.bodies.append((request.path, request.headers.get("Authorization", ""), body))
        if request.path.endswith("/speech"):
            return web.Response(body=b"\x00\x01sound", content_type="audio/mpeg")
        if request.path.endswith("/embeddings"):
            asked = json.loads(body)
            data = [{"object": "embedding", "index": 0, "embedding": [0.5, -0.5]}]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return web.json_response({"object": "list", "data": data, "model": asked["model"], "usage": usage})
        if request.path.endswith("/transcriptions"):
            return web.json_response({"text": "hello"})
        return web.json_response({"error": {"message": "no pictures today", "type": "x"}}, status=403)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    found = Provider()
    app = web.Application()
    app.add_routes([web.post("/v1/{rest:.*}", found.answer)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    found.url = f"http://127.0.0.1:{site.port}/v1"
    yield found
    await runner.cleanup()


async def test_it_reaches_the_provider_as_it_came(provider: Provider) -> None:
    settings = {
        "providers": {"up": {"base_url": provider.url, "api_key": "sk-up", "max_retries": 0}},
        "models": {"narration": "up/narrator-1", "aliases": {"vectors": "up/embed-3"}},
    }
    async with (
        Client.of(settings, {}) as saga,
        openai.AsyncOpenAI(base_url=f"{saga.server.url}/v1", api_key="mine", max_retries=0) as sdk,
    ):
        found = await sdk.embeddings.create(model="vectors", input="the gate", encoding_format="float")
        assert (found.data[0].embedding, found.model) == ([0.5, -0.5], "embed-3")
        assert (await sdk.audio.speech.create(model="tts", voice="alloy", input="the gate")).content == b"\x00\x01sound"
        assert (await sdk.audio.transcriptions.create(model="ears", file=("a.wav", b"RIFF"))).text == "hello"
        with pytest.raises(openai.PermissionDeniedError, match="no pictures today"):
            await sdk.images.generate(model="pictures", prompt="the gate")
        raw = b'{"model": "embed-3",  "input": ["x"]}'
        passed = await saga.post("/s/mine/v1/embeddings/", data=raw, headers={"Content-Type": "application/json"})
        assert "sandbox" in passed.headers["Content-Security-Policy"], "whatever the provider calls it"
        assert (await saga.get("/api/sessions?fleeting=all")).json["sessions"] == [], "no story"
    assert provider.bodies[-1][2] == raw, "byte for byte"
    assert {key for _, key, _ in provider.bodies} == {"Bearer sk-up"}
    assert b'filename="a.wav"' in provider.bodies[2][2]


async def test_what_nobody_has_is_refused_with_a_sentence() -> None:
    async with Client.of({}, {}) as saga:
        refused = await saga.post("/v1/embeddings", json={"model": "embed-3", "input": "x"})
        assert (refused.status, "no provider has a key" in refused.error["message"]) == (400, True)
    dialect, model = DIALECTS["anthropic"]
    async with (
        provider_server(dialect) as upstream,
        Client.of({"providers": {"anthropic": settings_for(dialect, upstream)}}, {}) as saga,
    ):
        refused = await saga.post("/v1/images/generations", json={"model": model, "prompt": "x"})
        assert (refused.status, "takes chats alone" in refused.error["message"]) == (501, True)
        form = FormData({"model": "ears"})
        async with ClientSession(saga.server.url) as http:
            answer = await http.post("/v1/audio/transcriptions", data=form)
            assert answer.status == 501
        assert upstream.requests == []


async def test_tokens_are_counted() -> None:
    async with Client.of({}, {}) as saga:
        tool = {"name": "roll", "input_schema": {"type": "object"}}
        asked: dict[str, Any] = {"model": "claude", "messages": [{"role": "user", "content": "I knock at the gate."}]}
        bare = (await saga.post("/v1/messages/count_tokens", json=asked)).json["input_tokens"]
        more = (await saga.post("/v1/messages/count_tokens", json={**asked, "tools": [tool]})).json["input_tokens"]
        assert 4 < bare < more
        refused = await saga.post("/v1/messages/count_tokens", json={"messages": []})
        assert (refused.status, refused.json["type"]) == (400, "error")


@pytest.mark.parametrize("count", [1, 2_000])
async def test_many_texts_are_counted_beside_the_loop(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text, on_the_loop, inner = "I knock at the gate, and nobody opens it.", set(), EstimateCounter.count

    def counted(self: EstimateCounter, given: str) -> int:
        on_the_loop.add(threading.current_thread() is threading.main_thread())
        return inner(self, given)

    async with Client.of({"token_budget": {"counter": "estimate"}}, {}) as saga:
        monkeypatch.setattr(EstimateCounter, "count", counted)
        one = {"role": "user", "content": text}
        other = {"role": "assistant", "content": text}
        asked = {"model": "claude", "messages": [(one, other)[at % 2] for at in range(count)]}
        found = (await saga.post("/v1/messages/count_tokens", json=asked)).json["input_tokens"]
        assert found == count * (4 + inner(EstimateCounter(), text))
        contents = [{"role": "user", "parts": [{"text": text}]}] * count
        await saga.post("/v1beta/models/gemini:countTokens", json={"contents": contents})
    assert on_the_loop == {count == 1}


async def test_a_form_goes_on_as_it_came(provider: Provider) -> None:
    options = OpenOptions(options={"base_url": provider.url, "api_key": "sk-up"})
    narrator: Any = await registry.load("chat", "openai").open(options)
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n--b--\r\n'
    kind = "multipart/form-data; boundary=b"
    found = await narrator.pass_on("/audio/transcriptions", body, kind, None)
    assert (json.loads(found.body), found.content_type.partition(";")[0]) == ({"text": "hello"}, "application/json")
    assert provider.bodies == [("/v1/audio/transcriptions", "Bearer sk-up", body)]
    with pytest.raises(UpstreamError, match="no pictures today"):
        await narrator.pass_on("/images/generations", b"{}", "application/json", None)
    await narrator.aclose()
