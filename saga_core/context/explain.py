"""Explains contexts: keeps the recent ones and converts a context to plain data, with the cost of every entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import define, field
from cachetools import LRUCache

from saga_core.context.model import Piece, TurnContext

_KEPT = 128


def explain_context(context: TurnContext) -> dict[str, Any]:
    """Return the context as JSON-compatible data.

    ``pages`` are the pages in front of the history. ``pieces`` and ``skipped`` have their scores in parts.
    ``shown_from`` is the depth of the first turn in the sent history, None if unknown.
    """
    return {
        "text": context.text,
        "tokens": context.tokens,
        "pages": context.pages,
        "shown_from": None if context.missing is None else context.missing + 1,
        "pieces": _rows(context.pieces),
        "skipped": _rows(context.skipped),
        "late": list(context.late),
        "timings_ms": {name: round(value, 3) for name, value in context.timings.items()},
    }


def _rows(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    return [
        {
            "source": piece.source,
            "key": piece.key,
            "section": str(piece.section),
            "text": piece.text,
            "tokens": piece.tokens,
            "score": round(piece.score, 4),
            "why": {name: round(part, 4) for name, part in piece.why.items()},
        }
        for piece in pieces
    ]


@define(eq=False)
class RecentContexts:
    """The last 128 contexts (LRU), by the id that was planned for the turn with the first reply."""

    _found: LRUCache[str, TurnContext] = field(factory=lambda: LRUCache(_KEPT))

    def keep(self, turn: str, context: TurnContext) -> None:
        """Store the context of a turn."""
        self._found[turn] = context

    def get(self, turn: str) -> TurnContext | None:
        """Return the context of a turn, or None if it is not stored."""
        return self._found.get(turn)

    def forget(self, turns: Iterable[str]) -> None:
        """Remove the contexts of deleted turns."""
        for turn in turns:
            self._found.pop(turn, None)

    def clear(self) -> None:
        """Remove all contexts."""
        self._found.clear()
