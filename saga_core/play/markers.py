"""Markers by which a message names a session, a world or the player: ``[[saga:session=NAME]]``.

Only the client's own words are read for them, by whoever takes requests. Here they are taken out of replies: a model's
text names nothing, and a client sends it back in the next request's history.
"""

from __future__ import annotations

import re

from attrs import define

MARKER = re.compile(r"\[\[saga:(session|world|player)=([^\[\]\n]*)\]\]", re.IGNORECASE)
"""A kind and a name."""

_BEGINS = "[[saga:"
_LONGEST = 300
"""Characters that are held back at most while a marker may be coming."""


@define
class MarkerFilter:
    """Takes markers out of a text that comes in pieces. What may be the beginning of one is held back."""

    held: str = ""

    def feed(self, text: str) -> str:
        """What may be shown of the text so far, and was not."""
        if not self.held and "[" not in text:
            return text
        whole = MARKER.sub("", self.held + text)
        at = _open(whole)
        self.held = whole[at:]
        return whole[:at]

    def finish(self) -> str:
        """What was held back, and is no marker."""
        held, self.held = self.held, ""
        return held


def _open(text: str) -> int:
    """Where a marker may begin that is not at its end; the text's end for nowhere."""
    at = text.rfind("[[")
    if at < 0 or not _may_become(text[at:]):
        at = len(text) - 1 if text.endswith("[") else len(text)
    return at


def _may_become(tail: str) -> bool:
    if len(tail) > _LONGEST or "\n" in tail:
        return False
    begun = tail[: len(_BEGINS)].lower()
    if not _BEGINS.startswith(begun):
        return False
    return "]" not in tail[:-1]
