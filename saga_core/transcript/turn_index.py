"""The queries that finding a place makes: which turns have this reply, these words, this beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from saga_core.model import Session, Turn


class TurnIndex(Protocol):
    """The journal, as the matcher sees it. Rows are (session id, turn id), oldest first."""

    async def session(self, session_id: str) -> Session:
        """A session by its id; ``NotFound``."""
        ...

    async def turns(self, session_id: str, ids: Sequence[str]) -> list[Turn]:
        """The turns of those ids, in that order."""
        ...

    async def turns_at(self, places: Sequence[tuple[str, str]]) -> list[Turn]:
        """The turns at those places (session id, turn id), in that order, with as few calls of the store as can be."""
        ...

    async def replies(self, owner: str, key: str, limit: int = 64) -> list[tuple[str, str]]:
        """The replies with that identity."""
        ...

    async def beginnings(self, owner: str, prefix_key: str, limit: int = 64) -> list[tuple[str, str]]:
        """The replies that begin so."""
        ...

    async def said(self, owner: str, key: str, limit: int = 256) -> list[tuple[str, str]]:
        """The turns in which the player said that."""
        ...

    async def openings(self, owner: str, key: str, limit: int = 16) -> list[str]:
        """The sessions whose first words these were."""
        ...
