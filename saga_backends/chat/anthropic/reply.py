"""Reads a reply of Anthropic's Messages API, as events or as one JSON object, without any I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, evolve, field

from saga_backends.chat.json_text import MOST_IN_EVENT, MOST_VALUES, TooManyValues, read_text
from saga_backends.chat.prefill import Unrepeated
from saga_backends.provider_error import Blame
from saga_core.errors import UpstreamError
from saga_core.ports import MOST_TOKENS, ChatPart, ExtraPart, FinishPart, TextPart, Usage, UsagePart

_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}

SIGNED = "anthropic-claude-v1"
"""The name in ``reasoning_details`` for the format of Anthropic's signatures, the same as at OpenRouter."""


@define
class MessageReader:
    """Turns the events of one message into parts of choice ``index``, and checks that the message is complete.

    Thinking is passed on as ``reasoning_content``, and at the end of each block as ``reasoning_details`` with its
    signature. Without the latter, the API does not continue thinking after a tool call. ``repeats`` removes the
    beginning of the reply if the model repeats it.
    """

    blame: Blame
    repeats: Unrepeated
    index: int = 0
    done: bool = False
    _usage: Usage | None = field(default=None, init=False)
    _calls: int = field(default=0, init=False)
    _finished: bool = field(default=False, init=False)
    _thinking: str = field(default="", init=False)
    _signature: str = field(default="", init=False)

    @property
    def complete(self) -> bool:
        """Whether the reply has a finish reason, after which only the usage may follow."""
        return self._finished

    def event(self, data: str) -> Iterator[ChatPart]:
        """Yield the parts of one event. Raises ``UpstreamError`` for an error event or an invalid event."""
        event = self._json(data)
        kind = event.get("type")
        if kind == "content_block_delta":
            yield from self._delta(event.get("delta"))
        elif kind == "content_block_start":
            yield from self._block(event.get("content_block"), whole=False)
        elif kind == "content_block_stop":
            yield from self._signed()
        elif kind == "message_start":
            message = event.get("message")
            if isinstance(message, Mapping) and self._bill(message.get("usage")):
                yield from self._billed()
        elif kind == "message_delta":
            self._bill(event.get("usage"))
            yield from self._end_of(event.get("delta"))
        elif kind == "message_stop":
            self.done = True
        elif kind == "error" or event.get("error"):
            raise self.blame.reported(event.get("error"))

    def whole(self, body: bytes) -> Iterator[ChatPart]:
        """Yield the parts of a whole message. Raises ``UpstreamError`` if the body is not a message."""
        message = self._json(body)
        if message.get("type") == "error":
            raise self.blame.reported(message.get("error"))
        content = message.get("content")
        if not isinstance(content, list):
            raise UpstreamError(f"{self.blame.host} answered without content; is its base_url the one of this API?")
        self._bill(message.get("usage"))
        for block in content:
            yield from self._block(block, whole=True)
            yield from self._signed()
        yield from self._end_of(message)
        self.done = True

    def end(self) -> Iterator[ChatPart]:
        """Yield the text that was held back, and the usage. Raises ``UpstreamError`` if the message is incomplete."""
        rest = self.repeats.finish()
        if rest:
            yield TextPart(rest, self.index)
        yield from self._billed()
        if not self.done and not self._finished:
            raise UpstreamError(f"{self.blame.host} ended its reply in the middle", passing=True)

    def _json(self, data: str | bytes) -> Mapping[str, Any]:
        try:
            found = read_text(data, MOST_IN_EVENT if isinstance(data, str) else MOST_VALUES)
        except TooManyValues as error:
            raise UpstreamError(f"{self.blame.host} sent {error} in one piece") from None
        except ValueError:
            raise UpstreamError(f"{self.blame.host} sent something that is not JSON") from None
        if not isinstance(found, Mapping):
            raise UpstreamError(f"{self.blame.host} sent a {type(found).__name__} where a message was due")
        return found

    def _text(self, text: Any) -> Iterator[ChatPart]:
        shown = self.repeats.feed(text) if isinstance(text, str) else ""
        if shown:
            yield TextPart(shown, self.index)

    def _thought(self, text: Any) -> Iterator[ChatPart]:
        if isinstance(text, str) and text:
            self._thinking += text
            yield ExtraPart({"reasoning_content": text}, self.index)

    def _signed(self) -> Iterator[ChatPart]:
        """Yield the thoughts of a block with the signature by which the provider recognises them."""
        thought, signature = self._thinking, self._signature
        self._thinking = self._signature = ""
        if signature:
            yield self._detail({"type": "reasoning.text", "text": thought, "signature": signature})

    def _detail(self, detail: Mapping[str, Any]) -> ExtraPart:
        return ExtraPart({"reasoning_details": [{**detail, "format": SIGNED}]}, self.index)

    def _delta(self, delta: Any) -> Iterator[ChatPart]:
        if not isinstance(delta, Mapping):
            return
        kind = delta.get("type")
        if kind == "text_delta":
            yield from self._text(delta.get("text"))
        elif kind == "thinking_delta":
            yield from self._thought(delta.get("thinking"))
        elif kind == "signature_delta" and isinstance(delta.get("signature"), str):
            self._signature += delta["signature"]
        elif kind == "input_json_delta" and isinstance(delta.get("partial_json"), str) and delta["partial_json"]:
            yield self._call({"function": {"arguments": delta["partial_json"]}})

    def _block(self, block: Any, *, whole: bool) -> Iterator[ChatPart]:
        if not isinstance(block, Mapping):
            return
        kind = block.get("type")
        if kind == "text":
            yield from self._text(block.get("text"))
        elif kind == "thinking":
            yield from self._thought(block.get("thinking"))
            self._signature = block["signature"] if isinstance(block.get("signature"), str) else ""
        elif kind == "redacted_thinking" and isinstance(block.get("data"), str):
            yield self._detail({"type": "reasoning.encrypted", "data": block["data"]})
        elif kind == "tool_use":
            self._calls += 1
            arguments = json.dumps(block.get("input") or {}, ensure_ascii=False) if whole else ""
            yield self._call(
                {
                    "id": str(block.get("id", "")),
                    "type": "function",
                    "function": {"name": str(block.get("name", "")), "arguments": arguments},
                }
            )

    def _call(self, call: Mapping[str, Any]) -> ExtraPart:
        return ExtraPart({"tool_calls": [{"index": max(0, self._calls - 1), **call}]}, self.index)

    def _end_of(self, delta: Any) -> Iterator[ChatPart]:
        reason = delta.get("stop_reason") if isinstance(delta, Mapping) else None
        if not isinstance(reason, str) or self._finished:
            return
        self._finished = True
        details = delta.get("stop_details")
        why = details.get("explanation") if isinstance(details, Mapping) else None
        if reason == "refusal" and isinstance(why, str) and why:
            yield ExtraPart({"refusal": why}, self.index)
        rest = self.repeats.finish()
        if rest:
            yield TextPart(rest, self.index)
        yield FinishPart(_REASONS.get(reason, "stop"), self.index)

    def _bill(self, bill: Any) -> bool:
        """Add a usage report, and return whether there was one. Counts are cumulative; unchanged ones may be absent."""
        if not isinstance(bill, Mapping):
            return False
        before = self._usage or Usage()
        fresh = before.input - before.cache_read - before.cache_write
        read = _tokens(bill.get("cache_read_input_tokens"), before.cache_read)
        written = _tokens(bill.get("cache_creation_input_tokens"), before.cache_write)
        by_life = bill.get("cache_creation")
        hour = by_life.get("ephemeral_1h_input_tokens") if isinstance(by_life, Mapping) else None
        self._usage = evolve(
            before,
            input=_tokens(bill.get("input_tokens"), fresh) + read + written,
            output=_tokens(bill.get("output_tokens"), before.output),
            cache_read=read,
            cache_write=written,
            cache_write_1h=min(written, _tokens(hour, before.cache_write_1h)),
        )
        return True

    def _billed(self) -> Iterator[ChatPart]:
        if self._usage is not None:
            yield UsagePart(self._usage)


def _tokens(value: Any, before: int) -> int:
    return value if type(value) is int and 0 <= value < MOST_TOKENS else before
