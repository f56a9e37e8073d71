"""Packing: chooses the best pieces that fit the token budget. The order of the input does not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import frozen

from saga_core.config import TokenBudget
from saga_core.context.model import Piece, Section
from saga_core.context.render import Labels, render

_WORTH_A_LINE = 24
"""Minimum tokens left over for a second pass over the skipped pieces."""


@frozen
class Packed:
    """The pieces in the block and the pieces that did not fit, both best first."""

    text: str
    tokens: int
    chosen: tuple[Piece, ...]
    skipped: tuple[Piece, ...]


def ceilings(budget: TokenBudget) -> dict[Section, int]:
    """Return the maximum tokens of each section, including its heading. Their sum may exceed the maximum of the block,
    because they are not reservations: other sections can use unspent tokens."""
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
    """Choose pieces by score (ties by section, key, source), drop repeats of a key or a line, skip what does not fit.

    The block has at most ``most`` tokens. Finally the whole text is counted. It usually costs less than the sum of its
    lines, and skipped pieces then get the rest. If it costs more, the lowest pieces are removed.
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
    """The pieces chosen so far and the tokens spent."""

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
        """Choose the pieces that fit, in the given order (best first). The others become ``skipped``."""
        count, used, keys, texts = self._count, self._used, self._keys, self._texts
        self.skipped = []
        for piece in pieces:
            section = piece.section
            if piece.key in keys or (section, piece.text) in texts:
                continue
            if piece.too_long:
                self.skipped.append(piece)
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
        return piece  # already priced
    # Built by hand because this runs for every piece, and ``evolve`` costs several times as much.
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
    """Return the piece at the price of ``text``, its short form, because a chosen line has the same beginning."""
    return _priced(piece, piece.text, count(text) + 2)


def _fit(piece: Piece, room: int, count: Callable[[str], int]) -> Piece:
    """Return the piece with its first text that fits, or unchanged if none fits. A dash and a line end add 2 tokens."""
    for text in (piece.text, *piece.shorter):
        tokens = count(text) + 2
        if tokens <= room:
            return _priced(piece, text, tokens)
    return _priced(piece, piece.text, count(piece.text) + 2)
