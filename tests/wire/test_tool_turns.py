"""A client's tools: call, result and final reply are one turn of several calls to the model, at every door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from saga_core.language import language_of
from tests.fake_providers.server import Step
from tests.fake_providers.steps import calls, says
from tests.server.client import BLOCK, Client, Reply
from tests.wire.dialects import DIALECTS, provider_server, settings_for
from tests.wire.door_clients import DOORS, OPENAI_TOOLS

STEP = "She shakes the cup and lets the die fall."
REPLY = "The die stops at seventeen. The gate creaks open before you."
ARGUMENTS = '{"sides": 20}'


def steps() -> tuple[Step, ...]:
    """Two calls one after the other, then the reply; the first call comes with prose, and with a block too early."""
    early = calls("roll", ARGUMENTS, STEP[:20], STEP[20:], "\n\n", BLOCK.replace("어둠의 숲", "nowhere"))
    return early, calls("look", "{}"), says(REPLY[:9], REPLY[9:], "\n\n", BLOCK)


CASES = [
    ("chat", "openai", True),
    ("chat", "local", False),
    ("messages", "anthropic", True),
    ("messages", "anthropic", False),
    ("gemini", "google", True),
    ("gemini", "local", False),
    ("ollama", "local", True),
    ("ollama", "openai", False),
    ("responses", "openai", True),
    ("responses", "local", False),
]


@pytest.mark.parametrize(("name", "provider", "stream"), CASES)
async def test_calls_results_and_the_reply_are_one_turn(name: str, provider: str, stream: bool) -> None:
    door, (dialect, model) = DOORS[name], DIALECTS[provider]
    path = ((door.stream_path if stream else "") or door.path).format(model)
    async with (
        provider_server(dialect) as upstream,
        Client.of({"providers": {"up": settings_for(dialect, upstream)}}, {}) as saga,
    ):
        chat = [door.says("user", "I roll the die at the gate.")]

        async def ask() -> Reply:
            answer = await saga.post(path, json={**door.body(chat, stream), "model": model})
            assert answer.status == 200, answer.raw
            assert upstream.refusals == []
            return answer

        upstream.then(*steps())
        first = await ask()
        assert door.text(first).strip() == STEP
        assert "```" not in door.text(first), "nor is a block shown that comes too early"
        chat += door.called(first)
        second = await ask()
        assert door.text(second).strip() == ""
        chat += door.called(second)
        last = await ask()
        assert door.text(last).strip() == REPLY
        bodies = [upstream.requests[at].body for at in (-3, -2, -1)]
        sent = [body.get("messages") or body["contents"] for body in bodies]
        marked = json.dumps(sent[0])
        assert json.dumps(sent[-1]).startswith(marked[: marked.rindex("I roll the die")]), "the same prompt, and more"
        told = language_of("en").request.tools
        assert told in upstream.requests[-1].text
        assert len({answer.session for answer in (first, second, last)}) == 1
        (turn,) = await saga.turns(last.session)
        assert (turn["user"], turn["reply"], turn["turn_id"]) == ("I roll the die at the gate.", REPLY, last.turn)
        state = (await saga.get(f"/api/sessions/{last.session}/state")).json
        assert state["location"] == "어둠의 숲", "of the last block"
        cost = (await saga.get(f"/api/sessions/{last.session}/cost")).json
        assert cost["narration"]["calls"] == 3
        assert (await saga.get("/api/sessions")).json["sessions"] != []
        assert len((await saga.get("/api/sessions?fleeting=all")).json["sessions"]) == 1
        swipe = await ask()
        assert swipe.headers["X-SAGA-Parent"] == last.headers["X-SAGA-Parent"]
        chat += [door.says("assistant", REPLY), door.says("user", "I step through.")]
        following = await ask()
        assert following.headers["X-SAGA-Parent"] == last.turn
        chat = [
            door.says("user", "I roll the die at the gate."),
            door.says("assistant", REPLY),
            door.says("user", "I turn back."),
        ]
        assert (await ask()).headers["X-SAGA-Parent"] == last.turn, "also where the client keeps no calls"


async def test_a_call_that_is_open_when_the_server_stops(tmp_path: Path) -> None:
    """Its result comes to the next server, and the chat of which nothing is recorded yet goes on in its session."""
    dialect, model = DIALECTS["local"]
    door = DOORS["chat"]
    chat = [door.says("assistant", "The gate lamp hisses."), door.says("user", "I roll the die at the gate.")]
    async with provider_server(dialect) as upstream:
        storage = {"profile": "lite", "path": str(tmp_path / "data")}
        settings = {"providers": {"up": settings_for(dialect, upstream)}, "storage": storage}
        upstream.then(calls("roll", ARGUMENTS, STEP), says(REPLY, "\n\n", BLOCK))
        async with Client.of(settings, {}) as saga:
            step = await saga.post(door.path, json={**door.body(chat, False), "model": model})
        chat += door.called(step)
        async with Client.of(settings, {}) as saga:
            last = await saga.post(door.path, json={**door.body(chat, False), "model": model})
            assert last.session == step.session
            (turn,) = await saga.turns(last.session)
            assert (turn["turn_id"], turn["reply"]) == (last.turn, REPLY)
            cost = (await saga.get(f"/api/sessions/{last.session}/cost")).json
            assert cost["narration"]["calls"] == 2
            assert len((await saga.get("/api/sessions?fleeting=all")).json["sessions"]) == 1


async def test_without_tools_nothing_is_said_of_them() -> None:
    dialect, model = DIALECTS["local"]
    async with (
        provider_server(dialect) as upstream,
        Client.of({"providers": {"up": settings_for(dialect, upstream)}}, {}) as saga,
    ):
        words = [{"role": "user", "content": "I roll the die at the gate."}]
        for more in ({}, {"tools": [], "tool_choice": "auto"}, {"tools": OPENAI_TOOLS, "tool_choice": "none"}):
            await saga.post("/v1/chat/completions", json={"model": model, "messages": words, **more})
            assert language_of("en").request.tools not in upstream.requests[-1].text


async def test_the_next_speaker_of_a_group_may_call_tools() -> None:
    """The reply above the call is a known one, and no step of it."""
    dialect, model = DIALECTS["local"]
    async with (
        provider_server(dialect) as upstream,
        Client.of({"providers": {"up": settings_for(dialect, upstream)}}, {}) as saga,
    ):
        door = DOORS["chat"]
        chat = [door.says("user", "Who of you can open this gate?")]
        nudge = {"role": "system", "content": "[Write the next reply only as Bram.]"}
        asked = {"model": model, "tools": OPENAI_TOOLS}
        upstream.then(says("Ysolde shakes her head at the rusty lock.", "\n\n", BLOCK))
        first = await saga.post(door.path, json={"messages": chat, **asked})
        chat += [door.says("assistant", "Ysolde shakes her head at the rusty lock.")]
        upstream.then(calls("roll", ARGUMENTS), says(REPLY, "\n\n", BLOCK))
        called = await saga.post(door.path, json={"messages": [*chat, nudge], **asked})
        chat += door.called(called)
        last = await saga.post(door.path, json={"messages": [*chat, nudge], **asked})
        assert last.headers["X-SAGA-Parent"] == first.turn
        path = await saga.turns(first.session)
        assert [turn["reply"] for turn in path] == ["Ysolde shakes her head at the rusty lock.", REPLY]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", ["chat", "messages", "responses"])
async def test_the_result_of_a_call_may_be_a_list_of_parts(name: str, count: int) -> None:
    texts = ["seventeen", "of twenty"][:count]
    result = [{"type": "input_text" if name == "responses" else "text", "text": text} for text in texts]
    call = {"id": "c1", "type": "function", "function": {"name": "roll", "arguments": ARGUMENTS}}
    shown: dict[str, list[dict[str, object]]] = {
        "chat": [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": result},
        ],
        "messages": [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "roll", "input": {"sides": 20}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": result}]},
        ],
        "responses": [
            {"type": "function_call", "call_id": "c1", "name": "roll", "arguments": ARGUMENTS},
            {"type": "function_call_output", "call_id": "c1", "output": result},
        ],
    }
    door, (dialect, model) = DOORS[name], DIALECTS["openai"]
    async with (
        provider_server(dialect) as upstream,
        Client.of({"providers": {"up": settings_for(dialect, upstream)}}, {}) as saga,
    ):
        upstream.then(says(REPLY, "\n\n", BLOCK))
        chat = [door.says("user", "I roll the die at the gate."), *shown[name]]
        answer = await saga.post(door.path.format(model), json={**door.body(chat, False), "model": model})
        assert answer.status == 200, answer.raw
        (sent,) = [each for each in upstream.requests[-1].body["messages"] if each["role"] == "tool"]
        assert all(text in json.dumps(sent["content"]) for text in texts)
