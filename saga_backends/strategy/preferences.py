"""Records preferences of the player (not the character) about style and limits."""

from __future__ import annotations

from saga_core.registry import Backend, OpenOptions
from saga_core.strategies import Detail, LearnedRecord, RecordKind, Strategy, told


def _said(learned: LearnedRecord) -> str:
    return "" if learned.spoken.strip() else "the player says nothing in those turns"


PREFERENCES = Strategy(
    "preferences",
    told("preferences.task"),
    (
        RecordKind(
            "preference",
            told("preferences.preference"),
            "/preferences/{actor}",
            (
                Detail("category", "what it is about", of=("style", "limit")),
                Detail("because", "what the player said or did that shows it"),
            ),
            shown=8.0,
            always=True,
            check=_said,
        ),
    ),
)


async def _open(options: OpenOptions) -> Strategy:
    options.take()
    return PREFERENCES


BACKEND = Backend("strategy", "preferences", _open, "the player's wishes about style, and limits")
