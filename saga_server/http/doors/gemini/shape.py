"""Reply format of Gemini's API: one object, a list of objects, or an event for each object."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_server.http.doors.failures import told_to
from saga_server.http.doors.tool_calls import GatheredCall, GatheredCalls, thought_in
from saga_server.http.openai_schema import ALIVE, Choice, error_event, to_json
from saga_server.http.shapes import Shape

_PICTURE = re.compile(r"data:([\w.+/-]+);base64,(.*)\Z", re.DOTALL)
_REASONS = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}


@define(eq=False)
class GeminiShape(Shape):
    """Replies with ``candidates``. A tool call is sent as a whole, as Google does, once it is complete."""

    listed: bool = False
    """Whether a stream is one JSON list, which Google sends without ``alt=sse``."""
    _id: str = field(factory=lambda: secrets.token_urlsafe(16), init=False)
    _sent: int = field(default=0, init=False)
    _calls: dict[int, GatheredCalls] = field(factory=dict, init=False)
    """The tool calls of each choice, as far as they have arrived."""
    _usage: Mapping[str, Any] = field(factory=dict, init=False)
    _ends: dict[int, str] = field(factory=dict, init=False)
    _about: dict[int, Mapping[str, Any]] = field(factory=dict, init=False)
    """Google's own fields of each candidate."""

    @property
    def content_type(self) -> str:
        """The content type of a stream."""
        return "application/json" if self.listed else "text/event-stream"

    def _event(self, value: Mapping[str, Any]) -> bytes:
        self._sent += 1
        if not self.listed:
            return f"data: {to_json(value)}\r\n\r\n".encode()
        return (("[" if self._sent == 1 else ",\r\n") + to_json(value)).encode()

    def _told(self, index: int, parts: Sequence[Any], reason: str = "") -> bytes:
        candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": index}
        usage = {"usageMetadata": self._usage} if self._usage and reason else {}
        beside: dict[str, Any] = {}
        if reason:
            about, beside = _told_of(self._about.get(index), reason)
            candidate |= about
        return self._event({"candidates": [candidate], **usage, **beside, **self._named()})

    def _named(self) -> dict[str, Any]:
        return {"modelVersion": self.model, "responseId": self._id}

    def text(self, index: int, text: str) -> bytes:
        """A piece of text."""
        return self._told(index, [{"text": text}])

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """An event with reasoning text, images and Google's own parts. Tool calls are kept for the end."""
        self._calls.setdefault(index, GatheredCalls()).gather(fields)
        if isinstance(fields.get("google"), Mapping):
            self._about[index] = fields["google"]
        parts = _thought(fields) + _own_parts(fields)
        return self._told(index, parts) if parts else b""

    def finish(self, index: int, reason: str) -> bytes:
        """Nothing yet; ``end`` gives the reason."""
        self._ends[index] = reason
        return b""

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """Nothing yet; ``end`` gives the token counts."""
        self._usage = _counts(usage)
        return b""

    def end(self) -> bytes:
        """An event for each choice with its tool calls and the reason of its end."""
        told = b""
        for index, reason in sorted(self._ends.items()):
            gathered = self._calls.get(index, GatheredCalls())
            told += self._told(index, [*map(_part, gathered.calls)] or [{"text": ""}], _reason(reason))
        return told + self._closed()

    def _closed(self) -> bytes:
        return (b"]" if self._sent else b"[]") if self.listed else b""

    def alive(self) -> bytes:
        """White space in a list, because JSON has no comments; otherwise a comment."""
        return b"\r\n" if self.listed else ALIVE

    def notice(self, text: str) -> bytes:
        """A comment; nothing in a list, because JSON has no comments."""
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
        """The whole reply as JSON."""
        candidates, beside = list[dict[str, Any]](), dict[str, Any]()
        for choice in choices:
            parts = _thought(choice.extra)
            gathered = GatheredCalls()
            gathered.gather(choice.extra)
            if choice.text or not gathered.calls:
                parts.append({"text": choice.text})
            parts += _own_parts(choice.extra) + [_part(call) for call in gathered.calls]
            about, told = _told_of(choice.extra.get("google"), _reason(choice.finish))
            beside |= told
            candidates.append({"content": {"parts": parts, "role": "model"}, "index": choice.index, **about})
        counts = {} if usage is None else {"usageMetadata": _counts(usage)}
        return to_json({"candidates": candidates, **counts, **beside, **self._named()}).encode()


def _thought(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    thought = thought_in(fields)
    return [{"text": thought, "thought": True}] if thought else []


def _own_parts(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return images, parts that only this API has, and the signature of a text."""
    found: list[dict[str, Any]] = []
    images, parts = fields.get("images"), fields.get("google_parts")
    for image in images if isinstance(images, list) else ():
        url = image.get("image_url") if isinstance(image, Mapping) else None
        match = _PICTURE.match(str(url.get("url"))) if isinstance(url, Mapping) else None
        if match is not None:
            found.append({"inlineData": {"mimeType": match[1], "data": match[2]}})
    found += [dict(part) for part in (parts if isinstance(parts, list) else ()) if isinstance(part, Mapping)]
    signature = _signature(fields.get("extra_content"))
    return [*found, {"text": "", "thoughtSignature": signature}] if signature else found


def _told_of(about: Any, reason: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a candidate, and the fields beside ``candidates``.

    Google's own finish reason is more precise, so it replaces ``reason`` unless the limit of tokens was reached.
    """
    about = dict(about) if isinstance(about, Mapping) else {}
    beside = {"promptFeedback": about.pop("promptFeedback")} if "promptFeedback" in about else {}
    finer = about.pop("finishReason", None)
    return {"finishReason": finer if finer and reason != "MAX_TOKENS" else reason, **about}, beside


def _part(call: GatheredCall) -> dict[str, Any]:
    number = {"id": call.id} if call.id else {}
    told = {"functionCall": {**number, "name": call.name, "args": call.given}}
    signature = _signature(call.extra)
    return {**told, "thoughtSignature": signature} if signature else told


def _signature(content: Any) -> Any:
    google = content.get("google") if isinstance(content, Mapping) else None
    return google.get("thought_signature") if isinstance(google, Mapping) else None


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
