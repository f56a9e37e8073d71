"""The words of the context block: everything in it that is not from the story."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import field, frozen

_SIGN = re.compile(r"\[(?=/?SAGA)", re.IGNORECASE)
_TOKEN = re.compile(r"<(?=\|[A-Za-z_]{1,40}\|>)")
"""What begins a token of a model's template, such as ``<|im_end|>``."""


@frozen(kw_only=True, eq=False, repr=False)
class Labels:
    """The block's first and last line, headings, and labels. A text in braces is filled in."""

    opening: str
    closing: str = "[/SAGA]"
    sections: Mapping[str, str] = field(factory=dict)
    """Headings by a section's name, in brackets. A section that is not here has its own English heading."""
    place: str
    hp: str = "HP"
    inventory: str
    mood: str
    player: str
    present: str
    nearby: str
    ways: str
    dead: str
    changed: str
    nothing: str
    since_turn: str
    turn: str
    secret: str
    secret_of_none: str
    is_dead: str
    renamed: str
    same_as: str
    alive_again: str
    gone: str
    unnoted: str
    more: str
    not_there: str
    formerly: str
    wish: str
    limit: str
    edges: Mapping[str, str]
    """By an edge's type; one that is not here is called by its type."""


def without_signs(text: str) -> str:
    """Text of a story or a world that can form none of SAGA's own signs, and no token of a model's template.

    A "[" before "SAGA" or "/SAGA" becomes "(". So does the "<" of ``<|im_end|>``: local servers may take it for one.
    """
    text = _SIGN.sub("(", text) if "[" in text else text
    return _TOKEN.sub("(", text) if "<|" in text else text
