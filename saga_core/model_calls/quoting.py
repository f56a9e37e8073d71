"""Texts of a story as material of a question: cut to size, without what SAGA itself put in."""

from __future__ import annotations

import re
from collections.abc import Callable

Count = Callable[[str], int]
"""Tokens of a text."""

_CUT = " […] "
_INJECTED = re.compile(r"\[SAGA:[^\]\n]{0,200}\].*?(?:\[/SAGA\]|(?=\n\s*\n)|\Z)", re.DOTALL | re.IGNORECASE)


def without_injected(text: str) -> str:
    """A text without blocks of SAGA's own context that a client or a reply repeated: what was told is no news."""
    return _INJECTED.sub("", text).strip() if "[SAGA" in text.upper() else text


def cut_middle(text: str, limit: int, count: Count) -> str:
    """``text``, or its beginning and its end with a mark between them, in at most ``limit`` tokens."""
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
