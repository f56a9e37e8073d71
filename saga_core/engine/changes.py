"""Changes: what curators and people changed behind the narrator's back, as lists; making and undoing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import asdict, define, evolve

from saga_core.codec import to_plain
from saga_core.engine.amending import amend
from saga_core.engine.backfill import Backfill
from saga_core.engine.live import LiveSession
from saga_core.errors import BadInput, NotFound
from saga_core.model.deltas import Delta, Source, undoings
from saga_core.model.entities import Kind

_SUMMARY = 200


@define(eq=False)
class Changes(Backfill):
    """What can be corrected, and what was curated."""

    async def changes(self, session_id: str) -> list[dict[str, Any]]:
        """What curators and people changed on the active path, oldest first, and what of it was undone. JSON-able."""
        live = await self._live(session_id)
        found = []
        for node in live.tree.path(live.head):
            later = live.amendments.get(node.id, ())
            gone = undoings(later)
            proposed = {
                change: (review.curator, proposal.summary)
                for review in live.reviews.get(node.id, ())
                for change, proposal in zip(review.changes, review.accepted, strict=True)
            }
            for delta in later:
                if not delta.id or delta.undoes:
                    continue
                by, summary = proposed.get(delta.id, (delta.source.value, ""))
                found.append(
                    {
                        "id": delta.id,
                        "turn": node.depth,
                        "turn_id": node.id,
                        "by": by,
                        "undone": gone.get(delta.id),
                        "summary": summary,
                        "events": to_plain(Delta(delta.events)).get("events", []),
                    }
                )
        return found

    async def reviews(self, session_id: str) -> list[dict[str, Any]]:
        """The reviews of the active path, oldest first: of which turns, what was accepted and refused. JSON-able."""
        live = await self._live(session_id)
        return [
            {
                "curator": review.curator,
                "turn": review.depth,
                "turn_id": review.turn,
                "since": review.since,
                "at": review.at,
                "accepted": [
                    {**to_plain(each), "change": change}
                    for each, change in zip(review.accepted, review.changes, strict=True)
                ],
                "refused": [{"summary": summary[:_SUMMARY], "reason": reason} for summary, reason in review.refused],
                "notice": review.notice,
            }
            for node in live.tree.path(live.head)
            for review in live.reviews.get(node.id, ())
        ]

    async def curated(self, session_id: str) -> dict[str, Any]:
        """What curators know at the active head: findings, told story, schedule, learned lore, memory blocks."""
        live = await self._live(session_id)
        state = await live.state(live.head)
        return {
            "session": live.session.id,
            "turn": state.depth,
            "findings": [{**asdict(each), "verdict": each.verdict or None} for each in state.findings],
            "story": [asdict(part) for part in state.story],
            "schedule": [
                {
                    **asdict(each),
                    "place": state.name(each.place) if each.place else None,
                    "who": state.name(each.who) if each.who else None,
                }
                for each in state.schedule.values()
            ],
            "lore": dict(state.learned),
            "blocks": {name: asdict(block) for name, block in state.blocks.items()},
            "reviews": await self.reviews(session_id),
        }

    async def entities(self, session_id: str) -> list[dict[str, Any]]:
        """Everybody and everything that the story knows at the active head, with all names. JSON-able."""
        live = await self._live(session_id)
        state = await live.state(live.head)
        return [
            {
                "id": each.id,
                "kind": each.kind.value,
                "name": each.name,
                "aliases": list(each.aliases),
                "player": each.id == state.player,
                "status": each.get("status") if each.kind is Kind.CHARACTER else None,
            }
            for each in state.entities.values()
        ]

    async def correct(self, session_id: str, kind: str, fields: Mapping[str, str], turn: str | None = None) -> str:
        """Correct what is known at ``turn`` (the active head); the id under which it can be undone.

        Durable when this returns; the views follow. Raises ``BadInput``, naming the field, and ``NotFound``.
        """
        from saga_core.curation.corrections import correct  # starting does without it

        session = await self.session(session_id)
        async with self.lanes.exclusive(session.id, journal=True):
            live = await self.live.get(session.id)
            node = live.tree.get(turn or live.head)
            events = correct(await live.state(node.id), kind, fields, self.clock.now())
            return await self._amend(live, node.id, Delta(events, Source.EDIT))

    async def undo(self, session_id: str, change: str) -> tuple[str, str]:
        """Undo a change, or an undoing: the id of this undoing, and of the turn. ``NotFound``, ``BadInput``."""
        session = await self.session(session_id)
        async with self.lanes.exclusive(session.id, journal=True):
            live = await self.live.get(session.id)
            for turn, later in live.amendments.items():
                if not any(delta.id == change for delta in later):
                    continue
                by = undoings(later).get(change)
                if by is not None:
                    raise BadInput(f"change: {change!r} is undone already; undo {by!r} to have it again")
                return await self._amend(live, turn, Delta((), Source.EDIT, undoes=change)), turn
        raise NotFound(f"session {session.id} has no change {change!r}")

    async def _amend(self, live: LiveSession, turn: str, delta: Delta) -> str:
        number = self.ids.new("a")
        await amend(live, turn, evolve(delta, id=number), number)
        self.lanes.submit(live.session.id, [turn])
        self.counters.add("changes.undone" if delta.undoes else "changes.made")
        return number
