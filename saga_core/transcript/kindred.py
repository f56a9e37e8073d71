"""Kindred replies: known replies that a text goes on with, or that it is the beginning of."""

from __future__ import annotations

from typing import NamedTuple

from saga_core.transcript.identities import identity, prefix_keys
from saga_core.transcript.turn_index import TurnIndex


class Kin(NamedTuple):
    """A known reply, and how a text is kin to it."""

    session: str
    turn: str
    how: str
    """``grown``: the text begins with the reply. ``cut``: it is the reply's beginning."""
    length: int
    """Characters of the reply's identity."""


async def kindred(known: TurnIndex, text: str, owner: str) -> list[Kin]:
    """The known replies that an identity text begins with or is the beginning of; of twelve characters or more."""
    kin: dict[str, Kin] = {}
    for prefix in prefix_keys(text):
        rows: dict[str, list[str]] = {}
        for session_id, turn_id in (await known.beginnings(owner, prefix))[::-1]:
            rows.setdefault(session_id, []).append(turn_id)
        for session_id, ids in rows.items():
            for turn in await known.turns(session_id, ids):
                reply = identity(turn.reply)
                how = "grown" if text.startswith(reply) else "cut" if reply.startswith(text) else ""
                if how:
                    kin[turn.id] = Kin(session_id, turn.id, how, len(reply))
        if kin:
            break
    return list(kin.values())
