"""The mapping of journal keys to sessions."""

from __future__ import annotations

from saga_core.journal.keys import BESIDE
from saga_core.stores import Key

TOLD = frozenset({"session", "turn", "node", "timeline", "amend", "review", "unfinished"})
"""Key prefixes of the records that make up a session in memory. A write to one makes other servers' copies stale."""
OF_A_SESSION = frozenset({"session", "turn", "node", "timeline", "unfinished", *BESIDE})
"""Key prefixes of the records that belong to a session. The second segment is the session id."""
_OF_A_SCOPE = frozenset({"view", "viewmark"})


def session_of(key: Key) -> str | None:
    """Return the session that a key belongs to, or None for indexes, worlds and shared records."""
    if len(key) < 2:
        return None
    if key[0] in OF_A_SESSION:
        return key[1]
    return key[1].rpartition(".")[0] or None if key[0] in _OF_A_SCOPE else None
