"""What the client's own limits leave of a reply's visible text: its length and its stop sequences. Sans-IO."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

_SETTLED = 200
_LONGEST = 400
"""Characters that are counted together: up to white space behind the first, and at most the second."""


@define(eq=False)
class VisibleText:
    """Lets visible text through up to the client's limits; however the text is cut, the result is the same.

    ``limit``: tokens, as ``count`` counts them; 0 for none. ``stops``: sequences that end the text, and are no part of
    it. Held back is no more than what may yet be such a sequence.
    """

    limit: int = 0
    count: Callable[[str], int] = len
    stops: tuple[str, ...] = ()
    ended: str = ""
    """Why the text ended here, as OpenAI's finish reason: ``length`` or ``stop``; empty while it did not."""
    _held: str = field(default="", init=False)
    _counted: int = field(default=0, init=False)
    _part: str = field(default="", init=False)
    """What was shown and is not yet in ``_counted``."""

    def feed(self, text: str) -> str:
        """What of ``text``, and of what was held back, may be shown."""
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
        """What was held back, now that the text is over."""
        text, self._held = self._held, ""
        return "" if self.ended else self._within_limit(text)

    def _end(self, why: str) -> None:
        """The text ends here; the first reason counts."""
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
        """What of ``text`` is counted with what stands before it, and the rest."""
        most = _LONGEST - len(self._part)
        first = max(0, _SETTLED - len(self._part))
        end = next((at + 1 for at in range(first, min(len(text), most)) if text[at].isspace()), most)
        return text[:end], text[end:]

    def _fitting(self, part: str) -> str:
        """The longest beginning of ``part`` that is within the limit, what was shown of it included."""
        low, high = len(self._part), len(part)
        while low < high:
            middle = (low + high + 1) // 2
            if self._counted + self.count(part[:middle]) <= self.limit:
                low = middle
            else:
                high = middle - 1
        return part[:low]
