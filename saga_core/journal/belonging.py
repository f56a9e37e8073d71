"""Which session a key of the journal belongs to."""

from __future__ import annotations

from saga_core.journal.keys import BESIDE
from saga_core.stores import Key

TOLD = frozenset({"session", "turn", "node", "timeline", "amend", "review", "unfinished"})
"""What begins the keys of what a session in memory is made of: a write of it makes what others have in memory old."""
OF_A_SESSION = frozenset({"session", "turn", "node", "timeline", "unfinished", *BESIDE})
"""What begins the keys of what belongs to a session; its id is the second segment."""
_OF_A_SCOPE = frozenset({"view", "viewmark"})


def session_of(key: Key) -> str | None:
    """The session that a key belongs to; None for indexes, worlds and what belongs to all."""
    if len(key) < 2:
        return None
    if key[0] in OF_A_SESSION:
        return key[1]
    return key[1].rpartition(".")[0] or None if key[0] in _OF_A_SCOPE else None
