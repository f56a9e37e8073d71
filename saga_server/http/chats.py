"""Where the chats of a frontend were last played, by the frontend's own ids, for the panel inside the frontend."""

from __future__ import annotations

from attrs import define, field, frozen
from cachetools import LRUCache

_MOST = 4_096


@frozen
class PlayedChat:
    """The session and the turn of a chat's latest request, and what SAGA had to say about it."""

    session: str
    turn: str
    notices: tuple[str, ...] = ()


@define(eq=False)
class PlayedChats:
    """The chats that named themselves since the server started, by owner and id."""

    _known: LRUCache[tuple[str, str], PlayedChat] = field(factory=lambda: LRUCache(_MOST), init=False)

    def note(self, owner: str, chat: str, played: PlayedChat) -> None:
        """Remember where a chat was played."""
        self._known[owner, chat] = played

    def get(self, owner: str, chat: str) -> PlayedChat | None:
        """Return where a chat of ``owner`` was played last; None if that is not known."""
        return self._known.get((owner, chat))

    def of_anybody(self, chat: str) -> PlayedChat | None:
        """Return where a chat was played last, whoever played it: the panel need not have the key of the chat."""
        return next((played for (_, name), played in self._known.items() if name == chat), None)
