"""Splits the work on a reply, so that other tasks run in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from attrs import evolve

from saga_core.ports import ChatPart, TextPart

_PORTION = 4_096
"""Characters of a reply that are processed before other tasks may run, however they are split into parts. Searching
them for the state block takes up to 3 µs for each."""
_PART = 64
"""How many characters a part counts for besides its text, because each part takes some work."""


async def in_portions(parts: AsyncIterator[ChatPart]) -> AsyncGenerator[ChatPart]:
    """Yield the parts of a reply, long texts in pieces, and let other tasks run after each portion."""
    processed = 0
    async for part in parts:
        for piece in _pieces(part):
            yield piece
            processed += _PART + (len(piece.text) if isinstance(piece, TextPart) else 0)
            if processed > _PORTION:
                processed = 0
                await asyncio.sleep(0)


def _pieces(part: ChatPart) -> list[ChatPart]:
    if not isinstance(part, TextPart) or len(part.text) <= _PORTION:
        return [part]
    return [evolve(part, text=part.text[at : at + _PORTION]) for at in range(0, len(part.text), _PORTION)]
