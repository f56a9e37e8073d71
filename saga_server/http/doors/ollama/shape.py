"""Reply format of Ollama's API: one JSON object per line, the last with the token counts."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_server.http.doors.tool_calls import GatheredCall, GatheredCalls, thought_in
from saga_server.http.openai_schema import Choice, to_json
from saga_server.http.shapes import Shape


@define(eq=False)
class OllamaShape(Shape):
    """The format of ``/api/chat``, or of ``/api/generate`` if ``chat`` is false. Tool calls are sent as a whole."""

    chat: bool = True
    _began: int = field(factory=time.perf_counter_ns, init=False)
    _calls: GatheredCalls = field(factory=GatheredCalls, init=False)
    _reason: str = field(default="stop", init=False)
    _counts: Mapping[str, int] = field(factory=dict, init=False)

    @property
    def content_type(self) -> str:
        """The content type of a stream."""
        return "application/x-ndjson"

    def _told(self, text: str, thought: str = "", calls: Sequence[GatheredCall] = (), **more: Any) -> dict[str, Any]:
        said: dict[str, Any] = {"thinking": thought} if thought else {}
        if calls:
            said["tool_calls"] = [_call(call) for call in calls]
        body = {"message": {"role": "assistant", "content": text, **said}} if self.chat else {"response": text, **said}
        made = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        return {"model": self.model, "created_at": made, **body, "done": False, **more}

    def _ended(self, reason: str, counts: Mapping[str, int]) -> dict[str, Any]:
        took = time.perf_counter_ns() - self._began
        told = {"total_duration": took, "load_duration": 0, "prompt_eval_duration": 0, "eval_duration": took}
        return {"done": True, "done_reason": "length" if reason == "length" else "stop", **told, **counts}

    def text(self, index: int, text: str) -> bytes:
        """A line with text."""
        return _line(self._told(text))

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """A line with reasoning text. Tool calls are kept for the end."""
        self._calls.gather(fields)
        thought = thought_in(fields)
        return _line(self._told("", thought)) if thought else b""

    def finish(self, index: int, reason: str) -> bytes:
        """Nothing yet; the last line gives the reason."""
        self._reason = reason
        return b""

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """Nothing yet; the last line gives the counts."""
        self._counts = _counts(usage)
        return b""

    def end(self) -> bytes:
        """A line with the tool calls, if any, and the last line."""
        calls = _line(self._told("", "", self._calls.calls)) if self._calls.calls else b""
        return calls + _line(self._told("", **self._ended(self._reason, self._counts)))

    def alive(self) -> bytes:
        """A line without text. It must be JSON, because clients parse every line."""
        return _line(self._told(""))

    def notice(self, text: str) -> bytes:
        """Nothing, because a line has no place for notices."""
        return b""

    def failure(self, body: bytes) -> bytes:
        """A line with the error."""
        return _line({"error": json.loads(body)["error"]["message"]})

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The reply as one JSON object."""
        choice = choices[0]
        self._calls.gather(choice.extra)
        ended = self._ended(choice.finish, {} if usage is None else _counts(usage))
        return to_json(self._told(choice.text, thought_in(choice.extra), self._calls.calls, **ended)).encode()


def loaded(model: str, *, chat: bool) -> dict[str, Any]:
    """Return the reply to a request without messages, which clients send to load a model."""
    return {**OllamaShape(model, chat)._told(""), "done": True, "done_reason": "load"}


def _call(call: GatheredCall) -> dict[str, Any]:
    return {"id": call.id, "function": {"name": call.name, "arguments": call.given}}


def _counts(usage: Usage) -> dict[str, int]:
    return {"prompt_eval_count": usage.input, "eval_count": usage.output}


def _line(value: Mapping[str, Any]) -> bytes:
    return to_json(value).encode() + b"\n"
