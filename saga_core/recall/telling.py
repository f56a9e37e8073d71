"""Telling: what of a turn of a talk is told, without the sentences that anybody says anytime."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from attrs import field, frozen

from saga_core.recall.excerpts import GAP, laid_out, worth_of
from saga_core.recall.particular import Worded
from saga_core.recall.passages import PLAYER

_WHOSE = re.compile(rf"{PLAYER}|[^\n:>\"“”]{{1,40}}:\s")
"""What stands before somebody's words in a line: the player's mark, or a name."""
_ASKS = ("?", "？")
_LINES = 8
"""Lines that are kept of a turn: what is told of it seldom changes."""


def telling(text: str, particular: Callable[[Worded], int]) -> str:
    """``text`` on one line, without the sentences that are not ``particular``; "" if none is.

    ``particular`` is asked with the terms of all sentences and gives the bits of those that are. A question is left out
    with what would stand behind it, if there is anything else. What is left out is marked with "…". What says whose
    words a line has stays as long as some of them do.
    """
    talk = _talk(text)
    kept = particular(talk.worded)
    # Who asks last in a turn is answered in the next one.
    return talk.told(kept & ~(talk.asks & ~(kept >> 1)) or kept)


def resembling(text: str, weights: Mapping[str, float]) -> str:
    """The sentence of ``text`` that is worth most by ``weights`` (as for ``excerpt``), the first of several, marked as
    in ``telling``; "" if none is worth anything. What follows a question is told with it."""
    talk = _talk(text)
    worth = worth_of(talk.folded, talk.starts, weights)
    if not worth:
        return ""
    best = min(worth, key=lambda at: (-worth[at], at))
    asks = talk.sentences[best].endswith(_ASKS) and best + 1 < len(talk.sentences)
    return talk.told((0b11 if asks else 0b1) << best)


@frozen(eq=False)
class _Talk:
    """A turn, laid out once for all questions."""

    line: str
    """The text on one line."""
    sentences: list[str]
    whose: list[str | None]
    """For each that begins a line what says whose words it has; "" if nothing does."""
    asks: int
    """The bits of the questions."""
    worded: Worded
    folded: str
    starts: list[int]
    """As ``laid_out`` gives them."""
    _lines: dict[int, str] = field(factory=dict)

    def told(self, kept: int) -> str:
        """The sentences with these bits on one line; "" for none."""
        found = self._lines.get(kept)
        if found is None:
            if len(self._lines) == _LINES:
                self._lines.clear()
            found = self._lines[kept] = self._joined(kept)
        return found

    def _joined(self, kept: int) -> str:
        if kept == (1 << len(self.sentences)) - 1:
            return self.line
        if not kept:
            return ""
        parts: list[str] = []
        left_out, mark = False, ""
        for number, (sentence, begins) in enumerate(zip(self.sentences, self.whose, strict=True)):
            if begins is not None:
                mark = begins
            chosen = kept >> number & 1
            if chosen:
                if left_out:
                    parts += (mark, GAP) if mark and begins is None else (GAP,)
                parts.append(sentence)
                mark = ""
            left_out = not chosen
        return " ".join((*parts, GAP) if left_out else parts)


@lru_cache(maxsize=1_024)
def _talk(text: str) -> _Talk:
    """A talk is told of a hundred turns at a time, most of them those of the question before."""
    text, folded, starts, stops = laid_out.__wrapped__(text)
    sentences, whose, worded, asks = list[str](), list[str | None](), list[str](), 0
    for start, stop in zip(starts, stops, strict=True):
        if text.endswith(_ASKS, start, stop):
            asks |= 1 << len(sentences)
        sentences.append(text[start:stop])
        worded.append(folded[start:stop])
        begins = not start or text[start - 1] == "\n"
        found = _WHOSE.match(text, start) if begins else None
        whose.append(found.group().strip() if found is not None else "" if begins else None)
    return _Talk(text.replace("\n", " "), sentences, whose, asks, Worded.of(worded), folded, starts)
