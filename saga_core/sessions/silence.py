"""Silence: a narrator that writes no state block in several replies in a row, and what tells of it.

One reply without a block is nothing: models forget. From ``SILENT_FROM`` on, nobody learns what happens in the story,
and the player has to hear of it, with what can be done. The words for it end when blocks return.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from attrs import define, field, frozen
from cachetools import LRUCache

from saga_core.counters import Counters
from saga_core.model import Status, Tree, TurnKind
from saga_core.sessions.live_session import LiveSession

SILENT_FROM = 3
"""Replies in a row without a block from which on the narrator counts as silent."""
SILENT_MODE = "report"
"""The degraded mode while nobody reads what a silent narrator left unreported."""
_REMIND = 10
"""Replies after which the player is told again."""
_MOST = 100
"""Replies that are looked at; more than these says no more."""
_KEPT = 50
"""Silent chats that are listed."""
_COUNTED = 1_000
"""Turns of which it is kept what was counted."""
_TOLD = (TurnKind.NARRATION, TurnKind.CONTINUATION)

WhoReads = Callable[[], str]
"""Who reads replies that nobody reported, in words; empty when nobody does."""


@frozen
class Silence:
    """The end of a path on which the narrator wrote no block."""

    replies: int
    """So many in a row."""
    unread: int
    """Of these, how many at the end nobody else read either."""
    model: str
    """Who narrated the last of them; empty when nobody said."""

    @property
    def is_news(self) -> bool:
        """Whether this is a reply with which the player is told: not each one."""
        return self.replies >= SILENT_FROM and (self.replies - SILENT_FROM) % _REMIND == 0

    def is_read(self, reader: str) -> bool:
        """Whether ``reader`` makes up for it: the last few replies may wait for it. See ``WhoReads``."""
        return bool(reader) and self.unread <= SILENT_FROM

    def text(self, reader: str) -> str:
        """What is so and what can be done, in words."""
        narrator = self.model or "the narrator"
        said = f"{narrator} wrote no state block in its last {self.replies} replies"
        if self.is_read(reader):
            return f"{said}; {reader} reads them in the background"
        return f"{said}, so that nothing is known of what happened in them; {remedy(self.model, reader)}"


def remedy(model: str, reader: str = "") -> str:
    """What helps against a narrator that writes no block, and a reader that does not make up for it."""
    if reader:
        return f"{reader} should read them and does not: `saga jobs` says why; set models.extraction to another model"
    asked = f" --narrator {model}" if model else " --narrator MODEL"
    return (
        f"set models.extraction to a small model that reads such replies, or narrate with another model; `saga doctor"
        f"{asked}` shows how well a model reports"
    )


def unread_replies(tree: Tree, turn: str) -> int:
    """The replies at the end of the path to ``turn`` of which nobody reported, and nobody read, what changed."""
    found = 0
    for node in tree.upwards(turn):
        if node.kind not in _TOLD:
            continue  # neither the greeting nor a history that was taken over says anything of the narrator
        if node.status is not Status.FALLBACK or found == _MOST:
            break
        found += 1
    return found


async def silence_at(live: LiveSession, turn: str, counted: MutableMapping[str, int] | None = None) -> Silence:
    """How silent the narrator is at ``turn``: also where somebody else read its replies later. Raises ``NotFound``.

    ``counted`` keeps what was counted at a turn, which never changes: what the narrator wrote above it stays so. Else
    each reply that was read later is looked up in the journal.
    """
    replies, model = 0, ""
    for node in live.tree.upwards(turn):
        if node.kind not in _TOLD:
            continue
        if replies >= _MOST:
            break
        if replies and counted is not None and node.id in counted:
            replies = min(_MOST, replies + counted[node.id])
            break
        if node.status is not Status.FALLBACK and not live.extracted(node.id):
            break
        if not replies or live.extracted(node.id):
            told = await live.turn(node.id)
            if told.delta.status is not Status.FALLBACK:
                break  # it reported; somebody had the turn read again
            model = model or told.model
        replies += 1
    if counted is not None:
        counted[turn] = replies
    return Silence(replies, min(replies, unread_replies(live.tree, turn)), model)


@define(eq=False)
class SilentChats:
    """The chats whose narrator is silent where they were played last."""

    counters: Counters
    who_reads: WhoReads = lambda: ""
    _silent: dict[str, Silence] = field(factory=dict, init=False)
    _counted: LRUCache[str, int] = field(factory=lambda: LRUCache(_COUNTED), init=False)
    """Turn to the replies without a block that end with it."""

    async def look(self, live: LiveSession, turn: str) -> Silence:
        """Take note of how silent the narrator is at ``turn``, at which the session is played."""
        found, session = await silence_at(live, turn, self._counted), live.session.id
        before = self._silent.pop(session, None)
        if found.replies >= SILENT_FROM:
            self._silent[session] = found
            while len(self._silent) > _KEPT:
                del self._silent[next(iter(self._silent))]
            if before is None:
                self.counters.add("silence.begun")
        elif before is not None:
            self.counters.add("silence.ended")
        self._tell()
        return found

    def forget(self, session: str) -> None:
        """The session is gone."""
        if self._silent.pop(session, None) is not None:
            self._tell()

    def notice(self, found: Silence) -> tuple[str, ...]:
        """What the player is told beside the next reply, if it is news."""
        return (f"{SILENT_MODE}: {found.text(self.who_reads())}",) if found.is_news else ()

    def describe(self) -> list[dict[str, Any]]:
        """The silent chats, the one played last first. JSON-able."""
        reader = self.who_reads()
        return [
            {
                "session": session,
                "model": found.model,
                "replies": found.replies,
                "unread": found.unread,
                "read_by": reader if found.is_read(reader) else None,
                "remedy": None if found.is_read(reader) else remedy(found.model, reader),
            }
            for session, found in reversed(self._silent.items())
        ]

    def _tell(self) -> None:
        """The degraded mode: the same words from reply to reply, so that it is logged once."""
        reader = self.who_reads()
        lost = [found for found in self._silent.values() if not found.is_read(reader)]
        if not lost:
            self.counters.recover(SILENT_MODE)
            return
        models = sorted({found.model for found in lost} - {""})
        who = ", ".join(models) or "the narrator"
        does = "write no state blocks" if len(models) > 1 else "writes no state block"
        why = remedy(models[-1] if models else "", reader)
        reason = f"{who} {does}, so that nothing is known of what happens in its replies; {why}"
        self.counters.degrade(SILENT_MODE, reason)
