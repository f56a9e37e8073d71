"""A server on this machine is asked at start for the size of its context, and prompts fit at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from saga_core.errors import UpstreamError
from saga_server.providers.context_size import ANY, ask_context_sizes
from tests.server.client import Client
from tests.server.http.test_too_long_prompts import long_chat
from tests.server.upstream import Upstream

ROOT = "http://127.0.0.1:8080"


class Told:
    """A server that answers at some paths."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def json(self, method: str, path: str, body: Any = None) -> Any:
        self.asked.append(f"{method} {path}")
        if path not in self.answers:
            raise UpstreamError("no such path", status=404)
        return self.answers[path]


def models(*found: dict[str, Any]) -> dict[str, Any]:
    return {"/models": {"object": "list", "data": list(found)}}


@pytest.mark.parametrize(
    ("answers", "sizes"),
    [
        (
            {
                **models({"id": "tale.gguf", "meta": {"n_ctx_train": 131_072}}),
                f"{ROOT}/props": {"default_generation_settings": {"n_ctx": 8_192}, "total_slots": 1},
            },
            {ANY: 8_192},
        ),
        (models({"id": "tale", "max_model_len": 16_384}), {"tale": 16_384, ANY: 16_384}),
        (models({"id": "a", "parameters": {"max_seq_len": 8_192}}, {"id": "b"}), {"a": 8_192}),
        (models({"id": "a", "context_length": 131_072, "loaded_context_length": 4_096}, {"id": "b"}), {"a": 4_096}),
        (
            {
                **models({"id": "tale:latest"}, {"id": "saga:7b"}),
                f"{ROOT}/api/tags": {"models": [{"name": "tale:latest"}, {"name": "saga:7b"}]},
                f"{ROOT}/api/ps": {"models": [{"name": "saga:7b", "context_length": 4_096}]},
                f"{ROOT}/api/show": {
                    "parameters": "stop  x\nnum_ctx    8192",
                    "model_info": {"llama.context_length": 9},
                },
            },
            {"tale:latest": 8_192, "tale": 8_192, "saga:7b": 4_096},
        ),
        (models({"id": "a"}), {}),
        (models({"id": "a", "context_length": "many"}, {"id": "b", "context_length": -1}), {}),
        ({"/models": ["x"], f"{ROOT}/props": {"default_generation_settings": [1]}}, {}),
        ({}, {}),
    ],
)
async def test_what_servers_tell(answers: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    assert await ask_context_sizes(Told(answers), f"{ROOT}/v1") == sizes


async def test_a_server_that_is_not_ollama_is_sent_nothing() -> None:
    told = Told({**models({"id": "a"}), f"{ROOT}/api/tags": {"object": "list", "data": []}})
    await ask_context_sizes(told, f"{ROOT}/v1/")
    assert all(each.startswith("GET ") for each in told.asked)


async def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        async def json(self, method: str, path: str, body: Any = None) -> Any:
            await asyncio.Event().wait()

    monkeypatch.setattr("saga_server.providers.context_size._SECONDS", 0.01)
    assert await ask_context_sizes(Silent(), ROOT) == {}


async def test_the_first_prompt_fits(upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream.sizes = {"narrator-1": 4_096}
    sections = {"providers": {"openai": {"base_url": upstream.url, "api_key": "k", "max_retries": 0}}}
    async with Client.of(sections, {}, asks_context_sizes=True) as client:
        async with asyncio.timeout(20):
            while "context of" not in str((await client.get("/api/status")).json["narrators"]):  # noqa: ASYNC110
                await asyncio.sleep(0)
        upstream.requests.clear()
        told = await client.chat(long_chat())
        shown = client.server.narrators.describe()
    assert told.status == 200
    (request,) = upstream.requests
    assert len(request.text) < 4 * 4_096
    assert "narrator-1: 4,096 tokens" in str(shown)
