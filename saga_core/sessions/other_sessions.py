"""Other stories of the same player: which other sessions may be told where somebody asks for another story."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime

from attrs import define, frozen

from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import NotFound, StoreError
from saga_core.journal import Journal
from saga_core.model import Node, Session
from saga_core.sessions.live_session import LiveSession
from saga_core.sessions.live_sessions import LiveSessions

log = logging.getLogger("saga")

_LATEST = 16
"""Sessions that are looked at, at most: those begun last."""
_TOLD = 4
"""Stories that are searched, at most: those played last."""
_PATIENCE = 4
"""Deadlines of the sources that a player waits who asks for another story, which may have to be read first."""


@frozen
class OtherSession:
    """A session that may be told, and when it was played last, in UTC."""

    live: LiveSession
    played: datetime


@define(eq=False, kw_only=True)
class OtherSessions:
    """Finds the other sessions that a player may be told of."""

    settings: Settings
    journal: Journal
    live: LiveSessions
    counters: Counters

    async def of(self, live: LiveSession) -> tuple[OtherSession, ...]:
        """The other sessions of the same key that ``recall.other_sessions`` allows, the one played last first.

        Nothing where the setting is off, or where a key's sessions are told apart by their users, who are different
        people. What cannot be read in time is left out, and counted as ``late.other_stories``; the next time it is
        there.
        """
        config = self.settings.config
        if config.recall.other_sessions == "off" or config.session.identify == "user":
            return ()
        try:
            async with asyncio.timeout(_PATIENCE * config.recall.deadline_ms / 1_000):
                return await self._found(live, of_card=config.recall.other_sessions == "card")
        except (StoreError, TimeoutError) as error:
            self.counters.add("late.other_stories")
            log.warning("other stories are not told: %s", error if str(error) else "they took too long to read")
            return ()

    async def _found(self, live: LiveSession, *, of_card: bool) -> tuple[OtherSession, ...]:
        own = live.session
        sessions = [each for each in await self.journal.sessions() if _together(own, each)][-_LATEST:]
        played = [(node.at, each) for each in sessions if (node := await self._head(each)) is not None]
        found: list[OtherSession] = []
        for at, session in sorted(played, key=lambda each: (-each[0], each[1].id)):
            try:
                other = await self.live.get(session.id)
            except NotFound:  # it was deleted meanwhile
                continue
            if not of_card or await _of_one_card(live, other):
                found.append(OtherSession(other, datetime.fromtimestamp(at, UTC)))
                if len(found) == _TOLD:
                    break
        return tuple(found)

    async def _head(self, session: Session) -> Node | None:
        """The turn that was played last; None where nothing was."""
        if not session.head or session.head == session.root:
            return None
        try:
            return await self.journal.node(session.id, session.head)
        except NotFound:
            return None


def _together(own: Session, other: Session) -> bool:
    return other.id != own.id and other.owner == own.owner and other.world == own.world


async def _of_one_card(one: LiveSession, other: LiveSession) -> bool:
    """Whether both began with the same greeting and are played by somebody of the same name: a card's greeting tells it
    apart from others. A chat without a greeting is of no card."""
    greeting = one.tree.get(one.tree.root).reply_key
    return bool(greeting) and greeting == other.tree.get(other.tree.root).reply_key and await _same_player(one, other)


async def _same_player(one: LiveSession, other: LiveSession) -> bool:
    states = [await each.state(each.head) for each in (one, other)]
    first, second = (state.name(state.player) if state.player else "" for state in states)
    return first == second
