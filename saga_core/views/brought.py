"""Items from turns and corrections that are not in episodes: notes, lore that play added, and scheduled events.

A state has only the latest of them, and only those of its path. The journal has all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Literal

from attrs import define, field, frozen
from cachetools import LRUCache

from saga_core.model import Delta, Event, TurnKind, deltas
from saga_core.sessions import LiveSession

_SESSIONS = 8
_CHUNK = 256
"""Turns that are read before yielding to the event loop."""
_MEANT = deltas.Noted | deltas.Unnoted | deltas.LoreLearned | deltas.EventScheduled


@frozen
class Brought:
    """An item from a turn or from a correction of it."""

    kind: Literal["note", "lore", "event"]
    turn: str
    depth: int
    key: str
    """The note's text, the entry's name, or the event's id."""
    text: str


@frozen
class _Read:
    later: tuple[Delta, ...]
    """The turn's amendments at the time when it was read."""
    events: tuple[Event, ...]


@define(eq=False)
class BroughtByTurns:
    """Reads the turns of a session once. Turns that were amended since are read again."""

    _known: LRUCache[str, dict[str, _Read]] = field(factory=lambda: LRUCache(_SESSIONS), init=False)

    async def of(self, live: LiveSession) -> list[Brought]:
        """Return all items in a session, including notes that were removed later (see ``taken_back``)."""
        events = await self._events(live)
        root = live.tree.root
        found = [Brought("note", root, 0, text, text) for text in live.world.start_events]
        for turn, each in events.items():
            found += _of_turn(turn, live.tree.get(turn).depth, each)
        return found

    async def taken_back(self, live: LiveSession, path: frozenset[str]) -> set[tuple[int, str]]:
        """Return the notes that were removed on a path, as (depth of their turn, text)."""
        events = await self._events(live)
        return {
            (event.depth, event.text)
            for turn in path & events.keys()
            for event in events[turn]
            if isinstance(event, deltas.Unnoted)
        }

    async def _events(self, live: LiveSession) -> dict[str, tuple[Event, ...]]:
        """Return the events by turn, in the order of the tree, without turns that have none."""
        known = self._known.get(live.session.id, {})
        tree, amended = live.tree, live.amendments
        there = [node.id for node in tree.nodes.values() if node.kind is not TurnKind.SIDE]
        missing = [turn for turn in there if turn not in known or known[turn].later != amended.get(turn, ())]
        fresh: dict[str, _Read] = {}
        for start in range(0, len(missing), _CHUNK):
            for turn in await live.journal.turns(live.session.id, missing[start : start + _CHUNK]):
                events = tuple(event for event in live.effective(turn).events if isinstance(event, _MEANT))
                fresh[turn.id] = _Read(amended.get(turn.id, ()), events)
            await asyncio.sleep(0)
        whole = {turn: fresh.get(turn) or known[turn] for turn in there if turn in fresh or turn in known}
        self._known[live.session.id] = whole
        return {turn: read.events for turn, read in whole.items() if read.events}


def _of_turn(turn: str, depth: int, events: tuple[Event, ...]) -> Iterator[Brought]:
    for event in events:
        if isinstance(event, deltas.Noted):
            yield Brought("note", turn, depth, event.text, event.text)
        elif isinstance(event, deltas.LoreLearned) and event.text:
            yield Brought("lore", turn, depth, event.entry, f"{event.entry}: {event.text}")
        elif isinstance(event, deltas.EventScheduled):
            text = f"{event.name}: {event.text}" if event.text else event.name
            yield Brought("event", turn, depth, event.event, text)
