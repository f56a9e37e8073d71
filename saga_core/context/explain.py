"""Why something was told: the contexts that were told lately, and one in plain data, every entry with what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import define, field
from cachetools import LRUCache

from saga_core.context.model import Piece, TurnContext

_KEPT = 128


def explain_context(context: TurnContext) -> dict[str, Any]:
    """``text``, ``tokens``, the ``pages`` in front of the history, the ``pieces`` with their scores in parts, the
    ``skipped``, the ``late``; ``shown_from`` is the depth from which on the history itself showed the story, None where
    that is not known. JSON-able."""
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
    """By the id of the turn that the first reply was to become; the least recently asked for go beyond 128."""

    _found: LRUCache[str, TurnContext] = field(factory=lambda: LRUCache(_KEPT))

    def keep(self, turn: str, context: TurnContext) -> None:
        """A turn is told ``context``."""
        self._found[turn] = context

    def get(self, turn: str) -> TurnContext | None:
        """What a turn was told, if it is at hand."""
        return self._found.get(turn)

    def forget(self, turns: Iterable[str]) -> None:
        """Some turns are no more."""
        for turn in turns:
            self._found.pop(turn, None)

    def clear(self) -> None:
        """Keep none."""
        self._found.clear()
