"""Limits the size of a reply to more than any model writes, because later steps read the text several times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define

from saga_core.errors import UpstreamError
from saga_core.ports import ChatPart, ExtraPart, TextPart

MOST_TEXT = 4_000_000
"""The maximum number of characters of text, about as many as in a million tokens."""
MOST_BESIDE = 32_000_000
"""The maximum number of characters beside the text, in thoughts, tool calls, pictures and speech."""


@define
class ReplySize:
    """Counts the characters of a reply as its parts arrive."""

    host: str
    _said: int = 0
    _beside: int = 0

    def of(self, part: ChatPart) -> ChatPart:
        """Count ``part`` and return it. Raises ``UpstreamError`` if the reply becomes too long."""
        if type(part) is TextPart:
            self._said += len(part.text)
        elif isinstance(part, ExtraPart):
            self._beside += _length(part.fields)
        if self._said > MOST_TEXT:
            raise UpstreamError(f"{self.host} sent a reply of more than {MOST_TEXT:,} characters")
        if self._beside > MOST_BESIDE:
            raise UpstreamError(f"{self.host} sent more than {MOST_BESIDE:,} characters beside its reply")
        return part


def _length(value: Any) -> int:
    """The number of characters of all texts in a value, plus one for each nested value."""
    length, waiting = 0, [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            length += len(value)
        elif isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        length += 1
    return length
