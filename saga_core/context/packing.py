"""Packing: chooses the best pieces that fit the token budget, and renders the block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from attrs import frozen

from saga_core.config import TokenBudget
from saga_core.context.model import Piece, Section, Slot
from saga_core.language import Labels as Labels
from saga_core.language import language_of, without_signs

# -- the block as text -----------------------------------------------------------------------------------------
#
# Renders the volatile block as text, in a fixed format that programs can parse.
#
# ```
# block     = opening NL section* closing
# opening   = "[SAGA: " title "]"                closing = "[/SAGA]"
# section   = heading NL line+                   heading = "[" name "]"
# name      = the heading of a ``Section`` (in the order of ``Section``)
# line      = now NL | "- " text NL
# now       = field (" | " field)*               field   = label ": " value
# value     = item (", " item)*                  item    = name [" ×" count]
# ```
#
# Fields: Place, HP (``85/100``), Inventory, Mood; Player, Present; Nearby, Ways; Dead (``name (since turn 12)``); and
# Changed, whose items are separated by "; ". All words are in the request's language (its ``Labels``). An empty
# inventory is "none"; other empty fields and empty sections are left out. A line of Lore is ``name: text``. A line of
# Earlier has ``(turn 12) `` or a day, then the place and the events unless the line above has the same, then what was
# said. A day without a year is in the last year stated above it. Text from the story cannot open or close a block or
# begin a line: its line breaks become spaces, and a "[" before "SAGA" or "/SAGA" becomes "(".


def labels(language: str) -> Labels:
    """Return the words of the block in a language, English if the language has none."""
    return language_of(language).labels


def one_line(text: str) -> str:
    """Return text of the story on one line, safe for the block."""
    # The space is the only printable white space. Most texts are one line already.
    line = text.strip(" ") if text.isprintable() and "  " not in text else " ".join(text.split())
    return without_signs(line)


@lru_cache(maxsize=4_096)
def one_field(name: str) -> str:
    """Return a name on one line without the bar that separates fields."""
    return one_line(name).replace("|", "/")


def render(pieces: Iterable[Piece], language: str) -> str:
    """Return the block with these pieces, or an empty string without pieces."""
    words = labels(language)
    sections: dict[Section, list[Piece]] = {}
    for piece in pieces:
        sections.setdefault(piece.section, []).append(piece)
    if not sections:
        return ""
    lines = [words.opening]
    for section in Section:
        found = sections.get(section)
        if not found:
            continue
        found.sort(key=lambda piece: (piece.order, -piece.score, piece.key))
        lines.append(section.headed(words))
        if section is Section.NOW:
            lines += _now(found, words)
        else:
            under = within = ""
            for piece in found:
                if piece.under and piece.under == under:
                    text = piece.bare
                elif piece.within and piece.within == within:
                    text = piece.brief
                else:
                    text = piece.text
                lines.append(f"- {text}")
                under, within = piece.under, piece.within or within
    lines.append(words.closing)
    return "\n".join(lines)


def _now(pieces: list[Piece], words: Labels) -> list[str]:
    lines = [piece.text for piece in pieces if piece.order < Slot.DEAD]
    for slot, label, between in ((Slot.DEAD, words.dead, ", "), (Slot.CHANGED, words.changed, "; ")):
        parts = [piece.text for piece in pieces if piece.order == slot]
        if parts:
            lines.append(f"{label}: {between.join(parts)}")
    return lines


# -- the budget ------------------------------------------------------------------------------------------------

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
