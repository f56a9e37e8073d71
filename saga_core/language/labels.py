"""The words of the context block: all of its text that does not come from the story."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import field, frozen

_SIGN = re.compile(r"\[(?=/?SAGA)", re.IGNORECASE)
_TOKEN = re.compile(r"<(?=\|[A-Za-z_]{1,40}\|>)")
"""The first character of a token in a model's template, such as ``<|im_end|>``."""


@frozen(kw_only=True, eq=False, repr=False)
class Labels:
    """The block's first and last line, headings, and labels. Fields in braces are filled in."""

    opening: str
    closing: str = "[/SAGA]"
    sections: Mapping[str, str] = field(factory=dict)
    """Headings in brackets, by the name of the section. A section without an entry keeps its own English heading."""
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
    """Labels by edge type. An edge without an entry is labelled with its type."""


def without_signs(text: str) -> str:
    """Text of a story or a world with SAGA's own markers and tokens of a model's template made harmless.

    A "[" before "SAGA" or "/SAGA" becomes "(". So does the "<" of ``<|im_end|>``, because local servers may interpret
    it as a template token.
    """
    text = _SIGN.sub("(", text) if "[" in text else text
    return _TOKEN.sub("(", text) if "<|" in text else text
