"""Limits for the size of one request, checked before any work is done and without holding up other requests."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

from saga_server.http.errors import RequestError

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)', re.DOTALL)
_SLICE = 1 << 20
"""Bytes that are searched in one step. A larger body is read in a thread, but counting holds the GIL."""
_BREATH = 0.001
"""Seconds of sleep between two slices, during which other threads run."""
MAX_NODES = 500_000
"""Values in a request's JSON; each list, object and field counts. A long chat has ten thousand."""
MAX_PARTS = 20_000
"""Content parts of all messages together."""
MAX_DEPTH = 64
"""Nesting levels of lists and objects in a request; the schemas of tools take a dozen."""


def check_density(body: bytes) -> None:
    """Raise ``RequestError`` if a body holds too many values.

    Counts the separators outside of strings. It runs before the JSON is parsed, because the objects would take fifty
    times the memory.
    """
    if len(body) > MAX_NODES and _separators(body) > MAX_NODES and _separators(_STRING.sub(b"", body)) > MAX_NODES:
        raise RequestError(f"the body holds more than {MAX_NODES:,} values", param="body", status=413)


def _separators(body: bytes) -> int:
    found = 0
    for start in range(0, len(body), _SLICE):
        if start:
            time.sleep(_BREATH)
        end = start + _SLICE
        found += body.count(b",", start, end) + body.count(b"[", start, end) + body.count(b"{", start, end)
    return found


def check_nodes(value: Any) -> None:
    """Raise ``RequestError`` if a request's JSON has too many values or nesting levels."""
    level, nodes = [value] if type(value) in (dict, list) else [], 1
    for _ in range(MAX_DEPTH + 1):
        held = [each.values() if type(each) is dict else each for each in level]
        found = sum(map(len, held))
        nodes += found
        if nodes > MAX_NODES:
            raise RequestError(f"the body holds more than {MAX_NODES:,} values", param="body", status=413)
        if not found:
            return
        level = [child for each in held for child in each if type(child) is dict or type(child) is list]
    raise RequestError(f"the body is nested too deeply: more than {MAX_DEPTH} levels", param="body")


def check_text(messages: Sequence[Any], max_text_mb: int) -> None:
    """Raise ``RequestError`` if the messages hold too much text or too many parts."""
    limit, found, parts = max_text_mb << 20, 0, 0
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            parts += len(content)
            found += sum(_bytes(part.get("text")) for part in content if isinstance(part, dict))
        else:
            found += _bytes(content)
    if found > limit:
        raise RequestError(
            f"messages: {found:,} bytes of text given; at most {limit:,} are taken (server.max_text_mb)",
            param="messages",
            status=413,
        )
    if parts > MAX_PARTS:
        raise RequestError(
            f"messages: {parts:,} parts given; at most {MAX_PARTS:,} are taken", param="messages", status=413
        )


def _bytes(text: Any) -> int:
    if not isinstance(text, str):
        return 0
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
