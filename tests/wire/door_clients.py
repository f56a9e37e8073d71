"""How clients speak at each door: their chats as they grow, and what they read of answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from attrs import frozen

from tests.server.client import Reply

SCHEMA = {"type": "object", "properties": {"sides": {"type": "integer"}}}


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


def items(answer: Reply) -> list[dict[str, Any]]:
    """The items of a response."""
    return list((events(answer)[-1].get("response") or events(answer)[-1])["output"])


def responses_called(answer: Reply) -> list[Any]:
    (call,) = [item for item in items(answer) if item["type"] == "function_call"]
    return [*items(answer), {"type": "function_call_output", "call_id": call["call_id"], "output": "17"}]


def responses_text(answer: Reply) -> str:
    return "".join(item["content"][0]["text"] for item in items(answer) if item["type"] == "message")


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
    "responses": Door(
        "/v1/responses",
        lambda messages, stream: {
            "input": messages,
            "tools": functions(lambda function: {"type": "function", **function}),
            "stream": stream,
        },
        lambda role, text: {"role": role, "content": text},
        responses_called,
        responses_text,
    ),
}
