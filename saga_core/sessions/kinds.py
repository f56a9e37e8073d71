"""The kinds of session: what a session keeps, and whether it shares its world."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import frozen

from saga_core.errors import BadInput


@frozen
class SessionKind:
    """One kind of session."""

    name: str
    notice: str = ""
    """What the player is told once, with the first reply."""


PERSONAL, EPHEMERAL = "personal", "ephemeral"

SESSION_KINDS: Mapping[str, SessionKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            SessionKind(PERSONAL),
            SessionKind(
                EPHEMERAL,
                "this session is ephemeral: it is in the server's memory alone, nothing of it is kept, and it is gone "
                "when the server stops or when it was not played for a day",
            ),
        )
    }
)


def checked_kind(name: str) -> str:
    """Return the name of a session kind in normal form. Raises ``BadInput`` for an unknown one."""
    kind = name.strip().lower()
    if kind not in SESSION_KINDS:
        raise BadInput(f"kind: there is no kind of session {name[:40]!r}; choose one of {', '.join(SESSION_KINDS)}")
    return kind
