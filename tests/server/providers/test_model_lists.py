"""Lists of models that no honest provider gives: what is no name is left out, and nothing takes long or fails."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from saga_backends.chat.model_list import LONGEST_MODEL, MOST_MODELS, listed_models
from saga_core.errors import UpstreamError
from saga_server.http import json_answer
from tests.server.conftest import Serve
from tests.server.upstream import Received, Upstream

ODD = [
    *({"id": name} for name in ("", " ", "a\r\nX-Evil: 1", "b\x00c", "\u202eevil", "\x1b]0;x\x07", "\ud800", "\u2028")),
    {"id": "x" * (LONGEST_MODEL + 1)},
    *({"id": value} for value in (5, None, ["x"], {"id": "x"}, True)),
    *({}, 5, None, "x", ["id"]),
]


def test_what_is_no_name_is_left_out() -> None:
    good = [{"id": "한국어 모델"}, {"id": "openai/gpt-5.2:free"}, {"id": "C:\\models\\a b.gguf"}]
    assert listed_models({"data": [*ODD, *good, *good]}, "h") == [each["id"] for each in good]


def test_of_very_many_the_first_are_listed(caplog: pytest.LogCaptureFixture) -> None:
    assert len(listed_models({"data": [{"id": f"m{at}"} for at in range(MOST_MODELS + 5)]}, "h")) == MOST_MODELS
    assert "left out" in caplog.text


@pytest.mark.parametrize("answer", [None, [], "x", 5, {}, {"data": None}, {"data": {"id": "x"}}, {"data": "x"}])
def test_what_is_no_list_is_an_error(answer: Any) -> None:
    with pytest.raises(UpstreamError, match="lists no models"):
        listed_models(answer, "h")


@pytest.mark.parametrize("path", ["/v1/models", "/v1beta/models", "/api/tags", "/v1/models/ok", "/api/status"])
async def test_every_list_of_the_server_stands_it(serve: Serve, upstream: Upstream, path: str) -> None:
    async def answer(request: web.Request, received: Received) -> web.StreamResponse:
        return web.json_response({"data": [*ODD, {"id": "ok"}]})

    upstream.then(*[answer] * 4)
    async with serve(providers={"openai": {"base_url": upstream.url, "api_key": "k", "max_retries": 0}}) as client:
        found = await client.get(path)
    assert found.status == 200
    assert "evil" not in found.raw.decode().lower()


async def test_half_a_character_in_what_is_relayed_is_escaped() -> None:
    answer = await json_answer({"name": "\ud800"})
    assert json.loads(answer.text or "") == {"name": "\ud800"}
