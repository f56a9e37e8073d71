"""Missing reports: a narrator that writes no state block in several replies in a row, and the notices about it.

A single reply without a block is harmless, because models forget. From ``SILENT_FROM`` replies on, no changes of the
story are recorded. The player must be told, together with a remedy. The notices end when blocks return.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from attrs import define, evolve, field, frozen
from cachetools import LRUCache

from saga_core.counters import Counters
from saga_core.model import ReportStatus, Source, Tree, TurnKind
from saga_core.sessions.live_sessions import LiveSession

SILENT_FROM = 3
"""The number of replies in a row without a block from which on the narrator counts as silent."""
SILENT_MODE = "report"
"""The degraded mode while nothing reads the unreported replies of a silent narrator."""
_REMIND = 10
"""The number of replies after which the player is told again."""
_MOST = 100
"""The largest number of replies that are counted."""
_KEPT = 50
"""The largest number of silent chats that are listed, and of models that are counted."""
_STORYLESS = 2
"""The number of reports without a story after which a model is asked for the story alone."""
_COUNTED = 1_000
"""The number of turns whose counts are cached."""
_TOLD = (TurnKind.NARRATION, TurnKind.CONTINUATION)

WhoReads = Callable[[], str]
"""Returns the name of the reader of unreported replies; empty if there is none."""


@frozen
class UnreportedReplies:
    """A run of replies without a block at the end of a path."""

    replies: int
    """The number of these replies."""
    unread: int
    """How many of them, counted from the end, were not read by a model either."""
    model: str
    """The model that narrated the last of them; empty if unknown."""
    found_nothing: bool = False
    """Whether a model read them, and found no change in any."""

    @property
    def is_news(self) -> bool:
        """Whether the player is told at this reply. That is not at every reply."""
        return self.replies >= SILENT_FROM and (self.replies - SILENT_FROM) % _REMIND == 0

    def is_read(self, reader: str) -> bool:
        """Whether ``reader`` makes up for it. The last few replies may still wait for it. See ``WhoReads``."""
        return bool(reader) and self.unread <= SILENT_FROM

    def text(self, reader: str) -> str:
        """Return a description of the silence and its remedy."""
        narrator = self.model or "the narrator"
        said = f"{narrator} wrote no state block in its last {self.replies} replies"
        if self.is_read(reader):
            found = f"; {reader} found no change in those that it read" if self.found_nothing else ""
            return f"{said}; SAGA asks {reader} in the background what happened in them{found}"
        return f"{said}, so that nothing is known of what happened in them; {remedy(self.model, reader)}"


_NONE = UnreportedReplies(0, 0, "")


def remedy(model: str, reader: str = "") -> str:
    """Return the remedy for a narrator that writes no block, and for a reader that does not make up for it."""
    if reader:
        return f"{reader} has not read them yet: `saga jobs` says why; another reader is set in models.extraction"
    asked = f" --narrator {model}" if model else " --narrator MODEL"
    return (
        f"set models.extraction to a small model that reads such replies, or narrate with another model; `saga doctor"
        f"{asked}` shows how well a model reports"
    )


def unread_replies(tree: Tree, turn: str) -> int:
    """Return the number of replies at the end of the path to ``turn`` that were neither reported nor read."""
    found = 0
    for node in tree.upwards(turn):
        if node.kind not in _TOLD:
            continue  # the greeting and an adopted history say nothing about the narrator
        if node.status is not ReportStatus.FALLBACK or found == _MOST:
            break
        found += 1
    return found


async def unreported_at(
    live: LiveSession, turn: str, counted: MutableMapping[str, int] | None = None
) -> UnreportedReplies:
    """Return how silent the narrator is at ``turn``, even if a model read its replies later. Raises ``NotFound``.

    ``counted`` caches the counts by turn, which never change because the path above a turn does not. Without it, each
    reply that was read later is looked up in the journal.
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
        if node.status is not ReportStatus.FALLBACK and not live.extracted(node.id):
            break
        if not replies or live.extracted(node.id):
            told = await live.turn(node.id)
            if told.delta.status is not ReportStatus.FALLBACK:
                break  # the narrator reported; the turn was read again on request
            model = model or told.model
        replies += 1
    if counted is not None:
        counted[turn] = replies
    return UnreportedReplies(replies, min(replies, unread_replies(live.tree, turn)), model)


@define(eq=False)
class MissingReports:
    """The chats whose narrator is silent at the turn played last."""

    counters: Counters
    who_reads: WhoReads = lambda: ""
    _silent: dict[str, UnreportedReplies] = field(factory=dict, init=False)
    _counted: LRUCache[str, int] = field(factory=lambda: LRUCache(_COUNTED), init=False)
    """Turn -> number of replies without a block that end with it."""
    _storyless: LRUCache[str, int] = field(factory=lambda: LRUCache(_KEPT), init=False)
    """Model -> number of its replies that were a report alone."""

    def told_no_story(self, model: str) -> None:
        """Record that ``model`` was asked for a block, and wrote that and no story."""
        self._storyless[model] = self._storyless.get(model, 0) + 1
        self.counters.add("narration.asked_again")

    def tells_no_story(self, model: str) -> bool:
        """Whether ``model`` has often told no story because it was asked for a block. It is asked for none then."""
        return self._storyless.get(model, 0) >= _STORYLESS

    async def look(self, live: LiveSession, turn: str) -> UnreportedReplies:
        """Record how silent the narrator is at ``turn``, where the session is being played."""
        session, node = live.session.id, live.tree.get(turn)
        reports = node.kind in _TOLD and node.status is not ReportStatus.FALLBACK and not live.extracted(turn)
        if reports and not self._silent:
            return _NONE  # as at nearly all turns
        found = await unreported_at(live, turn, self._counted)
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

    def read(self, live: LiveSession) -> None:
        """Note that a model has read replies of a session since the last ``look``."""
        before = self._silent.get(live.session.id)
        if before is None:
            return
        told = [node.id for node in live.tree.upwards(live.head) if node.kind in _TOLD]
        read = [each for turn in told[: before.replies] for each in live.amendments.get(turn, ())]
        events = [each.events for each in read if each.source is Source.EXTRACTION]
        self._silent[live.session.id] = evolve(
            before,
            unread=min(before.replies, unread_replies(live.tree, live.head)),
            found_nothing=bool(events) and not any(events),
        )
        self._tell()

    def forget(self, session: str) -> None:
        """Remove a deleted session."""
        if self._silent.pop(session, None) is not None:
            self._tell()

    def notice(self, found: UnreportedReplies, *, expected: bool = True) -> tuple[str, ...]:
        """Return the notice for the player with the next reply, if one is due. ``expected``: a block is asked for."""
        reader = self.who_reads()
        if not expected and found.is_read(reader):
            if found.replies != SILENT_FROM:
                return ()
            return (
                f"{SILENT_MODE}: {found.model or 'the narrator'} is asked for the story alone; SAGA asks {reader} in "
                "the background what happened, which is a second call for each reply (extraction.reporting)",
            )
        return (f"{SILENT_MODE}: {found.text(self.who_reads())}",) if found.is_news else ()

    def describe(self) -> list[dict[str, Any]]:
        """Return the silent chats, the one played last first. JSON-able."""
        reader = self.who_reads()
        return [
            {
                "session": session,
                "model": found.model,
                "replies": found.replies,
                "unread": found.unread,
                "read_by": reader if found.is_read(reader) else None,
                "found_nothing": found.found_nothing,
                "remedy": None if found.is_read(reader) else remedy(found.model, reader),
            }
            for session, found in reversed(self._silent.items())
        ]

    def _tell(self) -> None:
        """Update the degraded mode. Its text does not change from reply to reply, so that it is logged once."""
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
