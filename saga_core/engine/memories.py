"""Memories: what memory strategies learned, for telling, for listing and for correcting.

A record stands in the state of the path on which it was learned, and what is corrected is corrected there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define

from saga_core.engine.changes import Changes
from saga_core.engine.live import LiveSession
from saga_core.engine.shared_memories import SharedMemories
from saga_core.errors import BadInput
from saga_core.model.memories import MemoryRecord, newest
from saga_core.model.turn import Session
from saga_core.model.world_state import WorldState
from saga_core.strategies.namespaces import ACTOR, LOCAL, SESSION, STRATEGY, checked, filled, within

BY_HAND = "/own/{actor}/{session}"
"""Where lies what a person adds without saying where."""


@define(eq=False)
class Memories(Changes):
    """What was learned, and correcting it."""

    shared: SharedMemories

    async def told_memories(self, live: LiveSession, state: WorldState) -> tuple[MemoryRecord, ...]:
        """The records that hold at a state and have not expired; none where no strategy is configured."""
        strategies = self.config.memory_strategies
        if not strategies:
            return ()
        now = self.clock.now()
        found = newest(await self.shared.of(live.session), state.memories.values()).values()
        return tuple(each for each in found if each.live(now) and (not each.strategy or each.strategy in strategies))

    async def memories(
        self, session_id: str, *, turn: str | None = None, namespace: str = "/", query: str = ""
    ) -> dict[str, Any]:
        """The records at a turn (the active head) within a namespace, nearest to ``query`` first. JSON-able.

        Expired ones and those of strategies that are switched off are among them, and say so. Raises ``BadInput`` for
        what is no namespace, and ``NotFound``.
        """
        live = await self._live(session_id)
        state = await live.state(turn or live.head)
        known = newest(await self.shared.of(live.session), state.memories.values())
        prefix = _place(namespace, live.session)
        chosen = [each for each in known.values() if within(_place(each.namespace, live.session, each), prefix)]
        if query:
            from saga_core.strategies.consolidation import nearest  # starting does without it

            chosen = nearest(query, chosen, len(chosen))
        told = {each.id for each in await self.told_memories(live, state)}
        return {
            "session": live.session.id,
            "turn": state.depth,
            "turn_id": state.turn,
            "memories": [await self._shown(live, state, each, each.id in told) for each in chosen],
        }

    async def _shown(self, live: LiveSession, state: WorldState, record: MemoryRecord, told: bool) -> dict[str, Any]:
        own = state.memories.get(record.id) == record
        return {
            "id": record.id,
            "strategy": record.strategy or None,
            "kind": record.kind,
            "namespace": _place(record.namespace, live.session, record),
            "text": record.text,
            "details": dict(record.details),
            "session": live.session.id if own else await self.shared.holder(live.session, record.id),
            "turns": [_turn(live, turn) if own else {"turn": None, "turn_id": turn} for turn in record.turns],
            "sources": list(record.sources),
            "version": record.version,
            "at": record.at,
            "expires": record.expires,
            "told": told,
        }

    async def correct(self, session_id: str, kind: str, fields: Mapping[str, str], turn: str | None = None) -> str:
        """As ``Changes.correct``. A record that was learned in another session is corrected there."""
        if kind in ("remember", "unremember"):
            fields = await self._prepared(session_id, kind, fields, turn)
        return await super().correct(session_id, kind, fields, turn)

    async def _prepared(
        self, session_id: str, kind: str, fields: Mapping[str, str], turn: str | None
    ) -> Mapping[str, str]:
        if not self.config.memory_strategies:
            raise BadInput(f"kind: {kind!r} needs memory strategies, and none is configured; set memory_strategies")
        live = await self._live(session_id)
        record = fields.get("record", "").strip()
        if record:
            if record not in (await live.state(turn or live.head)).memories:
                holder = await self.shared.holder(live.session, record)
                if holder is not None:
                    raise BadInput(f"record: {record!r} was learned in session {holder}; correct it there")
            return fields
        return {**fields, "namespace": checked(fields.get("namespace", "").strip() or BY_HAND)}


def _place(namespace: str, session: Session, record: MemoryRecord | None = None) -> str:
    """A namespace with the names of a session filled in."""
    strategy = record.strategy if record is not None else ""
    return filled(namespace, {ACTOR: session.owner or LOCAL, SESSION: session.id, STRATEGY: strategy or "own"})


def _turn(live: LiveSession, turn: str) -> dict[str, Any]:
    node = live.tree.nodes.get(turn)
    return {"turn": node.depth if node is not None else None, "turn_id": turn}
