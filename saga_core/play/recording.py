"""Records a turn: makes journal entries of the replies of a pending turn, in one durable commit."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from attrs import define, evolve, frozen

from saga_core.background import SessionLocks
from saga_core.counters import Counters
from saga_core.errors import NotFound, StoreError
from saga_core.extraction import mention_event, read_delta
from saga_core.ids import IdSource
from saga_core.journal import Entry, Journal
from saga_core.looked_through import looked_through
from saga_core.model import Delta, Node, Turn, TurnKind, WorldState, fold, follow, node_of
from saga_core.play.bills.turn_bills import TurnBills
from saga_core.play.open_calls import OpenCalls
from saga_core.play.pending_turn import PendingTurn, Reply
from saga_core.play.prompting import Prompting
from saga_core.play.turn_work import TurnWork
from saga_core.ports import Clock
from saga_core.projection import render_episode, witnesses
from saga_core.sessions import LiveSession, LiveSessions, SilentChats
from saga_core.state_block import thinks_only
from saga_core.transcript import Persona, Transcript, Utterance, identity_key, opening_key, words_key

log = logging.getLogger("saga")

_Made = tuple[Entry, Node, WorldState]


@frozen(kw_only=True)
class ToRecord:
    """The facts about a turn that are known before its replies arrive."""

    session: str
    transcript: Transcript
    parent: str
    model: str
    timeline: str = ""
    """The named timeline that the request chose."""
    told: tuple[str, ...] = ()
    """Timed lore entries that the narrator is told."""
    persona: Persona | None = None
    """The player's persona, as far as the request shows it."""
    missing: int | None = None
    """The depth up to which turns are missing from the history that is sent."""


@define(eq=False, kw_only=True)
class Recorder:
    """Records turns once their replies have arrived."""

    live: LiveSessions
    journal: Journal
    locks: SessionLocks
    prompting: Prompting
    bills: TurnBills
    work: TurnWork
    silent: SilentChats
    ids: IdSource
    clock: Clock
    counters: Counters
    open_calls: OpenCalls

    async def record(self, known: ToRecord, pending: PendingTurn, finish: str, model: str) -> tuple[Turn, ...]:
        """Record one turn for each reply with text.

        Raises ``StoreError``, and ``NotFound`` if the session was deleted, reset or pruned since the turn began. In
        both cases nothing was recorded.
        """
        async with self.locks.writing(known.session):
            turns = await self._record(known, pending, finish, model)
            await self.bills.failed(known.session, pending)
            return turns

    async def unrecorded(self, known: ToRecord, pending: PendingTurn) -> None:
        """Keep the bill of a turn that was not recorded but may have been paid for.

        It is entered under the turn that it would have continued. If that session or turn is gone, it is not kept.
        """
        if pending.usage is None and not pending.failed:
            return
        try:
            async with self.locks.writing(known.session):
                live = await self.live.get(known.session)
                live.tree.get(known.parent)
                await self.bills.unrecorded(known.session, pending)
                await self.bills.failed(known.session, pending)
        except (NotFound, StoreError) as error:
            log.warning("turn %s: what it cost is not kept: %s", pending.id, error)

    async def _record(self, known: ToRecord, pending: PendingTurn, finish: str, model: str) -> tuple[Turn, ...]:
        live = await self.live.get(known.session)
        # What is known of the turns above may have been amended since the turn began.
        readings = _Readings(known, live, await live.state(known.parent), self.ids, self.clock, self.counters)
        made: list[_Made] = []
        for reply in pending.replies:
            reply.finish()
            if reply.calls:
                self.open_calls.keep(known.session, reply.calls)
                continue
            ended = finish or reply.ended_by
            if reply.told.strip() and not (ended != "stop" and thinks_only(reply.told)):
                made += await readings.of(pending.kind, reply, finish, model or known.model)
                if not finish and reply.limits.ended:
                    self.counters.add(f"reply.ended.{reply.limits.ended}")
        if not made:
            await self.bills.unrecorded(known.session, pending)
            if known.parent == live.tree.root and any(reply.calls for reply in pending.replies):
                await self._expect(live, known)
            return ()
        bill = self.bills.bill(pending)
        beside = self.prompting.beside(live, bill)
        entries = [entry for entry, *_ in made]
        side = pending.kind is TurnKind.SIDE
        moved = [] if side else follow(live.tree, live.timelines.values(), made[0][1], known.timeline)
        # A continued reply becomes a sibling of the reply that it continues, maybe under words that were edited since.
        said = known.transcript.words or pending.kind is TurnKind.CONTINUATION
        first = said and made[0][1].depth == 1
        try:
            live.session = await self.journal.append(
                live.session,
                entries,
                head="" if side else entries[0].turn.id,
                opening=opening_key(known.transcript) if first else "",
                timelines=moved,
                beside=beside,
            )
        except StoreError as error:
            self.counters.degrade("journal.write", str(error))
            self.live.forget(known.session)  # the turn may be in the journal nevertheless, and is read from there
            raise
        self.counters.recover("journal.write")
        self.prompting.written(known.session, beside)
        pending.bill = bill
        for entry, node, state in made:
            live.record(entry.turn, node, state)
            self.counters.add("problems", sum(problem.turn == entry.turn.id for problem in state.problems))
        live.timelines.update((timeline.name, timeline) for timeline in moved)
        self.work.recorded(known.session, [entry.turn.id for entry in entries if not entry.settled])
        if not side:
            try:
                await self.silent.look(live, entries[0].turn.id)
            except StoreError as error:  # the turn is recorded nevertheless
                self.counters.add("silence.unknown")
                log.warning("turn %s: whether the narrator is silent is not known: %s", pending.id, error)
        self.counters.add("turns.recorded", len(made))
        for entry in entries:
            self.counters.emit("recorded", session=known.session, turn=entry.turn.id, depth=entry.turn.depth)
        return tuple(entry.turn for entry in entries)

    async def _expect(self, live: LiveSession, known: ToRecord) -> None:
        """Let a chat that calls tools before its first turn is recorded find its session after a restart too."""
        opening = opening_key(known.transcript)
        if live.session.id in await self.journal.openings(live.session.owner, opening):
            return
        try:
            await self.journal.expect(live.session, opening)
        except StoreError as error:
            self.counters.degrade("journal.write", str(error))
            raise
        self.counters.recover("journal.write")


@define(eq=False)
class _Readings:
    """Turns replies into turn records, using the latest state of the parent."""

    known: ToRecord
    live: LiveSession
    state: WorldState
    """The state at the parent."""
    ids: IdSource
    clock: Clock
    counters: Counters

    async def of(self, kind: TurnKind, reply: Reply, finish: str, model: str) -> list[_Made]:
        """The turns that a reply may be.

        A side reply is recorded in two readings: as a turn of its own (by another speaker), and as the rest of the
        reply before it. The history of the next request shows which one it was. The same holds for a continuation that
        was asked for in the player's role, because those may be the player's words.
        """
        live, known = self.live, self.known
        above = live.tree.get(known.parent)
        asked = known.transcript.asked
        child = Turn(
            reply.turn_id,
            known.session,
            known.parent,
            above.depth + 1,
            self.clock.now(),
            user=self.known.transcript.player_words if kind is TurnKind.NARRATION else _said(asked),
            reply=reply.told,
            delta=await self._delta(kind, reply, finish or reply.finish_reason),
            kind=kind,
            model=model,
            finish=finish or reply.ended_by,
            jump=live.tree.jump_for(known.parent),
            missing=known.missing,
        )
        if kind is TurnKind.NARRATION or above.parent is None:
            return [self._made(child, words_key(self.known.transcript.words), self.state)]
        before = await live.turn(known.parent)
        whole = evolve(
            child,
            id=child.id if kind is TurnKind.CONTINUATION else self.ids.new("t"),
            parent=above.parent,
            depth=above.depth,
            user=before.user,
            reply=_join(before.reply, child.reply),
            delta=live.effective(before).then(child.delta),
            jump=live.tree.jump_for(above.parent),
        )
        joined = self._made(whole, above.user_key, await live.state(above.parent))
        if kind is TurnKind.CONTINUATION and not asked:
            return [joined]
        if kind is TurnKind.CONTINUATION:
            own = self._made(evolve(child, id=self.ids.new("t")), words_key(asked), self.state)
            return [joined, own]
        return [self._made(child, words_key(asked), self.state), joined]

    async def _delta(self, kind: TurnKind, reply: Reply, finish: str) -> Delta:
        if kind is TurnKind.SIDE:
            return Delta()
        reading, persona = reply.reading(finish), self.known.persona
        name, sure, claims = ("", False, ()) if persona is None else (persona.name, persona.sure, persona.claims)
        transcript = self.known.transcript
        # Only a gain can repeat what the turn before reported.
        gains = bool(reading.fields.items_gained)
        above = self.live.effective(await self.live.turn(self.known.parent)) if gains else Delta()
        words, said = looked_through(transcript.player_words), looked_through(reply.told)
        delta = read_delta(
            reading,
            self.state,
            player_name=name,
            sure=sure,
            claims=claims,
            told=f"{words}\n{said}",
            words=words,
            card=transcript.system_text,
            above=above,
        )
        self.counters.add(f"block.{delta.status.value}")
        # Each text alone, so that the result for this reply is cached for the next request.
        named = {*self.live.lore.mentioned_in(words), *self.live.lore.mentioned_in(said)}
        return evolve(delta, events=delta.events + mention_event(sorted(named)))

    def _made(self, turn: Turn, user_key: str, before: WorldState) -> _Made:
        state = fold(before, turn.delta, turn=turn.id, depth=turn.depth)
        side = turn.kind is TurnKind.SIDE
        episode = "" if side else render_episode(turn.delta, state, turn.user, turn.reply, self.live.world.language)
        present = None if side else witnesses(before, state)
        told = () if side else self.known.told
        key = identity_key(turn.reply)
        node = node_of(turn, user_key=user_key, reply_key=key, episode=episode, present=present, told=told)
        return Entry(turn, user_key, episode, present, settled=side, told=told), node, state


def _said(utterances: Sequence[Utterance]) -> str:
    return "\n".join(utterance.text for utterance in utterances)


def _join(one: str, other: str) -> str:
    """Join a reply and its continuation as frontends do: with a space if neither has whitespace there."""
    return one + other if one[-1:].isspace() or other[:1].isspace() else f"{one} {other}"
