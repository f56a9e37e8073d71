"""Markers by which a message names a session, a world or the player: ``[[saga:session=NAME]]``.

Only the client's own words are searched for them, when a request arrives. Here they are removed from replies: a model
must not set them, and the client sends its reply back in the next request's history.
"""

from __future__ import annotations

import re

from attrs import define

MARKER = re.compile(r"\[\[saga:(session|world|player)=([^\[\]\n]*)\]\]", re.IGNORECASE)
"""Its groups are the kind and the name."""

_BEGINS = "[[saga:"
_LONGEST = 300
"""Most characters that are held back while a marker may be coming."""


@define
class MarkerFilter:
    """Removes markers from a streamed text. A possible beginning of a marker is held back."""

    held: str = ""

    def feed(self, text: str) -> str:
        """Take a piece of text, and return the text that can be shown now."""
        if not self.held and "[" not in text:
            return text
        whole = MARKER.sub("", self.held + text)
        at = _open(whole)
        self.held = whole[at:]
        return whole[:at]

    def finish(self) -> str:
        """End the text, and return what was held back, as it is no marker."""
        held, self.held = self.held, ""
        return held


def _open(text: str) -> int:
    """The index at which an unfinished marker may begin; the length of the text if there is none."""
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
