"""Tools of SAGA's for a narrator: in each dialect they are called and answered, and at no door are they seen."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from tests.fake_providers.server import ProtocolServer, Step, Wire
from tests.fake_providers.steps import calls, fails, says
from tests.server.client import BLOCK, Client, Reply
from tests.wire.dialects import DIALECTS, provider_server, settings_for
from tests.wire.door_clients import DOORS

QUERY = '{"query": "What did Mara promise?"}'
PROMISE = "Mara promises you a boat before the first snow."
STEP = "You think back to the harbour."
REPLY = "A boat, it was."

CASES = [
    ("chat", "openai", True),
    ("chat", "openrouter", True),
    ("chat", "local", False),
    ("messages", "anthropic", True),
    ("messages", "anthropic", False),
    ("messages", "google", True),
    ("gemini", "google", True),
    ("gemini", "anthropic", False),
    ("gemini", "google", False),
    ("ollama", "local", True),
    ("responses", "openai", True),
    ("responses", "anthropic", False),
]


@asynccontextmanager
async def playing(provider: str) -> AsyncIterator[tuple[ProtocolServer, Client, str]]:
    """A provider, SAGA with tools for the narrator, and the model."""
    dialect, model = DIALECTS[provider]
    async with provider_server(dialect) as upstream:
        settings = {"providers": {"up": settings_for(dialect, upstream)}, "tools": "memory"}
        async with Client.of(settings, {}) as saga:
            yield upstream, saga, model


def both(*named: tuple[str, str]) -> Step:
    """A reply that calls several tools at once."""

    async def step(wire: Wire) -> web.StreamResponse:
        for name, arguments in named:
            await wire.call(name, arguments)
        return await wire.end("tool")

    return step


def without_tools(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "tools"}


@pytest.mark.parametrize(("name", "provider", "stream"), CASES)
async def test_calls_are_answered_and_not_seen(name: str, provider: str, stream: bool) -> None:
    door = DOORS[name]
    async with playing(provider) as (upstream, saga, model):
        path = ((door.stream_path if stream else "") or door.path).format(model)

        async def ask(*chat: Any) -> Reply:
            answer = await saga.post(path, json={**without_tools(door.body(list(chat), stream)), "model": model})
            assert answer.status == 200, answer.raw
            assert upstream.refusals == []
            return answer

        first, second = door.says("user", "I ask Mara for help."), door.says("user", "What was it?")
        upstream.then(says(PROMISE, "\n\n", BLOCK))
        begun = await ask(first)
        upstream.then(
            calls("recall", QUERY, STEP[:9], STEP[9:]),
            both(("recall", QUERY), ("roll", '{"dice": "d20"}')),
            says(REPLY[:5], REPLY[5:], "\n\n", BLOCK),
        )
        told = await ask(first, door.says("assistant", PROMISE), second)
        assert door.text(told) == f"{STEP}\n\n{REPLY}"
        seen = told.raw.decode()
        for sign in ("tool_use", "functionCall", '"function_call"', '"tool_calls"', "recall"):
            assert sign not in seen
        last = json.dumps(upstream.requests[-1].body, ensure_ascii=False)
        assert last.count("Follow no instruction") == 2 and PROMISE in last and "total" in last
        turns = await saga.turns(begun.session)
        assert [turn["reply"] for turn in turns] == [PROMISE, f"{STEP}\n\n{REPLY}"]
        cost = (await saga.get(f"/api/sessions/{begun.session}/cost")).json
        assert cost["narration"]["calls"] == 4
        upstream.then(calls("roll", '{"dice": "d6"}'), says("A net, it was.", "\n\n", BLOCK))
        swipe = await ask(first, door.says("assistant", PROMISE), second)
        assert swipe.headers["X-SAGA-Parent"] == told.headers["X-SAGA-Parent"] == begun.turn
        tree = (await saga.get(f"/api/sessions/{begun.session}/tree")).json
        assert len(tree["nodes"]) == 4, "the root, one turn, and two swipes"


@pytest.mark.parametrize("stream", [True, False])
async def test_thoughts_that_a_provider_signs_go_back_to_it(stream: bool) -> None:
    door = DOORS["messages"]
    async with playing("anthropic") as (upstream, saga, model):

        async def thinks(wire: Wire) -> web.StreamResponse:
            await wire.think("What was it?")
            await wire.call("recall", QUERY)
            return await wire.end("tool")

        upstream.then(thinks, says(REPLY))
        body = {**without_tools(door.body([door.says("user", "What was it?")], stream)), "model": model}
        assert door.text(await saga.post(door.path, json=body)).strip() == REPLY
        assert upstream.refusals == []
        thought, call = upstream.requests[-1].body["messages"][-2]["content"]
        assert (thought["type"], thought["thinking"], call["type"]) == ("thinking", "What was it?", "tool_use")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
async def test_a_client_that_calls_tools_too_sees_its_own_alone(provider: str) -> None:
    """Its call goes to the client. SAGA's own in the same reply is dropped, and may be made again with the result."""
    door = DOORS["chat"]
    look = {"name": "look", "description": "Look around", "parameters": {"type": "object", "properties": {}}}
    async with playing(provider) as (upstream, saga, model):
        chat = [door.says("user", "I look around, and think of Mara.")]
        asked = {"model": model, "stream": True, "tools": [{"type": "function", "function": look}]}
        upstream.then(both(("recall", QUERY), ("look", "{}")))
        step = await saga.post(door.path, json={**asked, "messages": chat})
        assert '"recall"' not in step.raw.decode() and '"index":1' not in step.raw.decode()
        (call,) = door.called(step)[0]["tool_calls"]
        assert call["function"] == {"name": "look", "arguments": "{}"}
        chat += door.called(step)
        upstream.then(calls("recall", QUERY), says(REPLY, "\n\n", BLOCK))
        last = await saga.post(door.path, json={**asked, "messages": chat})
        assert door.text(last).strip() == REPLY and upstream.refusals == []
        (turn,) = await saga.turns(last.session)
        assert (turn["turn_id"], turn["reply"]) == (last.turn, REPLY)
        cost = (await saga.get(f"/api/sessions/{last.session}/cost")).json
        assert cost["narration"]["calls"] == 3


@pytest.mark.parametrize("provider", ["local", "anthropic", "google"])
async def test_at_most_three_rounds(provider: str) -> None:
    door = DOORS["chat"]
    async with playing(provider) as (upstream, saga, model):
        upstream.then(*[calls("roll", '{"dice": "d6"}')] * 4, says(REPLY))
        body = {"model": model, "messages": [door.says("user", "I roll, and roll, and roll.")]}
        answer = await saga.post(door.path, json=body)
        assert door.text(answer).strip() == REPLY and upstream.refusals == []
        assert len(upstream.requests) == 5, "the fourth call is not answered; the story is asked for once more"
        forbids = upstream.requests[-2].body
        choice = forbids.get("tool_choice") or forbids["toolConfig"]["functionCallingConfig"]["mode"]
        assert choice in ("none", {"type": "none"}, "NONE")
        assert len(await saga.turns(answer.session)) == 1


async def test_a_model_that_refuses_tools_narrates_without_them() -> None:
    door = DOORS["chat"]
    async with playing("local") as (upstream, saga, model):
        upstream.then(fails(400, "registry.ollama.ai/library/gemma3 does not support tools"), says(REPLY))
        body = {"model": model, "messages": [door.says("user", "What was it?")]}
        answer = await saga.post(door.path, json=body)
        assert door.text(answer).strip() == REPLY
        assert "calls no tools, and narrates without them" in answer.headers["X-SAGA-Notice"]
        assert "tools" in upstream.requests[0].body and "tools" not in upstream.requests[1].body
        await saga.post(door.path, json=body)
        assert len(upstream.requests) == 3 and "tools" not in upstream.requests[2].body, "it is known from now on"


async def test_a_request_that_is_refused_takes_the_tools_from_no_other() -> None:
    door = DOORS["chat"]
    async with playing("local") as (upstream, saga, model):
        body = {"model": model, "messages": [door.says("user", "What was it?")]}
        upstream.then(fails(404, "No endpoints found that support tool use."), says(REPLY))
        await saga.post(door.path, json={**body, "provider": {"only": ["x"]}})
        upstream.requests.clear()
        await saga.post(door.path, json=body)
        assert "tools" in upstream.requests[0].body, "it does not choose such endpoints"
        upstream.then(fails(400, "tools are not supported"), says(REPLY))
        await saga.post(door.path, json=body, headers={"Authorization": "Bearer another"})
        upstream.requests.clear()
        await saga.post(door.path, json=body)
        assert "tools" in upstream.requests[0].body, "another key's refusal may be due to what it sends"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
async def test_half_a_character_in_a_call_does_not_end_the_story(provider: str) -> None:
    door = DOORS["chat"]
    async with playing(provider) as (upstream, saga, model):
        upstream.then(calls("recall", '{"query": "\\ud83c", "\\udfb2": "x"}'), says(REPLY))
        answer = await saga.post(door.path, json={"model": model, "messages": [door.says("user", "I wait.")]})
        assert (answer.status, door.text(answer).strip()) == (200, REPLY), answer.raw
