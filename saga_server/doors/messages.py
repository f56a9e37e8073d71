"""Anthropic's Messages API."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_core.tool_calls import GatheredCall
from saga_server.http import (
    MESSAGES,
    Choice,
    ClientRequest,
    Door,
    Failure,
    Incoming,
    ModelFormat,
    ReplyFormat,
    RequestError,
    StreamedCalls,
    calls_in,
    check_kinds,
    counts,
    event,
    function_tool,
    image,
    plays,
    reasoning_in,
    short,
    to_json,
    tool_call,
    wrong_kind,
)

_OWN = frozenset({"messages", "model", "stream", "system", "stop_sequences", "tools", "tool_choice"})
_CHOICES = {"auto": "auto", "none": "none", "any": "required"}
_SIGNED = "anthropic-claude-v1"
_REASONS = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


# -- requests --------------------------------------------------------------------------------------------------


def read_messages(incoming: Incoming) -> ClientRequest:
    """Read ``POST /v1/messages``, with the same texts in the same order. Raises ``RequestError``."""
    fields = incoming.fields()
    check_kinds(fields, MESSAGES)
    listed = fields.get("messages")
    if not isinstance(listed, list) or not listed:
        raise RequestError("messages: missing or empty; send a list with at least one message", param="messages")
    incoming.check_count(len(listed), "messages")
    system = _content(fields.get("system") or [], "system")
    messages: list[Any] = [{"role": "system", "content": system}] if system else []
    for at, message in enumerate(listed):
        messages += _message(message, f"messages[{at}]")
    params = {name: value for name, value in fields.items() if name not in _OWN}
    if stops := fields.get("stop_sequences"):
        params["stop"] = stops
    if tools := fields.get("tools"):
        params["tools"] = [_tool(tool, at) for at, tool in enumerate(tools)]
        if choice := fields.get("tool_choice"):
            params["tool_choice"] = _choice(choice)
    return ClientRequest(
        messages=messages,
        reply=MessagesFormat,
        model=fields.get("model") or "",
        stream=fields.get("stream") or False,
        params=params,
    )


def _message(message: Any, where: str) -> Iterator[dict[str, Any]]:
    """Yield a message in OpenAI's format. Tool results become separate messages before the user's text."""
    if not isinstance(message, Mapping):
        raise wrong_kind(message, where, "a message is an object")
    role = message.get("role")
    if role not in ("user", "assistant", "system"):
        raise RequestError(f"{where}.role: {short(role)} is not known; use user or assistant", param=f"{where}.role")
    blocks = _blocks(message.get("content"), f"{where}.content")
    for block in blocks:
        if block["type"] == "tool_result":
            parts = _content(block.get("content") or [], where)
            shown = any(part["type"] == "image_url" for part in parts)
            text = "\n".join(part["text"] for part in parts if "text" in part)
            number = str(block.get("tool_use_id", ""))
            yield {"role": "tool", "tool_call_id": number, "content": parts if shown else text}
    content = _content([block for block in blocks if block["type"] != "tool_result"], f"{where}.content")
    calls = [
        tool_call(block.get("id", ""), block.get("name", ""), json.dumps(block.get("input") or {}, ensure_ascii=False))
        for block in blocks
        if block["type"] == "tool_use"
    ]
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
        raise wrong_kind(content, where, "send text or a list of blocks")
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
            found.append(image(_address(block.get("source"), f"{where}[{at}]")))
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
        return {"type": "reasoning.encrypted", "data": block.get("data"), "format": _SIGNED}
    signed = {"text": block.get("thinking"), "signature": block.get("signature")}
    return {"type": "reasoning.text", **signed, "format": _SIGNED}


def _tool(tool: Any, at: int) -> dict[str, Any]:
    if not isinstance(tool, Mapping) or not isinstance(tool.get("input_schema"), Mapping):
        raise RequestError(f"tools[{at}]: only tools with an input_schema are taken here", param=f"tools[{at}]")
    about = {"description": tool["description"]} if tool.get("description") else {}
    return function_tool(tool.get("name"), **about, parameters=tool["input_schema"])


def _choice(choice: Mapping[str, Any]) -> Any:
    if choice.get("type") == "tool":
        return function_tool(choice.get("name"))
    return _CHOICES.get(str(choice.get("type")), "auto")


# -- replies ---------------------------------------------------------------------------------------------------


def error(failure: Failure) -> dict[str, Any]:
    """An error reply."""
    return _error(failure.message, _ERRORS.get(failure.status, failure.kind))


def _error(message: str, kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


@define(eq=False)
class MessagesFormat(ReplyFormat):
    """A stream of ``message_start``, a block for each run of text or reasoning and each tool call, ``message_stop``."""

    _id: str = field(factory=lambda: f"msg_{secrets.token_hex(12)}", init=False)
    _block: str = field(default="", init=False)
    """The type of the open block; empty while none is open."""
    _calls: StreamedCalls = field(factory=StreamedCalls, init=False)
    _blocks: int = field(default=0, init=False)

    def _message(self, content: Sequence[Any], reason: str | None, usage: Mapping[str, int]) -> dict[str, Any]:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }

    def begin(self, index: int) -> bytes:
        """``message_start``."""
        return _event({"type": "message_start", "message": self._message([], None, _NO_TOKENS)})

    def text(self, index: int, text: str) -> bytes:
        """A piece of a text block."""
        return self._open("text", {"type": "text", "text": ""}) + self._delta({"type": "text_delta", "text": text})

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """Events with reasoning text and tool calls."""
        found = b""
        if thought := reasoning_in(fields):
            found += self._open("thinking", {"type": "thinking", "thinking": "", "signature": ""})
            found += self._delta({"type": "thinking_delta", "thinking": thought})
        for block in _signed(fields):
            found += self._sign(block)
        for begun, piece in self._calls.pieces(fields):
            found += self._call(begun, piece)
        return found

    def _sign(self, block: Mapping[str, Any]) -> bytes:
        """Return the signature of the reasoning so far, or a block of redacted reasoning."""
        if block["type"] != "thinking":
            return self._open("redacted_thinking", block) + self._close()
        opened = self._open("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        return opened + self._delta({"type": "signature_delta", "signature": block["signature"]}) + self._close()

    def _call(self, begun: GatheredCall | None, piece: str) -> bytes:
        opened = b"" if begun is None else self._open("tool_use", _tool_use(begun, {}))
        return opened + (self._delta({"type": "input_json_delta", "partial_json": piece}) if piece else b"")

    def _open(self, kind: str, block: Mapping[str, Any]) -> bytes:
        if self._block == kind and kind != "tool_use":
            return b""
        closed = self._close()
        self._block = kind
        return closed + _event({"type": "content_block_start", "index": self._blocks, "content_block": block})

    def _close(self) -> bytes:
        if not self._block:
            return b""
        calls, self._block = self._block == "tool_use", ""
        self._blocks += 1
        closed = _event({"type": "content_block_stop", "index": self._blocks - 1})
        if calls:
            closed += b"".join(self._call(call, call.arguments) for call in self._calls.rest()) + self._close()
        return closed

    def _delta(self, delta: Mapping[str, Any]) -> bytes:
        return _event({"type": "content_block_delta", "index": self._blocks, "delta": delta})

    def finish(self, index: int, reason: str) -> bytes:
        """The end of the last block."""
        self.reason = reason
        return self._close()

    def end(self) -> bytes:
        """``message_delta`` and ``message_stop``."""
        delta = {"stop_reason": _REASONS.get(self.reason, "end_turn"), "stop_sequence": None}
        usage = {"output_tokens": 0} if self.counts is None else _counts(self.counts)
        last = _event({"type": "message_delta", "delta": delta, "usage": usage})
        return last + _event({"type": "message_stop"})

    def keep_alive(self) -> bytes:
        """``ping``."""
        return _event({"type": "ping"})

    def failure(self, failure: Failure) -> bytes:
        """An ``error`` event, which ends the stream."""
        return _event(_error(failure.message, failure.kind))

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The whole message as JSON."""
        choice = choices[0]
        content = _signed(choice.extra)
        thought = reasoning_in(choice.extra)
        if thought and not any(block["type"] == "thinking" for block in content):
            content.append({"type": "thinking", "thinking": thought, "signature": ""})
        if choice.text:
            content.append({"type": "text", "text": choice.text})
        content += [_tool_use(call, call.parsed) for call in calls_in(choice.extra)]
        counts = _NO_TOKENS if usage is None else _counts(usage)
        return to_json(self._message(content, _REASONS.get(choice.finish, "end_turn"), counts)).encode()


_NO_TOKENS = {"input_tokens": 0, "output_tokens": 0}


def _event(value: Mapping[str, Any]) -> bytes:
    return event(value, value["type"])


def _signed(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return Anthropic's reasoning in ``reasoning_details`` as the blocks in which it arrived."""
    details, found = fields.get("reasoning_details"), list[dict[str, Any]]()
    for detail in details if isinstance(details, list) else ():
        if not isinstance(detail, Mapping) or detail.get("format") != _SIGNED:
            continue
        if detail.get("signature"):
            found.append({"type": "thinking", "thinking": detail.get("text", ""), "signature": detail["signature"]})
        elif detail.get("data"):
            found.append({"type": "redacted_thinking", "data": detail["data"]})
    return found


def _tool_use(call: GatheredCall, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _counts(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": max(0, usage.input - usage.cache_read - usage.cache_write),
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "output_tokens": usage.output,
    }


def _model(name: str) -> dict[str, Any]:
    made = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": "model", "id": name, "display_name": name, "created_at": made}


def _models(names: Sequence[str]) -> dict[str, Any]:
    ends = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
    return {"data": [*map(_model, names)], "has_more": False, **ends}


DOOR = Door(
    paths={
        **{path: {"POST": plays(read_messages)} for path in ("/v1/messages", "/messages")},
        "/v1/messages/count_tokens": {"POST": counts(read_messages, "input_tokens")},
    },
    error=error,
    models=ModelFormat(one=_model, all=_models, headers=("Anthropic-Version",)),
    chats_at=("/v1/messages",),
)
