"""Removes from a text what it repeats of the text that it continues. Sans-IO."""

from __future__ import annotations

import re

from attrs import define, field

from saga_core.language.language import is_unspaced

_REACH = 600
"""A repetition begins at most so many characters before the end of the earlier text, or at its beginning."""
_LETTERS, _UNSPACED = 8, 4
"""The shortest repetition of several words, and in scripts without spaces, in characters without white space."""
_HALF = 3
"""The shortest half of a word that is begun again."""
_ALIKE = str.maketrans("“”„‟«»「」『』＂‘’‚‛＇‐‑‒–—―−…", '"' * 11 + "'" * 5 + "-" * 7 + ".")
_RUNS = "-."
"""Signs of which one may stand for several."""
_MARKUP = "*_"
_NO_MARKUP = dict.fromkeys(map(ord, _MARKUP))
_MARK = re.compile(r"(?:\*+|_+)(?=\S)|(?<=\S)(?:\*+|_+)")
"""A mark that begins or ends emphasis, not the one of an item in a list."""
_HYPHENS = "-‐‑"


@define
class Unrepeated:
    """Removes from a text the words at the end of ``beginning``, or all of it, if the text begins with them.

    White space, case, marks of emphasis, the kind of quotation marks and dashes, and dots in front are ignored in the
    comparison. Text is held back only while all of it repeats something. A repetition of part of ``beginning`` starts
    with a word. It has several words, or ends in the middle of one that the text completes.
    """

    beginning: str
    over: bool = field(default=False, init=False)
    """Whether nothing is removed any more."""
    _held: str = field(default="", init=False)
    _at: int = field(default=0, init=False)
    """How much of the held text was compared."""
    _wanted: list[tuple[int, str]] = field(init=False)
    """The characters of the beginning that are compared, with their places."""
    _passed: str = field(init=False)
    """The marks that are not compared."""
    _matched: int = field(default=0, init=False)
    _last: str = field(default="", init=False)
    """The character that was compared last."""
    _starts: list[int] = field(init=False)
    """Where in ``_wanted`` that begins which is repeated so far."""
    _found: tuple[int, int] | None = field(default=None, init=False)
    """The longest repetition: where it starts in ``_wanted``, and where it ends in the held text."""

    def __attrs_post_init__(self) -> None:
        self._passed = _MARKUP if self.beginning.translate(_NO_MARKUP).strip() else ""
        self._wanted, last = [], ""
        for at, char in enumerate(self.beginning.translate(_ALIKE)):
            if not (char.isspace() or char in self._passed or (char == last and char in _RUNS)):
                self._wanted.append((at, char.casefold()))
                last = char
        self.over = not self._wanted
        first = len(self.beginning) - _REACH
        self._starts = [
            start for start, (at, _) in enumerate(self._wanted) if start == 0 or (at >= first and self._starts_word(at))
        ]

    def _starts_word(self, at: int) -> bool:
        return not self.beginning[at - 1].isalnum() or is_unspaced(self.beginning[at])

    def feed(self, text: str) -> str:
        """Add a piece of text and return the text that can be passed on."""
        if self.over:
            return text
        self._held += text
        while self._starts and self._at < len(self._held):
            char = self._held[self._at].translate(_ALIKE)
            self._at += 1
            in_front = not self._matched and char == "." and self._wanted[0][1] != "."
            if not (in_front or char.isspace() or char in self._passed or (char == self._last and char in _RUNS)):
                self._last = char
                self._compare(char.casefold())
        return "" if self._starts else self.finish()

    def _compare(self, char: str) -> None:
        matched, wanted = self._matched, self._wanted
        self._starts = [
            start for start in self._starts if start + matched < len(wanted) and wanted[start + matched][1] == char
        ]
        self._matched += 1
        if self._starts and self._starts[-1] + self._matched == len(wanted):
            self._found = self._starts[-1], self._at

    def finish(self) -> str:
        """Stop comparing and return the text that was held back."""
        self.over = True
        held, self._held = self._held, ""
        if self._found is None or not held:
            return held
        start, end = self._found
        end = self._end(held, end)
        rest = held[end:]
        if not self._is_certain(start, rest[:1]):
            return held
        opened = "" if _opened(self.beginning) else _opened(held[:end])
        words = rest.lstrip()
        return f"{rest[: len(rest) - len(words)]}{opened}{words}" if opened and words else rest

    def _end(self, held: str, end: int) -> int:
        """Where a repetition ends whose last character that was compared is the one before ``end``."""
        last = self.beginning[self._wanted[-1][0] :].rstrip()
        if held.startswith(last, end - 1):
            return end - 1 + len(last)
        sign = held[end - 1]
        if sign.translate(_ALIKE) in _RUNS and sign != last[0]:
            return len(held) - len(held[end:].lstrip(sign))
        return end

    def _is_certain(self, start: int, follows: str) -> bool:
        """Whether the words from ``start`` on are repeated, not said a second time. ``follows`` is what comes next."""
        words = self.beginning[self._wanted[start][0] :]
        size = len(self._wanted) - start
        if (
            start == 0
            or (size >= _UNSPACED and is_unspaced("".join(filter(str.isalnum, words))))
            or (size >= _LETTERS and len(words.split()) > 1)
        ):
            return True
        half = words.rstrip(_HYPHENS)
        hyphen = len(words) - len(half)
        return hyphen <= 1 and size - hyphen >= _HALF and half[-1:].isalpha() and follows.isalpha()


def _opened(text: str) -> str:
    """The marks of emphasis that are open at the end of a text."""
    opened: list[str] = []
    for mark in _MARK.findall(text):
        if mark in opened:
            opened.remove(mark)
        else:
            opened.append(mark)
    return "".join(opened)
