"""Renders the volatile block as text, in a fixed format that programs can parse.

```
block     = opening NL section* closing
opening   = "[SAGA: " title "]"                closing = "[/SAGA]"
section   = heading NL line+                   heading = "[" name "]"
name      = the heading of a ``Section`` (in the order of ``Section``)
line      = now NL | "- " text NL
now       = field (" | " field)*               field   = label ": " value
value     = item (", " item)*                  item    = name [" ×" count]
```

Fields: Place, HP (``85/100``), Inventory, Mood; Player, Present; Nearby, Ways; Dead (``name (since turn 12)``); and
Changed, whose items are separated by "; ". All words are in the request's language (its ``Labels``). An empty inventory
is "none"; other empty fields and empty sections are left out. A line of Lore is ``name: text``. A line of Earlier has
``(turn 12) `` or a day, then the place and the events unless the line above has the same, then what was said. A day
without a year is in the last year stated above it. Text from the story cannot open or close a block or begin a line:
its line breaks become spaces, and a "[" before "SAGA" or "/SAGA" becomes "(".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from saga_core.context.model import Piece, Section, Slot
from saga_core.language import Labels as Labels
from saga_core.language import language_of, without_signs


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
