"""Pending tool calls, by which a chat that has no recorded turn yet finds its session."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field
from cachetools import LRUCache

_CALLS = 4_096


@define
class OpenCalls:
    """The sessions of calls, by call id, in memory only. After a restart, such a chat is found by its first words."""

    _sessions: LRUCache[str, str] = field(factory=lambda: LRUCache(_CALLS))

    def keep(self, session: str, calls: Iterable[str]) -> None:
        """Note the calls of a reply in ``session``. Empty ids are skipped."""
        self._sessions.update((call, session) for call in calls if call)

    def session(self, calls: Iterable[str]) -> str:
        """The session in which one of ``calls`` was made; empty if none is known."""
        return next((self._sessions[call] for call in calls if call in self._sessions), "")
