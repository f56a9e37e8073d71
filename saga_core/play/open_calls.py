"""The calls of tools that wait for their results: where nothing of a chat is recorded yet, they tell its session."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field
from cachetools import LRUCache

_CALLS = 4_096


@define
class OpenCalls:
    """Calls by their ids, in memory only: after a restart such a chat finds its session by its first words."""

    _sessions: LRUCache[str, str] = field(factory=lambda: LRUCache(_CALLS))

    def keep(self, session: str, calls: Iterable[str]) -> None:
        """Calls of a reply in ``session``; empty ids tell nothing."""
        self._sessions.update((call, session) for call in calls if call)

    def session(self, calls: Iterable[str]) -> str:
        """The session in which one of ``calls`` was made; empty for none that is known."""
        return next((self._sessions[call] for call in calls if call in self._sessions), "")
