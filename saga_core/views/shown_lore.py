"""A session's lore: its entries, additions from play, and the contexts that had each entry, with reasons."""

from __future__ import annotations

from itertools import islice
from typing import Any

from saga_core.context import RecentContexts
from saga_core.sessions import LiveSession

_LOOKED_AT = 128
"""Maximum turns of the active path whose contexts are checked, if they are still cached."""
_SHOWN = 12


async def shown_lore(live: LiveSession, contexts: RecentContexts) -> dict[str, Any]:
    """Return the entries in the order of their world. ``fired`` has the turns whose context had it, latest first."""
    state = await live.state(live.head)
    fired: dict[str, list[dict[str, Any]]] = {}
    looked_at = 0
    for node in islice(live.tree.upwards(live.head), _LOOKED_AT):
        context = contexts.get(node.id)
        if context is None:
            continue
        looked_at += 1
        for piece in context.pieces:
            name = piece.key.removeprefix("lore:")
            if name != piece.key and len(fired.setdefault(name, [])) < _SHOWN:
                why = {each: round(part, 4) for each, part in piece.why.items()}
                fired[name].append({"turn": node.depth, "turn_id": node.id, "score": round(piece.score, 4), "why": why})
    return {
        "session": live.session.id,
        "world": live.world.name,
        "turn": state.depth,
        "contexts": looked_at,
        "entries": [
            {
                "name": entry.name,
                "type": entry.type,
                "layer": entry.layer,
                "tags": list(entry.tags),
                "aliases": list(entry.aliases),
                "text": entry.text,
                "constant": entry.constant,
                "secret": entry.secret,
                "known_by": list(entry.known_by),
                "added": state.learned.get(entry.name),
                "mentioned": state.mentioned.get(entry.name),
                "fired": fired.get(entry.name, []),
            }
            for entry in live.world.lore
        ],
    }
