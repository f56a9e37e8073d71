"""Shared memories: records whose namespace names no session are used in the owner's other sessions.

They are used as long as they are on the active path of the session that learned them. Each session's share is stored
under its head and updated from its state.
"""

from __future__ import annotations

from attrs import define, frozen

from saga_core import codec
from saga_core.journal import keys
from saga_core.model import MemoryRecord, Session, WorldState, crosses, newest
from saga_core.ports import Clock
from saga_core.sessions.live_session import LiveSession
from saga_core.sessions.live_sessions import LiveSessions
from saga_core.stores import Batch, Key, StateKV

_PAGE = 500


@frozen
class Told:
    """A session's share: the records that the owner's other sessions may use."""

    owner: str
    records: tuple[MemoryRecord, ...] = ()


@define(eq=False)
class SharedMemories:
    """The records shared between sessions, in memory."""

    kv: StateKV
    live: LiveSessions
    clock: Clock
    strategies: frozenset[str] = frozenset()
    """The names of the configured memory strategies. Without any, no records are used."""
    _told: dict[str, Told] | None = None
    _as_of: int = -1

    async def told(self, live: LiveSession, state: WorldState) -> tuple[MemoryRecord, ...]:
        """Return the valid records at a state that have not expired; empty if no strategy is configured."""
        if not self.strategies:
            return ()
        now = self.clock.now()
        found = newest(await self.of(live.session), state.memories.values()).values()
        return tuple(
            each for each in found if each.live(now) and (not each.strategy or each.strategy in self.strategies)
        )

    async def of(self, session: Session) -> tuple[MemoryRecord, ...]:
        """Return the records shared by the owner's other sessions. Raises ``StoreError``."""
        found = await self._all()
        others = [each.records for id_, each in found.items() if id_ != session.id and each.owner == session.owner]
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
        fresh = Told(live.session.owner, records)
        if found.get(session, Told(live.session.owner)) == fresh:
            return
        old = frozenset(key for key, _ in await self.kv.scan(("known", session), limit=_PAGE))
        key = keys.known(session, head)
        await self.kv.commit(Batch({key: codec.encode(fresh)} if records else {}, old - {key} if records else old))
        found[session] = fresh

    async def _all(self) -> dict[str, Told]:
        """Return the shares by session, and read them again after a session was deleted or rewritten."""
        if self._told is None or self._as_of != self.live.forgotten:
            as_of, told, after = self.live.forgotten, dict[str, Told](), None
            while rows := await self.kv.scan(("known",), after=after, limit=_PAGE):
                told |= {key[1]: codec.decode(raw, Told) for key, raw in rows}
                last: Key = rows[-1][0]
                after = last
            self._told, self._as_of = told, as_of
        return self._told
