"""The queries for finding a place: the turns with a given reply, player words or beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from saga_core.model import Session, Turn


class TurnIndex(Protocol):
    """The journal's interface for the matcher.

    Rows are (session id, turn id), oldest first. If there are more than ``limit``, the newest are returned.
    """

    async def session(self, session_id: str) -> Session:
        """Return a session by its id. Raises ``NotFound``."""
        ...

    async def turns(self, session_id: str, ids: Sequence[str]) -> list[Turn]:
        """Return the turns with these ids, in that order."""
        ...

    async def turns_at(self, places: Sequence[tuple[str, str]]) -> list[Turn]:
        """Return the turns at these places (session id, turn id), in that order, with few store calls."""
        ...

    async def replies(self, owner: str, key: str, limit: int = 64) -> list[tuple[str, str]]:
        """Return the turns whose reply has this identity key."""
        ...

    async def beginnings(self, owner: str, prefix_key: str, limit: int = 64) -> list[tuple[str, str]]:
        """Return the turns whose reply has this prefix key."""
        ...

    async def said(self, owner: str, key: str, limit: int = 256) -> list[tuple[str, str]]:
        """Return the turns whose player words have this key."""
        ...

    async def openings(self, owner: str, key: str, limit: int = 16) -> list[str]:
        """Return the sessions whose opening has this key."""
        ...
