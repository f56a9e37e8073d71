"""Server-sent events, as a frontend reads them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any


class BrokenStream(Exception):
    """A stream that did not end as the OpenAI API ends one."""


async def read_events(pieces: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """The JSON of each event up to ``[DONE]``, however the bytes are cut.

    Raises ``BrokenStream`` when the stream ends before it, or holds an error.
    """
    held = b""
    async for piece in pieces:
        held = (held + piece).replace(b"\r\n", b"\n")
        while b"\n\n" in held:
            event, _, held = held.partition(b"\n\n")
            data = _data(event)
            if data == "[DONE]":
                return
            if data:
                value = json.loads(data)
                if "error" in value:
                    raise BrokenStream(f"error in mid-stream: {value['error']}")
                yield value
    raise BrokenStream("the stream ended without [DONE]")


def _data(event: bytes) -> str:
    lines = event.decode().split("\n")
    return "\n".join(line[5:].removeprefix(" ") for line in lines if line.startswith("data:"))
