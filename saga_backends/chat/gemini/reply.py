"""Reads a reply of Gemini's API, as events, as one JSON object or as a list of objects, without any I/O."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field

from saga_backends.chat.json_text import MOST_IN_EVENT, MOST_VALUES, TooManyValues, read_text
from saga_backends.chat.prefill import Unrepeated
from saga_backends.provider_error import Blame
from saga_core.errors import UpstreamError
from saga_core.ports import MOST_TOKENS, ChatPart, ExtraPart, FinishPart, TextPart, Usage, UsagePart

_PLAIN = {"STOP": "stop", "MAX_TOKENS": "length"}
_HELD = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR"}
    | {"IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}
)
"""Finish reasons for which Google withholds a reply. For others, the name of the reason is passed on."""
_ABOUT = ("safetyRatings", "citationMetadata", "groundingMetadata", "urlContextMetadata", "finishMessage")
"""Fields about a candidate that are passed on. Log probabilities are not, because they reveal the state block."""
_MADE = "call_"


def made_id() -> str:
    """Return an id for a tool call that came without one."""
    return f"{_MADE}{secrets.randbelow(10**12):012d}"


def is_made(number: str) -> bool:
    """Return whether the id of a tool call was created by SAGA, so that Google does not know it."""
    return number.startswith(_MADE) and number.removeprefix(_MADE).isdecimal()


@define
class GeminiReader:
    """Turns the chunks of one candidate into parts of choice ``index``, and checks that the reply is complete.

    Thoughts are passed on as ``reasoning_content``, pictures as ``images``, and other parts as ``google_parts``. Other
    fields of the candidate are passed on once, at the end, as ``google``. ``repeats`` removes the beginning of the
    reply if the model repeats it.
    """

    blame: Blame
    repeats: Unrepeated
    index: int = 0
    done: bool = field(default=False, init=False)
    """Always false until the response ends, because the usage may follow the last text."""
    _usage: Usage | None = field(default=None, init=False)
    _calls: int = field(default=0, init=False)
    _finished: bool = field(default=False, init=False)
    _about: dict[str, Any] = field(factory=dict, init=False)

    @property
    def complete(self) -> bool:
        """Whether the reply has a finish reason, after which only the usage may follow."""
        return self._finished

    def event(self, data: str) -> Iterator[ChatPart]:
        """Yield the parts of one event. Raises ``UpstreamError`` for an error event or an invalid chunk."""
        yield from self._chunk(self._json(data))

    def whole(self, body: bytes) -> Iterator[ChatPart]:
        """Yield the parts of a whole reply. Raises ``UpstreamError`` if the body is not a reply."""
        answer = self._json(body)
        for chunk in answer if isinstance(answer, list) else [answer]:
            if isinstance(chunk, Mapping) and not {"candidates", "promptFeedback", "usageMetadata", "error"} & {*chunk}:
                raise UpstreamError(
                    f"{self.blame.host} answered without candidates; is its base_url the one of this API?"
                )
            yield from self._chunk(chunk)

    def end(self) -> Iterator[ChatPart]:
        """Yield the text that was held back, and the usage. Raises ``UpstreamError`` if the reply is incomplete."""
        if rest := self.repeats.finish():
            yield TextPart(rest, self.index)
        if self._about:
            yield ExtraPart({"google": self._about}, self.index)
        if self._usage is not None:
            yield UsagePart(self._usage)
        if not self._finished:
            raise UpstreamError(f"{self.blame.host} ended its reply in the middle", passing=True)

    def _json(self, data: str | bytes) -> Any:
        try:
            return read_text(data, MOST_IN_EVENT if isinstance(data, str) else MOST_VALUES)
        except TooManyValues as error:
            raise UpstreamError(f"{self.blame.host} sent {error} in one piece") from None
        except ValueError:
            raise UpstreamError(f"{self.blame.host} sent something that is not JSON") from None

    def _chunk(self, chunk: Any) -> Iterator[ChatPart]:
        if not isinstance(chunk, Mapping):
            raise UpstreamError(f"{self.blame.host} sent a {type(chunk).__name__} where a reply was due")
        if chunk.get("error"):
            raise self.blame.reported(chunk["error"])
        if isinstance(chunk.get("usageMetadata"), Mapping):
            first, self._usage = self._usage is None, _usage(chunk["usageMetadata"])
            if first:
                yield UsagePart(self._usage)
        candidates = chunk.get("candidates")
        for candidate in candidates[:1] if isinstance(candidates, list) else ():
            if isinstance(candidate, Mapping):
                yield from self._candidate(candidate)
        feedback = chunk.get("promptFeedback")
        if isinstance(feedback, Mapping):
            self._about["promptFeedback"] = feedback
            if feedback.get("blockReason") and not self._finished:
                yield from self._blocked(feedback)

    def _candidate(self, candidate: Mapping[str, Any]) -> Iterator[ChatPart]:
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, Mapping) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, Mapping):
                yield from self._part(part)
        self._about |= {name: _unquoted(candidate[name]) for name in _ABOUT if candidate.get(name)}
        reason = candidate.get("finishReason")
        if isinstance(reason, str) and reason and not self._finished:
            yield from self._ended(reason)

    def _part(self, part: Mapping[str, Any]) -> Iterator[ChatPart]:
        text, signature = part.get("text"), part.get("thoughtSignature")
        signed = {"extra_content": {"google": {"thought_signature": signature}}} if isinstance(signature, str) else {}
        if isinstance(part.get("functionCall"), Mapping):
            yield self._call(part["functionCall"], signed)
        elif isinstance(text, str):
            if part.get("thought") is True:
                if text:
                    yield ExtraPart({"reasoning_content": text}, self.index)
            elif shown := self.repeats.feed(text):
                yield TextPart(shown, self.index)
            if signed:
                yield ExtraPart(signed, self.index)
        elif picture := _picture(part.get("inlineData")):
            yield ExtraPart({"images": [{"type": "image_url", "image_url": {"url": picture}}]}, self.index)
        elif set(part) - {"thought", "thoughtSignature"}:
            yield ExtraPart({"google_parts": [part]}, self.index)

    def _call(self, call: Mapping[str, Any], signed: Mapping[str, Any]) -> ExtraPart:
        number, name = call.get("id"), call.get("name")
        told = {
            "index": self._calls,
            "id": number if isinstance(number, str) and number else made_id(),
            "type": "function",
            "function": {
                "name": name if isinstance(name, str) else "",
                "arguments": json.dumps(call.get("args") or {}, ensure_ascii=False),
            },
            **signed,
        }
        self._calls += 1
        return ExtraPart({"tool_calls": [told]}, self.index)

    def _ended(self, reason: str) -> Iterator[ChatPart]:
        self._finished = True
        if reason not in _PLAIN:
            self._about["finishReason"] = reason
        if rest := self.repeats.finish():
            yield TextPart(rest, self.index)
        told = "content_filter" if reason in _HELD else _PLAIN.get(reason, "stop")
        yield FinishPart("tool_calls" if told == "stop" and self._calls else told, self.index)

    def _blocked(self, feedback: Mapping[str, Any]) -> Iterator[ChatPart]:
        """Yield a refusal, because the prompt itself was blocked and no candidate follows."""
        self._finished = True
        why = feedback.get("blockReasonMessage") or f"{self.blame.host} blocked the prompt: {feedback['blockReason']}"
        yield ExtraPart({"refusal": str(why)}, self.index)
        yield FinishPart("content_filter", self.index)


def _unquoted(about: Any) -> Any:
    """Return grounding metadata without the quoted text, because the quotes may contain the state block."""
    supports = about.get("groundingSupports") if isinstance(about, Mapping) else None
    if not isinstance(supports, list):
        return about
    kept = []
    for support in supports:
        segment = support.get("segment") if isinstance(support, Mapping) else None
        if isinstance(segment, Mapping):
            support = {**support, "segment": {name: segment[name] for name in segment if name != "text"}}
        kept.append(support)
    return {**about, "groundingSupports": kept}


def _picture(data: Any) -> str:
    """Return the data URL of a picture, or an empty text for other data."""
    if not isinstance(data, Mapping):
        return ""
    kind, content = data.get("mimeType"), data.get("data")
    if not isinstance(kind, str) or not kind.startswith("image/") or not isinstance(content, str):
        return ""
    return f"data:{kind};base64,{content}"


def _usage(bill: Mapping[str, Any]) -> Usage:
    """Return the tokens so far. Each count is cumulative. Thoughts are billed as output."""
    return Usage(
        input=_tokens(bill, "promptTokenCount") + _tokens(bill, "toolUsePromptTokenCount"),
        output=_tokens(bill, "candidatesTokenCount") + _tokens(bill, "thoughtsTokenCount"),
        cache_read=_tokens(bill, "cachedContentTokenCount"),
    )


def _tokens(bill: Mapping[str, Any], name: str) -> int:
    value = bill.get(name)
    return value if type(value) is int and 0 < value < MOST_TOKENS else 0
