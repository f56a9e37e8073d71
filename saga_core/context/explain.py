"""A context in plain data: every entry, what it cost, and why it is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saga_core.context.model import Piece, TurnContext


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
