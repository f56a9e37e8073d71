"""The volatile block as text, in a fixed shape that programs read back too.

```
block     = opening NL section* closing
opening   = "[SAGA: " title "]"                closing = "[/SAGA]"
section   = heading NL line+                   heading = "[" name "]"
name      = "Now" | "Related" | "Lore" | "Remembered" | "Earlier" | "Another story, not this one" | "Events"
            (in this order)
line      = now NL | "- " text NL
now       = field (" | " field)*               field   = label ": " value
value     = item (", " item)*                  item    = name [" ×" count]
```

Fields: Place, HP (``85/100``), Inventory, Mood; Player, Present; Nearby, Ways; Dead (``name (since turn 12)``); and
Changed, whose items are separated by "; ". All of these words are those of the request's language (its ``Labels``). An
empty inventory is "none", any other empty field is left out, and so is an empty section. A line of Lore is
``name: text``. One of Earlier begins with ``(turn 12) `` or a day, then tells the place and what happened, unless the
line above it told the same, then what was said. The year of a day is that of the line above which tells none. Nothing
from the story can open or close a block or begin a line: its line breaks become spaces and a "[" before "SAGA" or
"/SAGA" becomes "(".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from saga_core.context.model import Piece, Section, Slot
from saga_core.language import Labels as Labels
from saga_core.language import language_of, without_signs


def labels(language: str) -> Labels:
    """The words of the block in a language; English for one that has none."""
    return language_of(language).labels


def one_line(text: str) -> str:
    """Text of the story as it may stand in the block."""
    # No white space is printable but the space: most texts are one line already.
    line = text.strip(" ") if text.isprintable() and "  " not in text else " ".join(text.split())
    return without_signs(line)


@lru_cache(maxsize=4_096)
def one_field(name: str) -> str:
    """A name as it may stand in a field: without the bar that separates fields."""
    return one_line(name).replace("|", "/")


def render(pieces: Iterable[Piece], language: str) -> str:
    """The block with these pieces; empty for none."""
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
