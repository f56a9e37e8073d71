"""A client's tools: call, result and final reply are one turn of several calls to the model, at every door."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import frozen

from saga_core.language import language_of
from saga_server.bench.protocols.server import Step
from saga_server.bench.protocols.steps import calls, says
from tests.server.client import BLOCK, Client, Reply
from tests.wire.dialects import DIALECTS, provider_server, settings_for

STEP = "She shakes the cup and lets the die fall."
REPLY = "The die stops at seventeen. The gate creaks open before you."
ARGUMENTS = '{"sides": 20}'
SCHEMA = {"type": "object", "properties": {"sides": {"type": "integer"}}}


def steps() -> tuple[Step, ...]:
    """Two calls one after the other, then the reply; the first call comes with prose, and with a block too early."""
    early = calls("roll", ARGUMENTS, STEP[:20], STEP[20:], "\n\n", BLOCK.replace("어둠의 숲", "nowhere"))
    return early, calls("look", "{}"), says(REPLY[:9], REPLY[9:], "\n\n", BLOCK)


@frozen
class Door:
    """How a client speaks at a door: its chat as it grows, and what it reads of an answer."""

    path: str
    body: Callable[[list[Any], bool], dict[str, Any]]
    says: Callable[[str, str], Any]
    """A message of the user or the assistant."""
    called: Callable[[Reply], list[Any]]
    """The messages that stand for a reply that calls a tool, and for the result."""
    text: Callable[[Reply], str]
    stream_path: str = ""


def events(answer: Reply) -> list[Any]:
    """The objects of a stream, or of an answer in one piece."""
    if answer.raw.startswith(b"{"):
        return [json.loads(line) for line in answer.raw.splitlines()]
    data = (line[6:] for line in answer.raw.decode().splitlines() if line.startswith("data: "))
    return [json.loads(each) for each in data if each != "[DONE]"]


def deltas(answer: Reply) -> list[dict[str, Any]]:
    return [
        choice.get("delta") or choice["message"]
        for event in events(answer)
        for choice in event["choices"]
        if choice.get("delta") or choice.get("message")
    ]


def chat_text(answer: Reply) -> str:
    return "".join(delta.get("content") or "" for delta in deltas(answer))


def chat_called(answer: Reply) -> list[Any]:
    pieces = [call for delta in deltas(answer) for call in delta.get("tool_calls") or ()]
    name = next(piece["function"]["name"] for piece in pieces if piece["function"].get("name"))
    arguments = "".join(piece["function"].get("arguments") or "" for piece in pieces)
    number = next(piece["id"] for piece in pieces if piece.get("id"))
    call = {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}
    text = chat_text(answer)
    before = [{"role": "assistant", "content": text}] if text else []  # as SillyTavern has it: in a message of its own
    return [
        *before,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": number, "content": "17"},
    ]


def blocks(answer: Reply) -> list[dict[str, Any]]:
    """The content of a message, also from its events."""
    found: list[dict[str, Any]] = []
    for event in events(answer):
        if event.get("type") == "message":
            return list(event["content"])
        if event["type"] == "content_block_start":
            found.append({**event["content_block"], "json": ""})
        if event["type"] == "content_block_delta":
            delta = event["delta"]
            assert event["index"] == len(found) - 1
            found[-1]["text"] = found[-1].get("text", "") + delta.get("text", "")
            found[-1]["json"] += delta.get("partial_json", "")
    whole = []
    for block in found:
        given = json.loads(block.pop("json") or "{}")
        whole.append(block if block["type"] == "text" else {**block, "input": given})
    return [{name: value for name, value in block.items() if value != "" or name == "text"} for block in whole]


def anthropic_called(answer: Reply) -> list[Any]:
    content = blocks(answer)
    for block in content:
        if block["type"] == "tool_use":
            block.pop("text", None)
    (use,) = [block for block in content if block["type"] == "tool_use"]
    assert content[-1] is use, "text that was held back comes before the call"
    result = [{"type": "tool_result", "tool_use_id": use["id"], "content": [{"type": "text", "text": "17"}]}]
    return [{"role": "assistant", "content": content}, {"role": "user", "content": result}]


def gemini_parts(answer: Reply) -> list[dict[str, Any]]:
    return [part for event in events(answer) for part in event["candidates"][0]["content"]["parts"]]


def gemini_called(answer: Reply) -> list[Any]:
    (call,) = [part["functionCall"] for part in gemini_parts(answer) if "functionCall" in part]
    part = {"functionResponse": {"id": call["id"], "name": call["name"], "response": {"result": 17}}}
    kept = [part for part in gemini_parts(answer) if part.get("text") != ""]
    return [{"role": "model", "parts": kept}, {"role": "user", "parts": [part]}]


def ollama_called(answer: Reply) -> list[Any]:
    (call,) = [each for line in events(answer) for each in line["message"].get("tool_calls", ())]
    message = {"role": "assistant", "content": ollama_text(answer), "tool_calls": [call]}
    return [message, {"role": "tool", "tool_call_id": call["id"], "content": "17"}]


def ollama_text(answer: Reply) -> str:
    return "".join(line["message"]["content"] for line in events(answer))


def functions(wrap: Callable[[dict[str, Any]], Any], name: str = "parameters") -> list[Any]:
    return [wrap({"name": tool, "description": tool, name: SCHEMA}) for tool in ("roll", "look")]


OPENAI_TOOLS = functions(lambda function: {"type": "function", "function": function})
DOORS = {
    "chat": Door(
        "/v1/chat/completions",
        lambda messages, stream: {"messages": messages, "tools": OPENAI_TOOLS, "stream": stream},
        lambda role, text: {"role": role, "content": text},
        chat_called,
        chat_text,
    ),
    "messages": Door(
        "/v1/messages",
        lambda messages, stream: {
            "messages": messages,
            "tools": functions(dict, "input_schema"),
            "max_tokens": 900,
            "stream": stream,
        },
        lambda role, text: {"role": role, "content": [{"type": "text", "text": text}]},
        anthropic_called,
        lambda answer: "".join(block.get("text", "") for block in blocks(answer)),
    ),
    "gemini": Door(
        "/v1beta/models/{}:generateContent",
        lambda messages, stream: {"contents": messages, "tools": [{"functionDeclarations": functions(dict)}]},
        lambda role, text: {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]},
        gemini_called,
        lambda answer: "".join(part.get("text", "") for part in gemini_parts(answer)),
        "/v1beta/models/{}:streamGenerateContent?alt=sse",
    ),
    "ollama": Door(
        "/api/chat",
        lambda messages, stream: {"messages": messages, "tools": OPENAI_TOOLS, "stream": stream},
        lambda role, text: {"role": role, "content": text},
        ollama_called,
        ollama_text,
    ),
}
CASES = [
    ("chat", "openai", True),
    ("chat", "local", False),
    ("messages", "anthropic", True),
    ("messages", "anthropic", False),
    ("gemini", "google", True),
    ("gemini", "local", False),
    ("ollama", "local", True),
    ("ollama", "openai", False),
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
        sent = [upstream.requests[at].body["messages"] for at in (-3, -2, -1)]
        marked = json.dumps(sent[0])
        assert json.dumps(sent[-1]).startswith(marked[: marked.rindex("I roll the die")]), "the same prompt, and more"
        told = language_of("en").block.request.tools
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


async def test_without_tools_nothing_is_said_of_them() -> None:
    dialect, model = DIALECTS["local"]
    async with (
        provider_server(dialect) as upstream,
        Client.of({"providers": {"up": settings_for(dialect, upstream)}}, {}) as saga,
    ):
        words = [{"role": "user", "content": "I roll the die at the gate."}]
        for more in ({}, {"tools": [], "tool_choice": "auto"}, {"tools": OPENAI_TOOLS, "tool_choice": "none"}):
            await saga.post("/v1/chat/completions", json={"model": model, "messages": words, **more})
            assert language_of("en").block.request.tools not in upstream.requests[-1].text


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
