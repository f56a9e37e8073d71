"""A prompt that is longer than the context is sent again without the oldest messages, or the error says what helps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.client import Client
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, fails, says

SAID = "Mara gives you a brass lantern, and the mill wheel turns."
REFUSED = "the prompt has 9731 tokens and the context 8192"


def long_chat(turns: int = 60) -> list[dict[str, Any]]:
    chat: list[dict[str, Any]] = [{"role": "system", "content": "A tale of the mill."}]
    for number in range(turns):
        chat.append({"role": "user", "content": f"I ask about the {number}th sack of flour."})
        chat.append({"role": "assistant", "content": f"Mara weighs sack {number}. " + "The wheel turns slowly. " * 25})
    return [*chat, {"role": "user", "content": "I leave."}]


@pytest.mark.parametrize("streaming", [False, True])
async def test_it_is_sent_again_and_the_size_is_learned(client: Client, upstream: Upstream, streaming: bool) -> None:
    upstream.then(fails(400, REFUSED), says(SAID), says(SAID))
    told = await client.chat(long_chat(), stream=streaming)
    assert (told.streamed() if streaming else told.text) == SAID
    first, again = upstream.requests
    assert len(again.messages) < len(first.messages)
    assert "I leave." in again.messages[-1]["content"]
    await client.chat([*long_chat(), {"role": "assistant", "content": SAID}, {"role": "user", "content": "And on."}])
    assert len(upstream.requests) == 3, "the next one is short enough at once"
    status = (await client.get("/api/status")).json
    assert any("prompts of" in each for each in status["narrators"])


async def test_a_size_that_one_request_was_refused_for_shortens_no_other(client: Client, upstream: Upstream) -> None:
    upstream.otherwise = says(SAID)
    await client.chat(long_chat())
    whole = len(upstream.requests[-1].messages)
    fields: dict[str, Any]
    for fields, key in (({"provider": {"only": ["x"]}}, "one"), ({}, "another")):
        upstream.then(fails(400, "This endpoint's maximum context length is 100 tokens"), says(SAID))
        await client.chat(long_chat(), headers={"Authorization": f"Bearer {key}"}, **fields)
    await client.chat(long_chat())
    assert len(upstream.requests[-1].messages) == whole


async def test_one_that_stays_too_long_says_what_helps(client: Client, upstream: Upstream) -> None:
    upstream.then(fails(400, REFUSED), fails(400, REFUSED))
    told = await client.chat(long_chat())
    assert told.status == 400
    assert "9731" in told.raw.decode() and "token_budget.total_context_max" in told.raw.decode()


async def test_a_short_one_that_is_refused_says_what_helps(client: Client, upstream: Upstream) -> None:
    upstream.then(fails(400, REFUSED))
    told = await client.chat([{"role": "user", "content": "I leave."}])
    assert told.status == 400 and "token_budget.total_context_max" in told.raw.decode()
    assert len(upstream.requests) == 1


async def test_another_model_is_asked_if_the_shorter_one_fails(serve: Serve, upstream: Upstream) -> None:
    async with Upstream() as spare:
        spare.otherwise = says("The spare tells.")
        providers = {
            "openai": {"base_url": upstream.url, "api_key": "k", "max_retries": 0},
            "spare": {"base_url": spare.url, "api_key": "k"},
        }
        async with serve(providers=providers, models={"fallback": ["spare/second"]}) as client:
            upstream.then(fails(400, REFUSED), fails(503, "busy"))
            told = await client.chat(long_chat())
            assert told.text == "The spare tells."
