"""How long a reply may be: no model says as much, and whoever hears it reads it several times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define

from saga_core.errors import UpstreamError
from saga_core.ports import ChatPart, ExtraPart, TextPart

MOST_TEXT = 4_000_000
"""Characters of text; a million tokens have about as many."""
MOST_BESIDE = 32_000_000
"""Characters of what stands beside it: thoughts, calls, pictures and speech."""


@define
class ReplySize:
    """Counts what a reply says as its parts come."""

    host: str
    _said: int = 0
    _beside: int = 0

    def of(self, part: ChatPart) -> ChatPart:
        """The part, counted. Raises ``UpstreamError`` for one that is too much."""
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
    """The characters of all texts in a value, and one for each of its members."""
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
