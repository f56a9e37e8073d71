"""Answers in the shape of Gemini's API: one object, a list of them, or an event for each."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_server.http.doors.failures import told_to
from saga_server.http.doors.tool_calls import GatheredCall, GatheredCalls, thought_in
from saga_server.http.openai_schema import ALIVE, Choice, error_event, to_json
from saga_server.http.shapes import Shape

_REASONS = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}


@define(eq=False)
class GeminiShape(Shape):
    """``candidates``. A call of a tool is told whole, as Google tells it; so it waits for its end."""

    listed: bool = False
    """Whether a stream is one list, as Google sends it without ``alt=sse``."""
    _id: str = field(factory=lambda: secrets.token_urlsafe(16), init=False)
    _sent: int = field(default=0, init=False)
    _calls: dict[int, GatheredCalls] = field(factory=dict, init=False)
    """The calls of each choice, as far as they came."""
    _usage: Mapping[str, Any] = field(factory=dict, init=False)
    _ends: dict[int, str] = field(factory=dict, init=False)

    @property
    def content_type(self) -> str:
        """Of a stream."""
        return "application/json" if self.listed else "text/event-stream"

    def _event(self, value: Mapping[str, Any]) -> bytes:
        self._sent += 1
        if not self.listed:
            return f"data: {to_json(value)}\r\n\r\n".encode()
        return (("[" if self._sent == 1 else ",\r\n") + to_json(value)).encode()

    def _told(self, index: int, parts: Sequence[Any], reason: str = "") -> bytes:
        candidate = {"content": {"parts": parts, "role": "model"}, "index": index}
        ended = {"finishReason": reason} if reason else {}
        usage = {"usageMetadata": self._usage} if self._usage and reason else {}
        return self._event({"candidates": [{**candidate, **ended}], **usage, **self._about()})

    def _about(self) -> dict[str, Any]:
        return {"modelVersion": self.model, "responseId": self._id}

    def text(self, index: int, text: str) -> bytes:
        """A piece of text."""
        return self._told(index, [{"text": text}])

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """Thoughts; the calls of tools are kept for the end."""
        self._calls.setdefault(index, GatheredCalls()).gather(fields)
        thought = thought_in(fields)
        return self._told(index, [{"text": thought, "thought": True}]) if thought else b""

    def finish(self, index: int, reason: str) -> bytes:
        """Told with the token counts, at the end."""
        self._ends[index] = reason
        return b""

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """The token counts are told at the end."""
        self._usage = _counts(usage)
        return b""

    def end(self) -> bytes:
        """The calls of tools, and why each choice ended."""
        told = b""
        for index, reason in sorted(self._ends.items()):
            gathered = self._calls.get(index, GatheredCalls())
            told += self._told(index, [*map(_part, gathered.calls)] or [{"text": ""}], _reason(reason))
        return told + self._closed()

    def _closed(self) -> bytes:
        return (b"]" if self._sent else b"[]") if self.listed else b""

    def alive(self) -> bytes:
        """White space, where a comment would be no JSON."""
        return b"\r\n" if self.listed else ALIVE

    def notice(self, text: str) -> bytes:
        """Nothing in a list: JSON has no comments."""
        return b"" if self.listed else super().notice(text)

    def failure(self, body: bytes) -> bytes:
        """An error that ends the stream."""
        about = json.loads(body)["error"]
        told = told_to("google", 500, about["message"], "")
        if not self.listed:
            return error_event(told)
        self._sent += 1
        return (b"[" if self._sent == 1 else b",\r\n") + told + b"]"

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The reply in one piece."""
        candidates = []
        for choice in choices:
            parts: list[dict[str, Any]] = []
            thought = thought_in(choice.extra)
            if thought:
                parts.append({"text": thought, "thought": True})
            gathered = GatheredCalls()
            gathered.gather(choice.extra)
            if choice.text or not gathered.calls:
                parts.append({"text": choice.text})
            parts += [_part(call) for call in gathered.calls]
            content = {"parts": parts, "role": "model"}
            candidates.append({"content": content, "finishReason": _reason(choice.finish), "index": choice.index})
        counts = {} if usage is None else {"usageMetadata": _counts(usage)}
        return to_json({"candidates": candidates, **counts, **self._about()}).encode()


def _part(call: GatheredCall) -> dict[str, Any]:
    number = {"id": call.id} if call.id else {}
    told = {"functionCall": {**number, "name": call.name, "args": call.given}}
    google = call.extra.get("google")
    signature = google.get("thought_signature") if isinstance(google, Mapping) else None
    return {**told, "thoughtSignature": signature} if signature else told


def _reason(reason: str) -> str:
    return _REASONS.get(reason, "STOP")


def _counts(usage: Usage) -> dict[str, Any]:
    cached = {"cachedContentTokenCount": usage.cache_read} if usage.cache_read else {}
    return {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input + usage.output,
        **cached,
    }
