"""Packing: as much as fits, best first. The same pieces give the same choice, in whatever order they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import frozen

from saga_core.config import TokenBudget
from saga_core.context.model import Piece, Section
from saga_core.context.render import Labels, render

_WORTH_A_LINE = 24
"""Tokens left over for which it is worth looking once more."""


@frozen
class Packed:
    """What goes into the block, and what does not fit; both best first."""

    text: str
    tokens: int
    chosen: tuple[Piece, ...]
    skipped: tuple[Piece, ...]


def ceilings(budget: TokenBudget) -> dict[Section, int]:
    """The tokens that each section may have, its heading included. Together they may exceed what the block may have:
    none is a reservation, so what one leaves is there for the others."""
    return {section: section.ceiling(budget) for section in Section}


def pack(
    pieces: Iterable[Piece],
    *,
    most: int,
    ceilings: Mapping[Section, int],
    count: Callable[[str], int],
    words: Labels,
    language: str,
) -> Packed:
    """Choose by score (ties by section, key, source), drop repeats of a key or a line, skip what does not fit.

    The block has at most ``most`` tokens, counted as a whole in the end. Its lines together most often cost less than
    each for itself: what was skipped then gets the rest. If they cost more, the least of them go.
    """
    packing = _Packing(most, ceilings, count, words)
    packing.take(sorted(pieces, key=_rank))
    text = render(packing.chosen, language)
    tokens = count(text) if text else 0
    if packing.skipped and packing.spent - tokens >= _WORTH_A_LINE:
        left = packing.skipped
        packing.spent = tokens
        packing.take(left)
        if len(packing.skipped) < len(left):
            packing.chosen.sort(key=_rank)
            text = render(packing.chosen, language)
            tokens = count(text)
    chosen, skipped = packing.chosen, packing.skipped
    if tokens > most:
        while tokens > most and chosen:
            skipped.append(chosen.pop())
            text = render(chosen, language)
            tokens = count(text) if text else 0
        skipped.sort(key=_rank)
    return Packed(text, tokens, tuple(chosen), tuple(skipped))


class _Packing:
    """What was chosen so far, and the room that is left."""

    def __init__(self, most: int, ceilings: Mapping[Section, int], count: Callable[[str], int], words: Labels) -> None:
        self.spent = count(words.opening) + count(words.closing) + 2
        self.chosen: list[Piece] = []
        self.skipped: list[Piece] = []
        self._most, self._ceilings, self._count, self._words = most, ceilings, count, words
        self._used = dict.fromkeys(Section, 0)
        self._keys: set[str] = set()
        self._texts: set[tuple[Section, str]] = set()
        self._headed: set[tuple[Section, str]] = set()
        self._within: set[tuple[Section, str]] = set()

    def take(self, pieces: Iterable[Piece]) -> None:
        """Choose of the pieces, best first, what has room; the others are ``skipped``."""
        count, used, keys, texts = self._count, self._used, self._keys, self._texts
        self.skipped = []
        for piece in pieces:
            section = piece.section
            if piece.key in keys or (section, piece.text) in texts:
                continue
            heading = 0 if used[section] else count(section.headed(self._words)) + 1
            room = min(self._most - self.spent, self._ceilings[section] - used[section]) - heading
            head = (section, piece.under)
            part = (section, piece.within)
            if head in self._headed:
                fitted = _short(piece, piece.bare, count)
            elif part in self._within:
                fitted = _short(piece, piece.brief, count)
            else:
                fitted = _fit(piece, room, count)
            if fitted.tokens > room:
                self.skipped.append(fitted)
                continue
            keys.add(piece.key)
            texts.add((section, piece.text))
            self.chosen.append(fitted)
            if piece.under:
                self._headed.add(head)
            if piece.within:
                self._within.add(part)
            self.spent += heading + fitted.tokens
            used[section] += heading + fitted.tokens


def _rank(piece: Piece) -> tuple[float, str, str, str]:
    return (-round(piece.score, 6), piece.section, piece.key, piece.source)


def _priced(piece: Piece, text: str, tokens: int) -> Piece:
    if piece.tokens == tokens and piece.text is text:
        return piece  # it was looked at before
    # Built anew by hand: this is done for every piece, and ``evolve`` costs several times as much.
    return Piece(
        piece.source,
        piece.key,
        piece.section,
        text,
        piece.score,
        tokens,
        piece.why,
        piece.order,
        piece.shorter,
        piece.under,
        piece.bare,
        piece.within,
        piece.brief,
    )


def _short(piece: Piece, text: str, count: Callable[[str], int]) -> Piece:
    """The piece at the price of ``text``: another chosen line begins alike, and most likely stands above it."""
    return _priced(piece, piece.text, count(text) + 2)


def _fit(piece: Piece, room: int, count: Callable[[str], int]) -> Piece:
    """The piece with the longest of its texts that fits, or else as it is. A line costs a dash and a line end more."""
    for text in (piece.text, *piece.shorter):
        tokens = count(text) + 2
        if tokens <= room:
            return _priced(piece, text, tokens)
    return _priced(piece, piece.text, count(piece.text) + 2)
