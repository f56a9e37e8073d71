"""Formats of replies: the events of a stream, and the JSON of a whole reply."""

from __future__ import annotations

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_server.http.header_text import header_text
from saga_server.http.openai_schema import (
    ALIVE,
    DONE,
    Choice,
    ChunkWriter,
    completion,
    error_event,
)


@define(eq=False)
class Shape(ABC):
    """The format of one reply. ``model`` is the model's name in the reply."""

    model: str

    @property
    def content_type(self) -> str:
        """The content type of a stream."""
        return "text/event-stream"

    def role(self, index: int) -> bytes:
        """The beginning of a choice."""
        return b""

    @abstractmethod
    def text(self, index: int, text: str) -> bytes:
        """A piece of a choice's text."""

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """Fields that are passed on unchanged, if the format has a place for them."""
        return b""

    @abstractmethod
    def finish(self, index: int, reason: str) -> bytes:
        """The end of a choice."""

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """The token counts, if the client asked for them."""
        return b""

    def end(self) -> bytes:
        """The end of the stream."""
        return b""

    def alive(self) -> bytes:
        """A sign of life that keeps the connection open."""
        return ALIVE

    def notice(self, text: str) -> bytes:
        """A notice that comes too late for the headers, as a comment, which clients ignore."""
        return f": X-SAGA-Notice: {header_text(text)}\n\n".encode()

    def failure(self, body: bytes) -> bytes:
        """An error that ends the stream."""
        return error_event(body) + self.end()

    @abstractmethod
    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The whole reply as JSON."""


@define(eq=False)
class ChatShape(Shape):
    """OpenAI's chat completions."""

    _id: str = field(factory=lambda: f"chatcmpl-{secrets.token_hex(12)}", init=False)
    _created: int = field(factory=lambda: int(time.time()), init=False)
    _writer: ChunkWriter = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._writer = ChunkWriter(self._id, self._created, self.model)

    def role(self, index: int) -> bytes:
        """The chunk with the role."""
        return self._writer.role(index)

    def text(self, index: int, text: str) -> bytes:
        """A chunk with text."""
        return self._writer.text(index, text)

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """A chunk with other fields."""
        return self._writer.extra(index, fields)

    def finish(self, index: int, reason: str) -> bytes:
        """The last chunk of a choice."""
        return self._writer.finish(index, reason)

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """A chunk with the token counts and their cost."""
        return self._writer.usage(usage, dollars)

    def end(self) -> bytes:
        """``[DONE]``."""
        return DONE

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """A ``chat.completion``."""
        return completion(self._id, self._created, self.model, list(choices), usage, dollars)
