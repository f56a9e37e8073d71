"""Reply formats of text completion: OpenAI's, KoboldAI's and llama.cpp's."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_server.http.openai_schema import DONE, Choice, error_event, to_json, usage_object
from saga_server.http.shapes import Shape


@define(eq=False)
class CompletionShape(Shape):
    """OpenAI's text completions."""

    _id: str = field(factory=lambda: f"cmpl-{secrets.token_hex(12)}", init=False)
    _created: int = field(factory=lambda: int(time.time()), init=False)

    def _head(self) -> dict[str, Any]:
        return {"id": self._id, "object": "text_completion", "created": self._created, "model": self.model}

    def _chunk(self, index: int, text: str, finish: str | None = None, **fields: Any) -> bytes:
        choice = {"index": index, "text": text, "logprobs": None, "finish_reason": finish, **fields}
        return _event({**self._head(), "choices": [choice]})

    def text(self, index: int, text: str) -> bytes:
        """A chunk with text."""
        return self._chunk(index, text)

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """A chunk with other fields, such as ``reasoning``."""
        return self._chunk(index, "", **fields)

    def finish(self, index: int, reason: str) -> bytes:
        """The last chunk of a choice."""
        return self._chunk(index, "", reason)

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """A chunk with the token counts and their cost."""
        return _event({**self._head(), "choices": [], "usage": usage_object(usage, dollars)})

    def end(self) -> bytes:
        """``[DONE]``."""
        return DONE

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """A ``text_completion``."""
        told = [
            {
                "index": choice.index,
                "text": choice.text,
                "logprobs": None,
                "finish_reason": choice.finish,
                **choice.extra,
            }
            for choice in choices
        ]
        counts = {} if usage is None else {"usage": usage_object(usage, dollars)}
        return to_json({**self._head(), "choices": told, **counts}).encode()


@define(eq=False)
class KoboldShape(Shape):
    """The format of KoboldAI and KoboldCpp: ``results`` in a whole reply, events with a ``token`` in a stream."""

    def _token(self, text: str, finish: str | None = None, **fields: Any) -> bytes:
        return b"event: message\n" + _event({"token": text, "finish_reason": finish, **fields})

    def text(self, index: int, text: str) -> bytes:
        """An event with text."""
        return self._token(text)

    def finish(self, index: int, reason: str) -> bytes:
        """The last event."""
        return self._token("", reason)

    def failure(self, body: bytes) -> bytes:
        """An event with the error. The API defines none; clients that only read tokens see the end of the reply."""
        return b"event: message\n" + error_event(b'{"token":"","finish_reason":"error",' + body.removeprefix(b"{"))

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """``results``."""
        counts = {} if usage is None else {"prompt_tokens": usage.input, "completion_tokens": usage.output}
        results = [{"text": choice.text, "finish_reason": choice.finish, **counts} for choice in choices]
        return to_json({"results": results}).encode()


@define(eq=False)
class LlamaShape(Shape):
    """The format of llama.cpp: ``content``, and ``stop`` with the reason of the end."""

    def text(self, index: int, text: str) -> bytes:
        """An event with text."""
        return _event({"index": index, "content": text, "tokens": [], "stop": False})

    def finish(self, index: int, reason: str) -> bytes:
        """The last event."""
        return _event({"index": index, "content": "", "tokens": [], **self._ended(reason)})

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The reply as one JSON object."""
        choice = choices[0]
        counts = {} if usage is None else {"tokens_evaluated": usage.input, "tokens_predicted": usage.output}
        told = {"index": 0, "content": choice.text, "tokens": [], **self._ended(choice.finish), **counts}
        return to_json(told).encode()

    def _ended(self, reason: str) -> dict[str, Any]:
        limit = reason == "length"
        return {
            "model": self.model,
            "stop": True,
            "stop_type": "limit" if limit else "eos",
            "stopped_eos": not limit,
            "stopped_limit": limit,
            "stopped_word": False,
            "stopping_word": "",
        }


def _event(value: Mapping[str, Any]) -> bytes:
    return f"data: {to_json(value)}\n\n".encode()
