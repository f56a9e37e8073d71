"""Reply format of Anthropic's Messages API: one message, or its events."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_server.http.doors.failures import anthropic_failure
from saga_server.http.doors.tool_calls import GatheredCall, GatheredCalls, StreamedCalls
from saga_server.http.openai_schema import Choice, to_json
from saga_server.http.shapes import Shape

_SIGNED = "anthropic-claude-v1"
_REASONS = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


@define(eq=False)
class MessagesShape(Shape):
    """A stream of ``message_start``, a block for each run of text or reasoning and each tool call, ``message_stop``."""

    _id: str = field(factory=lambda: f"msg_{secrets.token_hex(12)}", init=False)
    _begun: bool = field(default=False, init=False)
    _block: str = field(default="", init=False)
    """The type of the open block; empty while none is open."""
    _calls: StreamedCalls = field(factory=StreamedCalls, init=False)
    _blocks: int = field(default=0, init=False)
    _reason: str = field(default="end_turn", init=False)
    _usage: dict[str, int] = field(factory=lambda: {"output_tokens": 0}, init=False)

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

    def role(self, index: int) -> bytes:
        """``message_start``."""
        self._begun = True
        message = self._message([], None, {"input_tokens": 0, "output_tokens": 0})
        return _event({"type": "message_start", "message": message})

    def text(self, index: int, text: str) -> bytes:
        """A piece of a text block."""
        opened = self._open("text", {"type": "text", "text": ""})
        return opened + self._delta({"type": "text_delta", "text": text})

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """Events with reasoning text and tool calls."""
        found = b""
        thought = fields.get("reasoning_content") or fields.get("reasoning")
        if isinstance(thought, str) and thought:
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
        opened = b""
        if begun is not None:
            block = {"type": "tool_use", "id": begun.id, "name": begun.name, "input": {}}
            opened = self._open("tool_use", block)
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
        self._reason = _REASONS.get(reason, "end_turn")
        return self._close()

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """Nothing yet; ``end`` gives the token counts."""
        self._usage = _counts(usage)
        return b""

    def end(self) -> bytes:
        """``message_delta`` and ``message_stop``."""
        delta = {"stop_reason": self._reason, "stop_sequence": None}
        last = _event({"type": "message_delta", "delta": delta, "usage": self._usage})
        return last + _event({"type": "message_stop"})

    def alive(self) -> bytes:
        """``ping``."""
        return _event({"type": "ping"})

    def failure(self, body: bytes) -> bytes:
        """An ``error`` event, which ends the stream."""
        about = json.loads(body)["error"]
        return _event(anthropic_failure(about["message"], str(about["type"])))

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The whole message as JSON."""
        choice = choices[0]
        thought = choice.extra.get("reasoning_content") or choice.extra.get("reasoning")
        content: list[dict[str, Any]] = []
        content += _signed(choice.extra)
        if thought and not any(block["type"] == "thinking" for block in content):
            content.append({"type": "thinking", "thinking": thought, "signature": ""})
        if choice.text:
            content.append({"type": "text", "text": choice.text})
        gathered = GatheredCalls()
        gathered.gather(choice.extra)
        content += [_use(call) for call in gathered.calls]
        counts = {"input_tokens": 0, "output_tokens": 0} if usage is None else _counts(usage)
        return to_json(self._message(content, _REASONS.get(choice.finish, "end_turn"), counts)).encode()


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


def _use(call: GatheredCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.given}


def _counts(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": max(0, usage.input - usage.cache_read - usage.cache_write),
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "output_tokens": usage.output,
    }


def _event(value: Mapping[str, Any]) -> bytes:
    return f"event: {value['type']}\ndata: {to_json(value)}\n\n".encode()
