"""Handles prefills and greetings for models that do not accept them directly."""

from __future__ import annotations

from attrs import define, field

from saga_core.language import detect, language_of

OPENING = "[Start]"
"""The user message to insert if a history begins with a reply, such as a greeting, and the user must be first."""


def nudge(beginning: str) -> str:
    """Return the request to continue from ``beginning``, in its language."""
    return language_of(detect(beginning)).questions.nudge


@define
class Unrepeated:
    """Removes ``beginning`` from the text of a reply if the model repeats it.

    Text is held back only while all of it matches the beginning. White space is ignored in the comparison.
    """

    beginning: str
    _held: str = field(default="", init=False)
    _over: bool = field(default=False, init=False)
    _wanted: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._wanted = "".join(self.beginning.split())
        self._over = not self._wanted

    def feed(self, text: str) -> str:
        """Add a piece of text and return the text that can be passed on."""
        if self._over:
            return text
        self._held += text
        at = matched = 0
        while at < len(self._held) and matched < len(self._wanted):
            char = self._held[at]
            if not char.isspace():
                if char != self._wanted[matched]:
                    return self.finish()
                matched += 1
            at += 1
        if matched == len(self._wanted):
            self._over = True
            self._held = self._held[at:]
            return self.finish()
        return ""

    def finish(self) -> str:
        """Stop comparing and return the text that was held back."""
        self._over = True
        held, self._held = self._held, ""
        return held
