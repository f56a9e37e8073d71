"""Texts of a story as material of a question: shortened, and without context that SAGA added."""

from __future__ import annotations

import re
from collections.abc import Callable

Count = Callable[[str], int]
"""Returns the number of tokens of a text."""

_CUT = " […] "
_INJECTED = re.compile(r"\[SAGA:[^\]\n]{0,200}\].*?(?:\[/SAGA\]|(?=\n\s*\n)|\Z)", re.DOTALL | re.IGNORECASE)


def without_injected(text: str) -> str:
    """Return a text without blocks of SAGA's own context that a client or a reply repeated."""
    return _INJECTED.sub("", text).strip() if "[SAGA" in text.upper() else text


def cut_middle(text: str, limit: int, count: Count) -> str:
    """Return ``text`` in at most ``limit`` tokens, if necessary only its beginning and its end with a mark between."""
    cost = count(text)
    if cost <= limit:
        return text
    keep = len(text) * max(0, limit) // cost
    while keep > 1:
        shown = f"{text[: keep // 2].rstrip()}{_CUT}{text[len(text) - keep // 2 :].lstrip()}"
        cost = count(shown)
        if cost <= limit:
            return shown
        keep = min(keep - 1, keep * limit // cost)
    return ""
