"""A narrator that reports by calling SAGA's tool: the call is read, and the client never sees it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, says

SAID = "Mara gives you a brass lantern, and the mill wheel turns."
REPORT = {"place": "mill", "here": ["Mara"], "dead": [], "hp": 0, "money_left": None, "lost": []}
REPORT |= {"got": [{"thing": "brass lantern", "count": 1}]}


def call(arguments: str | None = None, index: int = 0) -> dict[str, Any]:
    """A call of SAGA's tool."""
    said = json.dumps(REPORT) if arguments is None else arguments
    return {
        "index": index,
        "id": f"c{index}",
        "type": "function",
        "function": {"name": "saga_report", "arguments": said},
    }


@pytest.fixture
async def client(serve: Serve, upstream: Upstream) -> AsyncIterator[Client]:
    provider = {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}
    extraction = {"reporting": "tool", "automatic": "never"}
    async with serve(providers={"openai": provider}, extraction=extraction) as found:
        yield found


@pytest.mark.parametrize("streaming", [False, True])
async def test_the_call_is_read_and_not_shown(client: Client, upstream: Upstream, streaming: bool) -> None:
    upstream.then(says(SAID, extra={"tool_calls": [call()]}, finish="tool_calls"))
    told = await client.chat(words("I go to the mill."), stream=streaming)
    assert (told.streamed() if streaming else told.text) == SAID
    assert "saga_report" not in told.raw.decode()
    assert '"stop"' in told.raw.decode()
    (sent,) = upstream.requests
    assert [tool["function"]["name"] for tool in sent.body["tools"]] == ["saga_report"]
    assert "```state" not in sent.text
    state = (await client.get(f"/api/sessions/{told.session}/state")).json
    assert (state["location"], state["npcs_present"]) == ("mill", ["Mara"])
    assert "brass lantern" in [each["name"] for each in state["inventory"]]


async def test_the_tools_of_the_client_stay_its_own(client: Client, upstream: Upstream) -> None:
    roll = {"type": "function", "function": {"name": "roll", "parameters": {"type": "object", "properties": {}}}}
    own = {"index": 1, "id": "r1", "type": "function", "function": {"name": "roll", "arguments": "{}"}}
    upstream.then(says(SAID, extra={"tool_calls": [call(), own]}, finish="tool_calls"))
    told = await client.chat(words("I roll."), tools=[roll])
    (sent,) = upstream.requests
    assert [tool["function"]["name"] for tool in sent.body["tools"]] == ["roll", "saga_report"]
    (choice,) = told.json["choices"]
    assert [each["function"]["name"] for each in choice["message"]["tool_calls"]] == ["roll"]
    assert choice["finish_reason"] == "tool_calls"


async def test_a_call_alone_is_asked_again_and_counts(client: Client, upstream: Upstream) -> None:
    upstream.then(says("", extra={"tool_calls": [call()]}, finish="tool_calls"), says(SAID))
    told = await client.chat(words("I go to the mill."))
    assert told.text == SAID
    assert "tools" not in upstream.requests[1].body
    state = (await client.get(f"/api/sessions/{told.session}/state")).json
    assert state["npcs_present"] == ["Mara"]


async def test_arguments_that_cannot_be_read_are_a_missing_report(client: Client, upstream: Upstream) -> None:
    upstream.then(says(SAID, extra={"tool_calls": [call('{"place": ')]}, finish="tool_calls"))
    told = await client.chat(words("I go to the mill."))
    turn = (await client.get(f"/api/sessions/{told.session}/turns/{told.turn}")).json
    assert turn["status"] == "fallback"
