"""A large JSON body in pieces, so that sending a picture neither copies it nor blocks the event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from saga_core.messages import characters

LARGE = 1 << 20
"""Characters in all texts of a body from which on it is sent in pieces."""
_PIECE = 64 * 1_024
"""Characters that are written at once."""


async def written(value: Any) -> AsyncIterator[bytes]:
    """Yield a value as JSON in UTF-8. Other tasks may run between two pieces. Raises ``UnicodeEncodeError``."""
    held: list[str] = []
    size = 0
    for text in _texts(value):
        held.append(text)
        size += len(text)
        if size >= _PIECE:
            yield "".join(held).encode()
            held, size = [], 0
            await asyncio.sleep(0)
    yield "".join(held).encode()


def _texts(value: Any) -> Iterator[str]:
    if type(value) is str and len(value) > _PIECE:
        yield '"'
        for at in range(0, len(value), _PIECE):
            yield _json(value[at : at + _PIECE])[1:-1]
        yield '"'
    elif type(value) is list and characters(value) > _PIECE:
        for number, each in enumerate(value):
            yield "," if number else "["
            yield from _texts(each)
        yield "]"
    elif type(value) is dict and characters(value) > _PIECE:
        for number, (name, each) in enumerate(value.items()):
            yield f"{',' if number else '{'}{_json(str(name))}:"
            yield from _texts(each)
        yield "}"
    else:
        yield _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
