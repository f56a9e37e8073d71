"""Kindred replies: known replies that a text continues, or of which it is the beginning."""

from __future__ import annotations

from typing import NamedTuple

from saga_core.transcript.identities import identity, prefix_keys
from saga_core.transcript.turn_index import TurnIndex


class Kin(NamedTuple):
    """A known reply and its relation to a text."""

    session: str
    turn: str
    how: str
    """``grown`` if the text begins with the reply, ``cut`` if the text is the reply's beginning."""
    length: int
    """Characters of the reply's identity."""


async def kindred(known: TurnIndex, text: str, owner: str) -> list[Kin]:
    """Return the known replies that begin an identity text or begin with it, by at least twelve characters."""
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
