"""Removes from a text what it repeats of the text that it continues. Sans-IO."""

from __future__ import annotations

from attrs import define, field

from saga_core.language.language import is_unspaced

_REACH = 600
"""A repetition begins at most so many characters before the end of the earlier text, or at its beginning."""
_LETTERS, _UNSPACED = 8, 4
"""The shortest repetition of several words, and in scripts without spaces, in characters without white space."""
_HALF = 3
"""The shortest half of a word that is begun again."""
_ALIKE = str.maketrans("“”„«»「」『』‘’", '"""""""""\'\'')


@define
class Unrepeated:
    """Removes from a text the words at the end of ``beginning``, or all of it, if the text begins with them.

    White space, case, the kind of quotation marks, and dots in front are ignored in the comparison. Text is held back
    only while all of it repeats something. A repetition of part of ``beginning`` starts with a word. It has several
    words, or ends in the middle of one that the text completes.
    """

    beginning: str
    over: bool = field(default=False, init=False)
    """Whether nothing is removed any more."""
    _held: str = field(default="", init=False)
    _at: int = field(default=0, init=False)
    """How much of the held text was compared."""
    _wanted: list[tuple[int, str]] = field(init=False)
    """The characters of the beginning without white space, with their places."""
    _matched: int = field(default=0, init=False)
    _starts: list[int] = field(init=False)
    """Where in ``_wanted`` that begins which is repeated so far."""
    _found: tuple[int, int] | None = field(default=None, init=False)
    """The longest repetition: where it starts in ``_wanted``, and where it ends in the held text."""

    def __attrs_post_init__(self) -> None:
        self._wanted = [(at, _plain(char)) for at, char in enumerate(self.beginning) if not char.isspace()]
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
            char = self._held[self._at]
            self._at += 1
            in_front = not self._matched and char in ".…" and self._wanted[0][1] != char
            if not char.isspace() and not in_front:
                self._compare(_plain(char))
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
        if self._found is None:
            return held
        start, end = self._found
        return held[end:] if self._is_certain(start, held[end : end + 1]) else held

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
        return size >= _HALF and words[-1:].isalpha() and follows.isalpha()


def _plain(char: str) -> str:
    return char.translate(_ALIKE).casefold()
