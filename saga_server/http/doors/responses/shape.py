"""Reply format of OpenAI's Responses API: one response, or its events."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_server.http.doors.tool_calls import GatheredCall, StreamedCalls, thought_in
from saga_server.http.openai_schema import Choice, to_json
from saga_server.http.shapes import Shape

_REPEATED = ("instructions", "metadata", "temperature", "top_p", "max_output_tokens", "user", "reasoning", "text")


@define(eq=False)
class ResponsesShape(Shape):
    """A response whose ``output`` has items for reasoning and for text, and one for each function call.

    ``given`` is the request; the reply repeats some of its fields.
    """

    given: Mapping[str, Any] = field(factory=dict)
    _id: str = field(factory=lambda: f"resp_{secrets.token_hex(16)}", init=False)
    _created: int = field(factory=lambda: int(time.time()), init=False)
    _number: int = field(default=0, init=False)
    """The number of events so far."""
    _output: list[dict[str, Any]] = field(factory=list, init=False)
    """The items so far; the last one may be open."""
    _open: bool = field(default=False, init=False)
    _calls: StreamedCalls = field(factory=StreamedCalls, init=False)
    _reason: str = field(default="stop", init=False)
    _usage: Mapping[str, Any] | None = field(default=None, init=False)

    def _response(self, status: str, error: Mapping[str, Any] | None = None) -> dict[str, Any]:
        incomplete = {"reason": "max_output_tokens"} if status == "incomplete" else None
        return {
            **{name: self.given.get(name) for name in _REPEATED},
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": error,
            "incomplete_details": incomplete,
            "model": self.model,
            "output": self._output,
            "parallel_tool_calls": self.given.get("parallel_tool_calls") is not False,
            "previous_response_id": None,
            "store": False,
            "tool_choice": self.given.get("tool_choice") or "auto",
            "tools": self.given.get("tools") or [],
            "usage": self._usage,
        }

    def _event(self, kind: str, **fields: Any) -> bytes:
        told = to_json({"type": kind, "sequence_number": self._number, **fields})
        self._number += 1
        return f"event: {kind}\ndata: {told}\n\n".encode()

    def role(self, index: int) -> bytes:
        """``response.created`` and ``response.in_progress``."""
        begun = self._response("in_progress")
        return self._event("response.created", response=begun) + self._event("response.in_progress", response=begun)

    @property
    def _at(self) -> dict[str, Any]:
        return {"output_index": len(self._output) - 1, "item_id": self._output[-1]["id"]}

    def _is_open(self, kind: str) -> bool:
        return self._open and self._output[-1]["type"] == kind

    def _begin(self, item: dict[str, Any]) -> bytes:
        closed = self._close()
        self._output.append(item)
        self._open = True
        told = self._event("response.output_item.added", output_index=len(self._output) - 1, item=item)
        if item["type"] == "message":
            item["content"].append({"type": "output_text", "text": "", "annotations": [], "logprobs": []})
            part = item["content"][0]
            return closed + told + self._event("response.content_part.added", **self._at, content_index=0, part=part)
        if item["type"] == "reasoning":
            item["summary"].append({"type": "summary_text", "text": ""})
            part, at = item["summary"][0], {**self._at, "summary_index": 0}
            return closed + told + self._event("response.reasoning_summary_part.added", **at, part=part)
        return closed + told

    def text(self, index: int, text: str) -> bytes:
        """``response.output_text.delta``."""
        begun = b"" if self._is_open("message") else self._begin(_message())
        self._output[-1]["content"][0]["text"] += text
        return begun + self._event("response.output_text.delta", **self._at, content_index=0, delta=text, logprobs=[])

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """Events with reasoning text, as a summary, and function calls."""
        told: list[bytes] = []
        thought = thought_in(fields)
        if thought:
            if not self._is_open("reasoning"):
                told.append(self._begin(_reasoning()))
            self._output[-1]["summary"][0]["text"] += thought
            at = {**self._at, "summary_index": 0}
            told.append(self._event("response.reasoning_summary_text.delta", **at, delta=thought))
        told += [self._call(begun, piece) for begun, piece in self._calls.pieces(fields)]
        return b"".join(told)

    def _call(self, begun: GatheredCall | None, piece: str) -> bytes:
        told = b"" if begun is None else self._begin(_function_call(begun.id, begun.name))
        self._output[-1]["arguments"] += piece
        return told + (self._event("response.function_call_arguments.delta", **self._at, delta=piece) if piece else b"")

    def _close(self) -> bytes:
        """Return the events that close the open item."""
        if not self._open:
            return b""
        self._open = False
        item, at = self._output[-1], self._at
        item["status"] = "completed"
        told = b""
        if item["type"] == "message":
            part = item["content"][0]
            told += self._event("response.output_text.done", **at, content_index=0, text=part["text"], logprobs=[])
            told += self._event("response.content_part.done", **at, content_index=0, part=part)
        elif item["type"] == "reasoning":
            part = item["summary"][0]
            told += self._event("response.reasoning_summary_text.done", **at, summary_index=0, text=part["text"])
            told += self._event("response.reasoning_summary_part.done", **at, summary_index=0, part=part)
        else:
            told += self._event(
                "response.function_call_arguments.done", **at, name=item["name"], arguments=item["arguments"]
            )
        told += self._event("response.output_item.done", output_index=at["output_index"], item=item)
        if item["type"] == "function_call":
            told += b"".join(self._call(call, call.arguments) for call in self._calls.rest()) + self._close()
        return told

    def finish(self, index: int, reason: str) -> bytes:
        """The events that close the last item."""
        self._reason = reason
        return self._close()

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """Nothing yet; ``end`` gives the token counts."""
        self._usage = _counts(usage)
        return b""

    @property
    def _status(self) -> str:
        return "incomplete" if self._reason == "length" else "completed"

    def end(self) -> bytes:
        """``response.completed``, or ``response.incomplete`` at the limit of tokens."""
        return self._event(f"response.{self._status}", response=self._response(self._status))

    def failure(self, body: bytes) -> bytes:
        """A ``response.failed`` event, which ends the stream."""
        about = json.loads(body)["error"]
        error = {"code": "server_error", "message": about["message"]}
        return self._close() + self._event("response.failed", response=self._response("failed", error))

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The whole response as JSON."""
        choice = choices[0]
        self.role(0)
        self.extra(0, {name: value for name, value in choice.extra.items() if name != "tool_calls"})
        if choice.text:
            self.text(0, choice.text)
        self.extra(0, {"tool_calls": choice.extra.get("tool_calls")})
        self.finish(0, choice.finish)
        if usage is not None:
            self._usage = _counts(usage)
        return to_json(self._response(self._status)).encode()


def _message() -> dict[str, Any]:
    number = f"msg_{secrets.token_hex(16)}"
    return {"id": number, "type": "message", "status": "in_progress", "role": "assistant", "content": []}


def _reasoning() -> dict[str, Any]:
    return {"id": f"rs_{secrets.token_hex(16)}", "type": "reasoning", "summary": []}


def _function_call(call: str, name: str) -> dict[str, Any]:
    number, begun = f"fc_{secrets.token_hex(16)}", "in_progress"
    return {"id": number, "type": "function_call", "status": begun, "call_id": call, "name": name, "arguments": ""}


def _counts(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    }
