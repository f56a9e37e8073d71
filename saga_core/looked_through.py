"""Shorten very long texts to their beginning and end, where the important parts of a long text usually are."""

from __future__ import annotations

from typing import Final

LONG: Final = 64_000
"""The longest text, in characters, that code on the event loop reads in full."""


def looked_through(text: str, most: int = LONG) -> str:
    """Return ``text``, or its beginning and end, joined by a newline, if it has more than ``most`` characters.

    This bounds the time of reading a text, during which the event loop serves no other request.
    """
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-most // 2 :]}"
