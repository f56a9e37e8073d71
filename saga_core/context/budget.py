"""Packing: as much as fits, best first. The same pieces give the same choice, in whatever order they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import frozen

from saga_core.config.model import TokenBudget
from saga_core.context.labels import Labels
from saga_core.context.model import Piece, Section
from saga_core.context.render import render


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
    return {
        Section.NOW: budget.state_briefing_max,
        Section.RELATED: budget.graph_context_max,
        Section.LORE: budget.lorebook_max,
        Section.EARLIER: budget.recall_max,
        Section.EVENTS: budget.state_briefing_max,
    }


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

    The block has at most ``most`` tokens, counted as a whole in the end: if its lines together cost more than each
    for itself, the least of them go.
    """
    spent = count(words.opening) + count(words.closing) + 2
    used = dict.fromkeys(Section, 0)
    chosen: list[Piece] = []
    skipped: list[Piece] = []
    keys: set[str] = set()
    texts: set[tuple[Section, str]] = set()
    for piece in sorted(pieces, key=_rank):
        if piece.key in keys or (piece.section, piece.text) in texts:
            continue
        heading = 0 if used[piece.section] else count(words.sections[piece.section]) + 1
        room = min(most - spent, ceilings[piece.section] - used[piece.section]) - heading
        fitted = _fit(piece, room, count)
        if fitted.tokens > room:
            skipped.append(fitted)
            continue
        keys.add(piece.key)
        texts.add((piece.section, piece.text))
        chosen.append(fitted)
        spent += heading + fitted.tokens
        used[piece.section] += heading + fitted.tokens
    left = len(skipped)
    while True:
        text = render(chosen, language)
        tokens = count(text) if text else 0
        if tokens <= most or not chosen:
            break
        skipped.append(chosen.pop())
    if len(skipped) > left:
        skipped.sort(key=_rank)
    return Packed(text, tokens, tuple(chosen), tuple(skipped))


def _rank(piece: Piece) -> tuple[float, str, str, str]:
    return (-round(piece.score, 6), piece.section, piece.key, piece.source)


def _priced(piece: Piece, text: str, tokens: int) -> Piece:
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
    )


def _fit(piece: Piece, room: int, count: Callable[[str], int]) -> Piece:
    """The piece with the longest of its texts that fits, or else as it is. A line costs a dash and a line end more."""
    for text in (piece.text, *piece.shorter):
        tokens = count(text) + 2
        if tokens <= room:
            return _priced(piece, text, tokens)
    return _priced(piece, piece.text, count(piece.text) + 2)
