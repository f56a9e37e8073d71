"""Read a request in Anthropic's Messages API as a chat in OpenAI's format, with the same texts in the same order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from saga_server.http.entry.budget import check_text
from saga_server.http.errors import RequestError
from saga_server.http.openai_schema import kind_of, read_json, short, typed

_OWN = frozenset({"messages", "model", "stream", "system", "stop_sequences", "tools", "tool_choice"})
_CHOICES = {"auto": "auto", "none": "none", "any": "required"}


@frozen(kw_only=True)
class MessagesAsk:
    """A checked request. The texts are not checked here; the engine does that."""

    messages: list[Any] = field(repr=False)
    model: str
    stream: bool
    params: Mapping[str, Any] = field(repr=False)
    """All other fields, which are passed upstream."""


def read_messages(body: bytes, max_messages: int, max_text_mb: int = 16) -> MessagesAsk:
    """Read the request in ``body``. Raises ``RequestError`` naming the field, the value and what is allowed."""
    ask = read_json(body)
    if not isinstance(ask, dict):
        raise RequestError(f"the body is a JSON {kind_of(ask)}; send an object", param="body")
    given = ask.get("messages")
    if not isinstance(given, list) or not given:
        raise RequestError("messages: missing or empty; send a list with at least one message", param="messages")
    if len(given) > max_messages:
        raise RequestError(
            f"messages: {len(given)} given; at most {max_messages} are taken (server.max_messages)",
            param="messages",
            status=413,
        )
    system = _content(ask.get("system") or [], "system")
    messages: list[Any] = [{"role": "system", "content": system}] if system else []
    for at, message in enumerate(given):
        messages += _message(message, f"messages[{at}]")
    check_text(messages, max_text_mb)
    params = {name: value for name, value in ask.items() if name not in _OWN}
    stops = typed(ask, "stop_sequences", list, "a list of texts")
    if stops:
        params["stop"] = stops
    if tools := typed(ask, "tools", list, "a list of tools"):
        params["tools"] = [_tool(tool, at) for at, tool in enumerate(tools)]
        if choice := typed(ask, "tool_choice", dict, "an object"):
            params["tool_choice"] = _choice(choice)
    return MessagesAsk(
        messages=messages,
        model=typed(ask, "model", str, "a text") or "",
        stream=typed(ask, "stream", bool, "true or false") or False,
        params=params,
    )


def _message(message: Any, where: str) -> Iterator[dict[str, Any]]:
    """Yield a message in OpenAI's format. Tool results become separate messages before the user's text."""
    if not isinstance(message, Mapping):
        raise RequestError(f"{where}: a {kind_of(message)} given; a message is an object", param=where)
    role = message.get("role")
    if role not in ("user", "assistant", "system"):
        raise RequestError(f"{where}.role: {short(role)} is not known; use user or assistant", param=f"{where}.role")
    blocks = _blocks(message.get("content"), f"{where}.content")
    for block in blocks:
        if block["type"] == "tool_result":
            parts = _content(block.get("content") or [], where)
            shown = any(part["type"] == "image_url" for part in parts)
            text = "\n".join(part["text"] for part in parts if "text" in part)
            yield {
                "role": "tool",
                "tool_call_id": str(block.get("tool_use_id", "")),
                "content": parts if shown else text,
            }
    content = _content([block for block in blocks if block["type"] != "tool_result"], f"{where}.content")
    calls = [_call(block) for block in blocks if block["type"] == "tool_use"]
    if calls:
        thoughts = [_thought(block) for block in blocks if block["type"] in ("thinking", "redacted_thinking")]
        thought = {"reasoning_details": thoughts} if thoughts else {}
        yield {"role": role, "content": content or None, "tool_calls": calls, **thought}
    elif content:
        yield {"role": role, "content": content}


def _blocks(content: Any, where: str) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise RequestError(f"{where}: a {kind_of(content)} given; send text or a list of blocks", param=where)
    for at, block in enumerate(content):
        if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
            raise RequestError(f'{where}[{at}]: a block is an object with a "type"', param=f"{where}[{at}]")
    return content


def _content(content: Any, where: str) -> list[dict[str, Any]]:
    """Return texts and images as parts of an OpenAI message. Earlier reasoning is not part of the story and dropped."""
    found = []
    for at, block in enumerate(_blocks(content, where)):
        mark = {"cache_control": block["cache_control"]} if block.get("cache_control") else {}
        if block["type"] == "text":
            if not isinstance(block.get("text"), str):
                raise RequestError(f"{where}[{at}].text: a block of text needs a text", param=f"{where}[{at}].text")
            found.append({"type": "text", "text": block["text"], **mark})
        elif block["type"] == "image":
            found.append({"type": "image_url", "image_url": {"url": _address(block.get("source"), f"{where}[{at}]")}})
        elif block["type"] not in ("tool_use", "thinking", "redacted_thinking"):
            raise RequestError(
                f"{where}[{at}].type: {short(block['type'])} is not taken here; send text, images, and the calls and "
                "results of tools",
                param=f"{where}[{at}].type",
            )
    return found


def _address(source: Any, where: str) -> str:
    kind = source.get("type") if isinstance(source, Mapping) else None
    if kind == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    if kind == "url" and isinstance(source.get("url"), str):
        return str(source["url"])
    raise RequestError(f"{where}.source: give one of the type base64 or url", param=f"{where}.source")


def _thought(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reasoning block that precedes tool calls. Anthropic continues from it if it is signed."""
    if block["type"] == "redacted_thinking":
        return {"type": "reasoning.encrypted", "data": block.get("data"), "format": "anthropic-claude-v1"}
    told = {"text": block.get("thinking"), "signature": block.get("signature")}
    return {"type": "reasoning.text", **told, "format": "anthropic-claude-v1"}


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
    return {
        "id": str(block.get("id", "")),
        "type": "function",
        "function": {"name": str(block.get("name", "")), "arguments": arguments},
    }


def _tool(tool: Any, at: int) -> dict[str, Any]:
    if not isinstance(tool, Mapping) or not isinstance(tool.get("input_schema"), Mapping):
        raise RequestError(f"tools[{at}]: only tools with an input_schema are taken here", param=f"tools[{at}]")
    about = {"description": tool["description"]} if tool.get("description") else {}
    return {"type": "function", "function": {"name": tool.get("name"), **about, "parameters": tool["input_schema"]}}


def _choice(choice: Mapping[str, Any]) -> Any:
    if choice.get("type") == "tool":
        return {"type": "function", "function": {"name": choice.get("name")}}
    return _CHOICES.get(str(choice.get("type")), "auto")
