"""Applies the client's own limits to a reply's visible text: its length and its stop sequences. Sans-IO."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

_SETTLED = 200
_LONGEST = 400
"""Characters that are counted together: up to the first whitespace after ``_SETTLED``, and at most ``_LONGEST``."""


@define(eq=False)
class VisibleText:
    """Passes visible text up to the client's limits. The result does not depend on the pieces in which it arrives.

    ``limit`` is in tokens, as ``count`` counts them; 0 for no limit. ``stops`` are sequences that end the text and are
    not part of it. Only text that may be the beginning of such a sequence is held back.
    """

    limit: int = 0
    count: Callable[[str], int] = len
    stops: tuple[str, ...] = ()
    ended: str = ""
    """Why the text ended here, as OpenAI's finish reason: ``length`` or ``stop``; empty as long as it has not."""
    _held: str = field(default="", init=False)
    _counted: int = field(default=0, init=False)
    _part: str = field(default="", init=False)
    """The text that was shown and is not yet in ``_counted``."""

    def feed(self, text: str) -> str:
        """Take a piece of text, and return the text that can be shown now."""
        if self.ended:
            return ""
        if not self.stops:
            return self._within_limit(text)
        text, self._held = self._held + text, ""
        found = [(at + len(stop), at) for stop in self.stops if (at := text.find(stop)) >= 0]
        if found:
            shown = self._within_limit(text[: min(found)[1]])
            self._end("stop")
            return shown
        keep = max((self._begun(text, stop) for stop in self.stops), default=0)
        if keep:
            text, self._held = text[:-keep], text[-keep:]
        return self._within_limit(text)

    def finish(self) -> str:
        """End the text, and return what was held back."""
        text, self._held = self._held, ""
        return "" if self.ended else self._within_limit(text)

    def _end(self, why: str) -> None:
        """End the text here. The first reason counts."""
        self.ended = self.ended or why

    @staticmethod
    def _begun(text: str, stop: str) -> int:
        """How many characters at the end of ``text`` may be the beginning of ``stop``."""
        most = min(len(stop) - 1, len(text))
        return next((length for length in range(most, 0, -1) if text.endswith(stop[:length])), 0)

    def _within_limit(self, text: str) -> str:
        if not self.limit:
            return text
        shown: list[str] = []
        while text and not self.ended:
            piece, text = self._piece(text)
            part = self._part + piece
            if self._counted + self.count(part) > self.limit:
                shown.append(self._fitting(part)[len(self._part) :])
                self._end("length")
                break
            shown.append(piece)
            self._part = part
            if len(part) >= _LONGEST or (len(part) > _SETTLED and part[-1].isspace()):
                self._counted += self.count(part)
                self._part = ""
        return "".join(shown)

    def _piece(self, text: str) -> tuple[str, str]:
        """Split ``text`` into the piece that is counted together with ``_part``, and the rest."""
        most = _LONGEST - len(self._part)
        first = max(0, _SETTLED - len(self._part))
        end = next((at + 1 for at in range(first, min(len(text), most)) if text[at].isspace()), most)
        return text[:end], text[end:]

    def _fitting(self, part: str) -> str:
        """The longest beginning of ``part`` within the limit. It includes the text that was shown already."""
        low, high = len(self._part), len(part)
        while low < high:
            middle = (low + high + 1) // 2
            if self._counted + self.count(part[:middle]) <= self.limit:
                low = middle
            else:
                high = middle - 1
        return part[:low]
