"""What others say, in headers: an answer that was paid for is never lost because of a character in one."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from saga_core.errors import BadInput
from saga_server.http.errors import describe
from saga_server.http.reply_format import header_text
from tests.server.client import words
from tests.server.conftest import Serve
from tests.server.upstream import Received, Upstream


def refuses(message: str) -> Any:
    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        return web.json_response({"error": {"message": message, "type": "server_error"}}, status=500)

    return step


@pytest.mark.parametrize("character", ["\x00", "\x01", "\x0b", "\x1b", "\x7f", "\x85", "\u2028", "한"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_control_character_in_an_error_costs_no_reply(
    serve: Serve, upstream: Upstream, character: str, stream: bool
) -> None:
    upstream.then(refuses(f"over{character}loaded\r\nX-Evil: yes"))
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    models = {"narration": "narrator-1", "fallback": ["narrator-2"]}
    async with serve(providers=providers, models=models) as client:
        reply = await client.chat(words("I go."), stream=stream)
        assert reply.status == 200 and "narrates instead" in reply.headers["X-SAGA-Notice"]
        assert "X-Evil" not in reply.headers
        assert len(await client.turns(reply.session)) == 1


def test_an_error_shows_what_nobody_sees() -> None:
    told = describe(BadInput("name: 'a\u202eb\0c\u2066d\n\te' is wrong")).message
    assert told == "name: 'a\\u202eb\\u0000c\\u2066d\n\te' is wrong"


@given(st.text(max_size=1_000))
def test_it_is_one_line_of_printable_ascii(text: str) -> None:
    found = header_text(text)
    assert found.isascii() and (found.isprintable() or not found) and len(found) <= 400
