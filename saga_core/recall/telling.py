"""Shortens the turns of a conversation to their particular sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from attrs import field, frozen

from saga_core.recall.excerpts import GAP, laid_out, worth_of
from saga_core.recall.particular import Worded
from saga_core.recall.passages import PLAYER

_WHOSE = re.compile(rf"{PLAYER}|[^\n:>\"“”]{{1,40}}:\s")
"""The speaker mark at the start of a line: the player's mark or a name."""
_ASKS = ("?", "？")
_LINES = 8
"""Shortened lines that are cached per turn. The same sentences are chosen most of the time."""


def telling(text: str, particular: Callable[[Worded], int]) -> str:
    """Return ``text`` on one line with only the ``particular`` sentences, or an empty string if there are none.

    ``particular`` takes the terms of all sentences and returns the bits of the particular ones. A question is omitted
    if the sentence after it is omitted, unless only such questions are left. Omissions are marked with "…". The speaker
    mark of a line is kept if any of its sentences is kept.
    """
    talk = _talk(text)
    kept = particular(talk.worded)
    # The answer to the last question of a turn is in the next turn.
    return talk.told(kept & ~(talk.asks & ~(kept >> 1)) or kept)


def resembling(text: str, weights: Mapping[str, float]) -> str:
    """Return the sentence of ``text`` that is worth most by ``weights`` (see ``excerpt``), marked as in ``telling``.

    Of equal sentences the first one is returned. A question is returned with the sentence after it. Returns an empty
    string if no sentence has any worth.
    """
    talk = _talk(text)
    worth = worth_of(talk.folded, talk.starts, weights)
    if not worth:
        return ""
    best = min(worth, key=lambda at: (-worth[at], at))
    asks = talk.sentences[best].endswith(_ASKS) and best + 1 < len(talk.sentences)
    return talk.told((0b11 if asks else 0b1) << best)


@frozen(eq=False)
class _Talk:
    """A turn split into sentences, once for all questions."""

    line: str
    """The text on one line."""
    sentences: list[str]
    whose: list[str | None]
    """The speaker mark of each sentence that begins a line, "" if it has none; None for other sentences."""
    asks: int
    """The bits of the questions."""
    worded: Worded
    folded: str
    starts: list[int]
    """As ``laid_out`` gives them."""
    _lines: dict[int, str] = field(factory=dict)

    def told(self, kept: int) -> str:
        """Return the sentences with these bits on one line, or an empty string for none."""
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
    """Split a turn. Cached: a read shortens about a hundred turns, most of them the same as in the read before."""
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
