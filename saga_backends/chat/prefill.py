"""Prefills and greetings: replies, or histories, whose beginning a model does not accept as it is."""

from __future__ import annotations

from attrs import define, field

from saga_core.language import detect, language_of

OPENING = "[Start]"
"""The first words where a history begins with a reply, such as a greeting, and the user's must be first."""


def nudge(beginning: str) -> str:
    """The request to continue from ``beginning``, in its language."""
    return language_of(detect(beginning)).questions.nudge


@define
class Unrepeated:
    """Removes ``beginning`` from a reply's text if the model repeats it.

    Text is held back only as long as all of it matches the beginning. White space is ignored.
    """

    beginning: str
    _held: str = field(default="", init=False)
    _over: bool = field(default=False, init=False)
    _wanted: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._wanted = "".join(self.beginning.split())
        self._over = not self._wanted

    def feed(self, text: str) -> str:
        """Take a piece; what may be shown."""
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
        """No more of the beginning comes: what was held back."""
        self._over = True
        held, self._held = self._held, ""
        return held
