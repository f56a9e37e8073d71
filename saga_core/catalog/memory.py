"""Memory: list, correct and undo what is known besides the story itself.

All of it belongs to the path on which it was learned: changes by curators and users, memory records, and reviews. A
correction is a later delta of the turn that it corrects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from attrs import asdict, define, evolve, field

from saga_core.arguments import check_argument, checks_arguments
from saga_core.background import Supervisor
from saga_core.catalog.correction_points import CorrectionPoint, correction_points
from saga_core.catalog.entity_page import entity_page
from saga_core.catalog.former_names import former_names
from saga_core.catalog.knowledge import people_who_know, what_is_known
from saga_core.catalog.lines import LineOrigins, effect, plain_events, shown_line
from saga_core.catalog.standing_rules import end_rule, proposal_of, proposals, put_rule, waiting
from saga_core.catalog.who_stays import who_stays
from saga_core.codec import to_plain
from saga_core.counters import Counters
from saga_core.errors import BadInput, NotFound, StoreError
from saga_core.ids import IdSource
from saga_core.model import (
    ACCEPT,
    ACTOR,
    CARD,
    LOCAL,
    REFUSE,
    SESSION,
    STRATEGY,
    Delta,
    Event,
    Kind,
    MemoryRecord,
    Remembered,
    Source,
    StandingRule,
    Unremembered,
    WorldState,
    checked,
    crosses,
    deltas,
    filled,
    newest,
    undoings,
    within,
)
from saga_core.ports import Clock
from saga_core.projection import state_lines
from saga_core.sessions import (
    LiveSession,
    LiveSessions,
    SessionDirectory,
    SharedMemories,
    amend,
    card_of,
    turn_named,
)

BY_HAND = "/own/{actor}/{session}"
"""The default namespace of records that a user adds."""
_SUMMARY = 200


@checks_arguments
@define(eq=False, kw_only=True)
class Memory:
    """Lists and corrects what was learned, changed and reviewed."""

    directory: SessionDirectory
    live: LiveSessions
    shared: SharedMemories
    supervisor: Supervisor
    ids: IdSource
    clock: Clock
    counters: Counters
    origins: LineOrigins = field(factory=LineOrigins)

    async def lines(self, session_id: str, turn: str | None = None) -> dict[str, Any]:
        """Return the lines known at a turn (default: the active head), each with the turn it comes from. JSON-able.

        ``unread`` counts the turns above it whose changes were neither reported nor read by a model. Raises
        ``NotFound``.
        """
        live = await self.directory.load(session_id)
        state = await live.state(turn_named(live, turn or None))
        lines = state_lines(state, live.world.language)
        origins = await self.origins.of(live, state.turn, lines)
        return {
            "session": live.session.id,
            "turn": state.depth,
            "turn_id": state.turn,
            "player": state.name(state.player),
            "unread": live.unread(state.turn),
            "lines": [shown_line(state, line, origin) for line, origin in zip(lines, origins, strict=True)],
        }

    async def preview(
        self, session_id: str, kind: str, fields: Mapping[str, str], turn: str | None = None, *, kept: bool = False
    ) -> dict[str, Any]:
        """Return what ``correct`` would do, without doing it. JSON-able.

        ``turn`` and ``turn_id`` are the turn from which it would hold. ``effect`` has the lines that would differ,
        before (``was``) and after (``is``), at the turn given or at the active head. ``later`` counts the turns below
        it on the active path. Raises what ``correct`` raises.
        """
        kind, fields = await self._prepared(session_id, kind, fields, turn)
        live = await self.directory.load(session_id)
        node = live.tree.get(turn_named(live, turn or None))
        before = await live.state(node.id)
        points = await correction_points(live, turn and node.id, kind, fields, self.clock.now(), kept=kept)
        first = live.tree.get(points[0].turn)
        on_path = live.tree.is_ancestor(first.id, live.head)
        after = points[-1].after
        assert after is not None
        events = [event for point in points for event in point.events]
        return {
            "turn": first.depth,
            "turn_id": first.id,
            "later": live.tree.get(live.head).depth - first.depth if on_path else 0,
            "effect": effect(before, after, live.world.language, events),
        }

    async def records(
        self, session_id: str, *, turn: str | None = None, namespace: str = "/", query: str = ""
    ) -> dict[str, Any]:
        """Return the records at a turn (default: the active head) within a namespace, best match of ``query`` first.

        JSON-able. Expired records and those of disabled strategies are included and have ``told`` false. Raises
        ``BadInput`` for an invalid namespace, and ``NotFound``.
        """
        live = await self.directory.load(session_id)
        state = await live.state(turn_named(live, turn or None))
        known = newest(await self.shared.of(live), state.memories.values())
        prefix = _place(namespace, live)
        chosen = [each for each in known.values() if within(_place(each.namespace, live, each), prefix)]
        if query:
            from saga_core.strategies import nearest  # imported late to keep the start fast

            chosen = nearest(query, chosen, len(chosen))
        told = {each.id for each in await self.shared.at(live, state)}
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
            "namespace": _place(record.namespace, live, record),
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

    async def _prepared(
        self, session_id: str, kind: str, fields: Mapping[str, str], turn: str | None
    ) -> tuple[str, Mapping[str, str]]:
        """Return the kind and the fields of a correction. Without memory strategies, a memory is kept as a note."""
        for name, value in fields.items():
            check_argument(f"fields[{name!r}]", value)
        if kind not in ("remember", "unremember"):
            return kind, fields
        if not self.shared.strategies and kind == "remember" and fields.keys() == {"text"}:
            return "note", fields
        if not self.shared.strategies:
            raise BadInput(
                f"kind: {kind!r} needs memory strategies, and none is configured; set memory_strategies. "
                "A remark is taken back by unnote"
            )
        live = await self.directory.load(session_id)
        record = fields.get("record", "").strip()
        if record:
            if record not in (await live.state(turn_named(live, turn or None))).memories:
                holder = await self.shared.holder(live.session, record)
                if holder is not None:
                    raise BadInput(f"record: {record!r} was learned in session {holder}; correct it there")
            return kind, fields
        return kind, {**fields, "namespace": checked(fields.get("namespace", "").strip() or BY_HAND)}

    async def changes(self, session_id: str) -> list[dict[str, Any]]:
        """Return the changes by curators and users on the active path, oldest first, and what undid them. JSON-able."""
        live = await self.directory.load(session_id)
        state, language = await live.state(live.head), live.world.language
        found: list[dict[str, Any]] = []
        seen: set[str] = set()
        for node in live.tree.path(live.head):
            later = live.amendments.get(node.id, ())
            gone = undoings(later)
            held, proposed = waiting(later), proposals(live, node.id)
            for delta in later:
                if not delta.id or delta.undoes or delta.id in seen:
                    continue
                seen.add(delta.id)
                origin = proposed[delta.id]
                found.append(
                    {
                        "id": delta.id,
                        "turn": node.depth,
                        "turn_id": node.id,
                        "by": origin.by,
                        "kind": origin.kind or None,
                        "undone": gone.get(delta.id),
                        "waiting": delta.id in held,
                        "summary": origin.summary,
                        "events": plain_events(delta.events, state, language),
                    }
                )
        return found

    async def reviews(self, session_id: str) -> list[dict[str, Any]]:
        """Return the reviews of the active path, oldest first, with accepted and refused proposals. JSON-able."""
        live = await self.directory.load(session_id)
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
        """Return what curators know at the active head: findings, story, schedule, learned lore, memory blocks.

        ``into`` of a finding is the id of the one whose name stays if two are one person, None for other findings.
        """
        live = await self.directory.load(session_id)
        state = await live.state(live.head)
        return {
            "session": live.session.id,
            "turn": state.depth,
            "findings": [
                {**asdict(each), "verdict": each.verdict or None, "into": who_stays(live, state, each.key)}
                for each in state.findings
            ],
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
        """Return all entities of the story at the active head, with all their names. JSON-able."""
        live = await self.directory.load(session_id)
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

    async def former_names(self, session_id: str) -> dict[str, str]:
        """Return the last names of merged and forgotten entities, by the ids that the active head no longer has."""
        live = await self.directory.load(session_id)
        return await former_names(live, live.head)

    async def knowledge(
        self, session_id: str, *, about: int | None = None, who: str | None = None, turn: str | None = None
    ) -> dict[str, Any]:
        """Return who knows what happened at the turn ``about`` (a depth), or what the character ``who`` knows, as of a
        turn (default: the active head). JSON-able. Raises ``BadInput`` unless one of the two is given, and
        ``NotFound``."""
        if (about is None) == (who is None):
            raise BadInput("about, who: give either the number of a turn or a character")
        live = await self.directory.load(session_id)
        state = await live.state(turn_named(live, turn))
        report = {"session": live.session.id, "turn": state.depth, "turn_id": state.turn}
        if about is not None:
            return {**report, "about": about, **people_who_know(live, state, about)}
        return {**report, **what_is_known(live, state, who or "")}

    async def entity(self, session_id: str, entity: str, turn: str | None = None) -> dict[str, Any]:
        """Return everything about one entity at a turn (default: the active head). JSON-able. ``NotFound``."""
        live = await self.directory.load(session_id)
        return await entity_page(live, turn_named(live, turn), entity)

    async def correct(
        self,
        session_id: str,
        kind: str,
        fields: Mapping[str, str],
        turn: str | None = None,
        *,
        kept: bool = False,
        within_session: bool = False,
    ) -> str:
        """Correct what is known, and return the id for undoing it.

        With ``turn``, the correction holds from that turn on. By default it corrects what the active head shows, and
        holds from before the head wherever the head itself does not say otherwise: another reply in the head's place
        is then corrected too. What is added (notes, events, memories, lore) is added at the head, or, with ``kept``,
        before it where the head does not make something else of it. The change is durable when this returns; the views
        follow later. Records that were learned in another session must be corrected there. ``within_session`` refuses
        what the owner's other sessions would see. Raises ``BadInput``, which names the field, and ``NotFound``.
        """
        kind, fields = await self._prepared(session_id, kind, fields, turn)
        async with self._changing(session_id) as live:
            at = turn_named(live, turn) if turn else None
            points = await correction_points(live, at, kind, fields, self.clock.now(), kept=kept)
            if within_session:
                _check_within(live, [event for point in points for event in point.events])
            return await self._amend(live, [each for each in points if each.events], Delta((), Source.EDIT))

    async def undo(
        self, session_id: str, change: str, *, within_session: bool = False, of_story: bool = False
    ) -> tuple[str, str]:
        """Undo a change or an undoing. Returns the id of this undoing and the turn. ``NotFound``, ``BadInput``.

        ``within_session`` refuses what the owner's other sessions would see. ``of_story`` refuses what declares
        trackers, chooses a profile or forgets somebody, and what would make a proposal count that is undone or waits.
        """
        async with self._changing(session_id) as live:
            turns = [turn for turn, later in live.amendments.items() if any(each.id == change for each in later)]
            if not turns:
                raise NotFound(f"session {live.session.id} has no change {change!r}")
            turns.sort(key=lambda turn: live.tree.get(turn).depth)
            by = undoings(live.amendments[turns[0]]).get(change)
            origin = _origin_of(change, live.amendments[turns[0]])
            proposed = origin.source is not Source.EDIT and (origin.id != change or by is not None)
            if of_story and (proposed or any(isinstance(event, _OF_PEOPLE) for event in origin.events)):
                raise BadInput(f"change: {change!r} is one that only a person undoes")
            if by is not None:
                raise BadInput(f"change: {change!r} is undone already; undo {by!r} to have it again")
            if within_session:
                _check_within(live, origin.events)
            points = [CorrectionPoint(turn) for turn in turns]
            return await self._amend(live, points, Delta((), Source.EDIT, undoes=change)), turns[0]

    async def decide(self, session_id: str, change: str, *, accept: bool) -> str:
        """Accept or refuse a change that waits for the user (``review: ask``), and return the id of its turn.

        An accepted change takes effect as if it had never waited. A refused change stays undone and can be restored
        like any undone change. Raises ``NotFound``, and ``BadInput`` for a change that does not wait.
        """
        async with self._changing(session_id) as live:
            for turn, later in live.amendments.items():
                if not any(delta.id == change for delta in later):
                    continue
                hold = undoings(later).get(change)
                if change not in waiting(later):
                    raise BadInput(f"change: {change!r} does not wait; GET …/changes says which do")
                first, second = self.ids.new("a"), self.ids.new("a")
                lifted = Delta((), Source.EDIT, id=first, undoes=hold or "")
                refused = [] if accept else [(second, Delta((), Source.EDIT, id=second, undoes=change))]
                await amend(live, turn, lifted, first, *refused)
                self.directory.render(live.session.id, [turn])
                self.counters.add("proposals.accepted" if accept else "proposals.refused")
                return turn
        raise NotFound(f"session {live.session.id} has no change {change!r}")

    async def standing(self, session_id: str) -> list[dict[str, Any]]:
        """Return the session's standing rules (``id``, ``by``, ``kind``, ``verdict``, ``at``), oldest first."""
        session = await self.directory.find(session_id)
        return [asdict(each) for each in session.standing]

    async def always(self, session_id: str, change: str, *, accept: bool) -> dict[str, Any]:
        """Decide proposals of the same proposer and kind as ``change`` like this from now on.

        Returns the new rule, JSON-able. It applies to this session until ``ask_again``. Proposals that already wait are
        left to ``decide``. Raises ``NotFound``, and ``BadInput`` for a change that never waited for the user.
        """
        async with self.directory.writing(session_id) as live:
            origin, verdict = proposal_of(live, change), ACCEPT if accept else REFUSE
            rule = StandingRule(
                id=self.ids.new("r"), by=origin.by, kind=origin.kind, verdict=verdict, at=self.clock.now()
            )
            rule = await put_rule(live, rule)
        self.counters.emit("standing", session=live.session.id)
        return asdict(rule)

    async def ask_again(self, session_id: str, rule: str) -> dict[str, Any]:
        """End a standing rule and return it. Its decisions stay; later proposals wait for the user again.

        Raises ``NotFound``.
        """
        async with self.directory.writing(session_id) as live:
            gone = await end_rule(live, rule)
        self.counters.emit("standing", session=live.session.id)
        return asdict(gone)

    @asynccontextmanager
    async def _changing(self, session_id: str) -> AsyncIterator[LiveSession]:
        """Hold the session exclusively. What is left of a change that the store wrote in part is finished or undone."""
        session = await self.directory.find(session_id)
        async with self.supervisor.exclusive(session.id, journal=True):
            if await self.directory.journal.settle(session.id):
                self.live.forget(session.id)
                await self.supervisor.take_up(session.id)
            try:
                yield await self.live.get(session.id)
            except StoreError:
                self.live.forget(session.id)  # the journal may have the change already
                raise
            except asyncio.CancelledError:
                await self.supervisor.take_up(session.id)  # the change may have been written, and its views are due
                raise

    async def _amend(self, live: LiveSession, points: Sequence[CorrectionPoint], delta: Delta) -> str:
        """Amend turns with the events of ``points``, all under one id, which undoes them together."""
        number = self.ids.new("a")
        due: list[str] = []
        for point in points:
            due += await amend(live, point.turn, evolve(delta, events=point.events, id=number), number, retells=True)
        self.directory.render(live.session.id, list(dict.fromkeys(due)))
        self.counters.add("changes.undone" if delta.undoes else "changes.made")
        return number


def _origin_of(change: str, amendments: Sequence[Delta]) -> Delta:
    """Return a change, or of an undoing the change that it undoes in the end."""
    by_id = {each.id: each for each in amendments}
    while (delta := by_id[change]).undoes:
        change = delta.undoes
    return delta


_OF_PEOPLE = (deltas.TrackersDeclared, deltas.TrackerRemoved, deltas.ProfileChosen, deltas.Forgotten)


def _check_within(live: LiveSession, events: Iterable[Event]) -> None:
    """Raise ``BadInput`` if events write or remove a record that the owner's other sessions see."""
    changed = list(events)
    ever = [event for later in live.amendments.values() for delta in later for event in delta.events]
    shared = {
        each.record.id for each in (*ever, *changed) if isinstance(each, Remembered) and crosses(each.record.namespace)
    }
    for event in changed:
        if isinstance(event, Remembered | Unremembered):
            record = event.record if isinstance(event, Unremembered) else event.record.id
            if record in shared:
                raise BadInput("namespace: the other sessions would see it too; give one with {session}, or none")


def _place(namespace: str, live: LiveSession, record: MemoryRecord | None = None) -> str:
    """Fill the names of a session into a namespace."""
    strategy, session = record.strategy if record is not None else "", live.session
    values = {ACTOR: session.owner or LOCAL, SESSION: session.id, STRATEGY: strategy or "own"}
    return filled(namespace, {**values, CARD: card_of(live)[:12] or "none"})


def _turn(live: LiveSession, turn: str) -> dict[str, Any]:
    node = live.tree.nodes.get(turn)
    return {"turn": node.depth if node is not None else None, "turn_id": turn}
