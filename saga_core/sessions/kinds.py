"""The kinds of session: what a session keeps, and whether it shares its world."""

from __future__ import annotations

from collections.abc import Mapping

from saga_core.errors import BadInput
from saga_core.language import clean_name

PERSONAL, EPHEMERAL, WORLD = "personal", "ephemeral", "world"

SESSION_KINDS: Mapping[str, str] = {
    PERSONAL: "",
    EPHEMERAL: "this session is ephemeral: it is in the server's memory alone, nothing of it is kept, and it is gone "
    "when the server stops or when it was not played for a day",
    WORLD: "this session shares its world with others: what it changes there is theirs, too, as soon as the story "
    "goes on; saga share --leave ends that",
}
"""The kinds of session, and what the player of one is told once, with the first reply."""

_LONGEST = 200


def checked_kind(name: str) -> str:
    """Return a session kind in normal form: its name, and for a shared world maybe ``world:NAME``.

    Raises ``BadInput`` for an unknown one.
    """
    kind, _, share = (part.strip() for part in name.partition(":"))
    kind = kind.lower()
    if kind == WORLD and share:
        return f"{WORLD}:{checked_share(share)}"
    if kind not in SESSION_KINDS or share:
        raise BadInput(f"kind: there is no kind of session {name[:40]!r}; choose one of {', '.join(SESSION_KINDS)}")
    return kind


def checked_share(name: str) -> str:
    """Return the name of a shared world in normal form. Raises ``BadInput`` for an invalid one."""
    clean = clean_name(name)
    if not clean or len(clean) > _LONGEST or not clean.isprintable():
        raise BadInput(f"world: {name[:80]!r} cannot name a shared world; give 1 to {_LONGEST} printable characters")
    return clean


def share_of(world: str, name: str) -> str:
    """Return under which name sessions of a world share it: the world's, and maybe another one behind it."""
    return f"{world}:{name}" if name else world
