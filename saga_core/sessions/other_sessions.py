"""What a session may use of the same player's other sessions: their stories, and the records that they share."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime

from attrs import define, frozen

from saga_core import codec
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import NotFound, StoreError
from saga_core.journal import Journal, keys, rows
from saga_core.model import MemoryRecord, Session, TurnNode, WorldState, crosses, newest, of_card
from saga_core.ports import Clock
from saga_core.sessions.kinds import EPHEMERAL
from saga_core.sessions.live_sessions import LiveSession, LiveSessions
from saga_core.stores import Batch, StateKV
from saga_core.values import date_of

# -- other stories ---------------------------------------------------------------------------------------------

log = logging.getLogger("saga")

_LATEST = 16
"""The largest number of sessions that are examined: those begun last."""
_TOLD = 4
"""The largest number of stories that are searched: those played last."""
_PATIENCE = 4
"""How many source deadlines the player waits for other stories, which may have to be loaded first."""


@frozen
class OtherSession:
    """A session that may be used, and the time of its last turn in UTC."""

    live: LiveSession
    played: datetime


@define(eq=False, kw_only=True)
class OtherSessions:
    """Finds the other sessions of a player that may be used."""

    settings: Settings
    journal: Journal
    live: LiveSessions
    counters: Counters

    async def of(self, live: LiveSession) -> tuple[OtherSession, ...]:
        """Return the key's other sessions that ``recall.other_sessions`` allows, the one played last first.

        Returns nothing if the setting is off or the session is ephemeral, or if ``session.identify`` is ``user``,
        because the users of a key are then different people. Sessions that cannot be read in time are left out and
        counted as ``late.other_stories``. They are available the next time.
        """
        config = self.settings.config
        off = config.recall.other_sessions == "off" or live.session.kind == EPHEMERAL
        if off or config.session.identify == "user":
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
            except NotFound:  # deleted meanwhile
                continue
            if not of_card or await _of_one_card(live, other):
                found.append(OtherSession(other, date_of(at)))
                if len(found) == _TOLD:
                    break
        return tuple(found)

    async def _head(self, session: Session) -> TurnNode | None:
        """Return the turn that was played last; None if there is none."""
        if not session.head or session.head == session.root:
            return None
        try:
            return await self.journal.node(session.id, session.head)
        except NotFound:
            return None


def _together(own: Session, other: Session) -> bool:
    return other.id != own.id and other.owner == own.owner and other.world == own.world


def card_of(live: LiveSession) -> str:
    """The key of the greeting that a session began with, which stands for its card; empty without one."""
    return live.tree.get(live.tree.root).reply_key


async def _of_one_card(one: LiveSession, other: LiveSession) -> bool:
    """Whether both sessions use the same character card: they have the same greeting and the same player name.

    A chat without a greeting matches no other.
    """
    greeting = card_of(one)
    return bool(greeting) and greeting == card_of(other) and await _same_player(one, other)


async def _same_player(one: LiveSession, other: LiveSession) -> bool:
    states = [await each.state(each.head) for each in (one, other)]
    first, second = (state.name(state.player) if state.player else "" for state in states)
    return first == second


# -- shared memories -------------------------------------------------------------------------------------------
#
# Shared memories: records whose namespace names no session are used in the owner's other sessions.
#
# They are used as long as they are on the active path of the session that learned them. Each session's share is stored
# under its head and updated from its state.


@frozen
class SharedRecords:
    """A session's share: the records that the owner's other sessions may use."""

    owner: str
    records: tuple[MemoryRecord, ...] = ()
    card: str = ""
    """The card that the session plays, as ``card_of`` says."""


@define(eq=False)
class SharedMemories:
    """The records shared between sessions, in memory."""

    kv: StateKV
    live: LiveSessions
    clock: Clock
    strategies: frozenset[str] = frozenset()
    """The names of the configured memory strategies. Without any, no records are used."""
    _told: dict[str, SharedRecords] | None = None
    _as_of: int = -1

    async def at(self, live: LiveSession, state: WorldState) -> tuple[MemoryRecord, ...]:
        """Return the valid records at a state that have not expired; empty if no strategy is configured."""
        if not self.strategies:
            return ()
        now = self.clock.now()
        found = newest(await self.of(live), state.memories.values()).values()
        return tuple(
            each for each in found if each.live(now) and (not each.strategy or each.strategy in self.strategies)
        )

    async def of(self, live: LiveSession) -> tuple[MemoryRecord, ...]:
        """Return the records shared by the owner's other sessions. Raises ``StoreError``.

        Those of a card come from sessions of the same card alone.
        """
        found, session, card = await self._all(), live.session, card_of(live)
        others = [
            [record for record in each.records if not of_card(record.namespace) or (card and card == each.card)]
            for id_, each in found.items()
            if id_ != session.id and each.owner == session.owner
        ]
        return tuple(newest(*others).values())

    async def holder(self, session: Session, record: str) -> str | None:
        """Return the owner's other session that has a record with this id."""
        found = (await self._all()).items()
        return next(
            (
                id_
                for id_, each in found
                if id_ != session.id and each.owner == session.owner and any(one.id == record for one in each.records)
            ),
            None,
        )

    async def publish(self, live: LiveSession) -> None:
        """Store the share of a session's active path. Idempotent. Raises ``StoreError``."""
        session, head = live.session.id, live.head
        state = await live.state(head)
        records = tuple(each for each in state.memories.values() if crosses(each.namespace))
        found = await self._all()
        fresh = SharedRecords(live.session.owner, records, card_of(live))
        if found.get(session, SharedRecords(live.session.owner, (), card_of(live))) == fresh:
            return
        old = frozenset([key async for key, _ in rows(self.kv, ("known", session))])
        key = keys.known(session, head)
        await self.kv.commit(Batch({key: codec.encode(fresh)} if records else {}, old - {key} if records else old))
        found[session] = fresh

    async def _all(self) -> dict[str, SharedRecords]:
        """Return the shares by session, and read them again after a session was deleted or rewritten."""
        if self._told is None or self._as_of != self.live.forgotten:
            as_of = self.live.forgotten
            self._told = {key[1]: codec.decode(raw, SharedRecords) async for key, raw in rows(self.kv, ("known",))}
            self._as_of = as_of
        return self._told
