"""Why something was not told: what is known of a text, and what became of it when the context was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from saga_core.context import Piece, TurnContext
from saga_core.language import content_words, match_text
from saga_core.model import WorldState
from saga_core.recall import PathEpisodes
from saga_core.sessions import LiveSession

_TURNS = 5
_ROWS = 12
_HALF = 0.5

Reason = Literal["told", "in_front", "in_chat", "no_room", "no_signal", "faded_or_hidden"]
"""It stood in the context; in the pages at the beginning of the prompt; in the history that the client sent; it was
found and did not fit; nothing in the scene led to it; the same, of lore that waits to be mentioned or whose last
mention is too long ago."""


async def untold(live: LiveSession, above: str, context: TurnContext, text: str) -> list[dict[str, Any]]:
    """What of a story says ``text``, the nearest first, and whether the context had it: ``reason``. JSON-able.

    ``above`` is the turn that the context was read after. Looked through: what was told and what was left out for want
    of room, the pages in front of the history, the turns of the path, lore, memories, and what is believed. Empty if
    nothing known says any of it.
    """
    words = content_words(text)
    if not words:
        return []
    state = await live.state(above)
    pieces = {piece.key: (piece, "told") for piece in context.pieces}
    pieces |= {piece.key: (piece, "no_room") for piece in context.skipped}
    found = [
        _row("piece", key, piece.text, words, reason, piece)
        for key, (piece, reason) in pieces.items()
        if not key.startswith(("turn:", "lore:"))
    ]
    episodes = PathEpisodes(live.tree, live.episodes, above)
    for turn in episodes.search(text, _TURNS, frozenset()):
        in_chat = context.missing is not None and episodes.depth(turn) > context.missing
        piece, reason = pieces.get(f"turn:{turn}", (None, "in_chat" if in_chat else "no_signal"))
        row = _row("turn", turn, episodes.text(turn), words, reason, piece)
        found.append({**row, "turn": episodes.depth(turn)})
    for line in dict.fromkeys(context.pages.splitlines()):
        if line.startswith("- "):
            found.append(_row("page", line, line.removeprefix("- "), words, "in_front", None))
    found += _of_lore(live, state, pieces, words)
    for record in state.memories.values():
        found.append(_row("memory", record.id, record.text, words, "no_signal", None))
    rows = [row for row in found if row["share"] >= _HALF]
    order: tuple[Reason, ...] = ("told", "in_front", "in_chat", "no_room", "no_signal", "faded_or_hidden")
    return sorted(rows, key=lambda row: (-row["share"], order.index(row["reason"])))[:_ROWS]


def _of_lore(
    live: LiveSession, state: WorldState, pieces: dict[str, tuple[Piece, str]], words: list[str]
) -> Iterator[dict[str, Any]]:
    for entry in live.world.lore:
        piece, reason = pieces.get(f"lore:{entry.name}", (None, "no_signal"))
        if piece is None and entry.layer in ("A3", "A4"):
            reason = "faded_or_hidden"
        text = f"{entry.name}: {entry.text} {state.learned.get(entry.name, '')}".strip()
        yield _row("lore", entry.name, text, words, reason, piece)


def _row(kind: str, key: str, text: str, words: list[str], reason: str, piece: Piece | None) -> dict[str, Any]:
    """``share`` is how much of the words the text has."""
    said = match_text(text)
    return {
        "kind": kind,
        "key": key,
        "text": text,
        "share": round(sum(word in said for word in words) / len(words), 2),
        "reason": reason,
        "score": round(piece.score, 4) if piece is not None else None,
        "tokens": piece.tokens if piece is not None else None,
    }
