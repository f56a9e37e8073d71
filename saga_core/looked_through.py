"""Shorten texts for code that searches them on the event loop."""

from __future__ import annotations

import re
from typing import Final

LONG: Final = 64_000
"""The longest text, in characters, that code on the event loop reads in full."""


_MANY = 64
"""A text with at most this many lines is searched as it is."""
_EMPTY = re.compile(r"\n(?:[ \t\r]*+\n){2,}+")


def without_empty_lines(text: str) -> str:
    """Return ``text`` with one empty line in place of several in a row.

    Patterns try something at each line, so a page of empty lines takes many times as long as a page of words.
    """
    return _EMPTY.sub("\n\n", text) if text.count("\n") > _MANY else text


def looked_through(text: str, most: int = LONG) -> str:
    """Return ``text``, or its beginning and end, joined by a newline, if it has more than ``most`` characters.

    This bounds the time of reading a text, during which the event loop serves no other request. The important parts of
    a long text are usually at its beginning and end.
    """
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-most // 2 :]}"
