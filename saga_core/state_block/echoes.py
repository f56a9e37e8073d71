"""The filter that hides SAGA's own context where a reply repeats it. Sans-IO.

Small models continue what they see: they open a reply with the block of context that stood before the player's words.
An echo goes from its opening sign to its closing sign, or to the first empty line.
"""

from __future__ import annotations

import re

_HEAD = re.compile(r"\[ ?(?:(?P<closes>/) ?SAGA ?\]|SAGA ?[:：][^\]\n]{0,200}\])")
_BEGUN = re.compile(r"\[ ?/? ?(?:S(?:A(?:G(?:A ?(?:[:：][^\]\n]{0,200})?)?)?)?)?")
_END = re.compile(r"\[ ?/ ?SAGA ?\]|\n[ \t]*\n")
_REACH = 32
"""Characters within which the end of an echo lies."""


def may_echo(text: str) -> bool:
    """Whether a text may repeat SAGA's context."""
    return "[" in text and _HEAD.search(text) is not None


class EchoFilter:
    """Hides repeated context while a reply streams. What it returns does not depend on how the reply is split."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = self._after = False

    def passes(self, text: str) -> bool:
        """Whether the next chunk is shown as it is."""
        return "[" not in text and not (self._held or self._inside or self._after)

    def feed(self, text: str) -> str:
        """Add a chunk and return what is shown of the reply so far."""
        text, self._held = self._held + text, ""
        shown: list[str] = []
        while text:
            if self._inside:
                end = _END.search(text)
                if end is None:
                    self._held = text[-_REACH:]
                    break
                self._inside, self._after, text = False, True, text[end.end() :]
            elif self._after:  # the white space behind an echo belongs to it
                text = text.lstrip()
                self._after = not text
            else:
                text = self._pass(text, shown)
        return "".join(shown)

    def _pass(self, text: str, shown: list[str]) -> str:
        """Show what stands before an echo, and return what follows its opening sign."""
        at = text.find("[")
        while at >= 0:
            head = _HEAD.match(text, at)
            if head is not None:
                shown.append(text[:at])
                self._inside, self._after = head["closes"] is None, head["closes"] is not None
                return text[head.end() :]
            if _BEGUN.fullmatch(text, at):
                self._held = text[at:]
                shown.append(text[:at])
                return ""
            at = text.find("[", at + 1)
        shown.append(text)
        return ""

    def finish(self) -> str:
        """End the reply, and return what was held back and is no echo."""
        rest = "" if self._inside or "SAGA" in self._held else self._held
        self._held = ""
        return rest
