"""Records a turn: makes journal entries of the replies of a pending turn, in one durable commit."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from attrs import define, evolve, frozen

from saga_core import codec
from saga_core.background import SessionLocks
from saga_core.billing import Bill
from saga_core.context import TurnContext
from saga_core.counters import Counters
from saga_core.errors import NotFound, StoreError
from saga_core.extraction import mention_event, read_delta
from saga_core.ids import IdSource
from saga_core.journal import Journal, TurnEntry, keys
from saga_core.language import is_unspaced, looked_through
from saga_core.model import (
    Audience,
    Delta,
    Event,
    Kind,
    Turn,
    TurnKind,
    TurnNode,
    WorldState,
    deltas,
    fold,
    follow,
    node_of,
)
from saga_core.modules import ModuleTurn
from saga_core.naming import Names
from saga_core.play.bills import TurnBills
from saga_core.play.pending_turn import PendingTurn, Reply
from saga_core.play.places import OpenCalls
from saga_core.play.prompt_memories import PromptMemories
from saga_core.play.request import TurnStart
from saga_core.ports import Clock
from saga_core.projection import render_episode, story_title, witnesses
from saga_core.sessions import LiveSession, LiveSessions, MissingReports, NewSession
from saga_core.state_block import BlockStatus, thinks_only
from saga_core.stores import Batch
from saga_core.transcript import (
    Edit,
    Persona,
    Utterance,
    identity_key,
    next_reply_of,
    opening_key,
    persona_of,
    words_key,
)

log = logging.getLogger("saga")

_Made = tuple[TurnEntry, TurnNode, WorldState]


@frozen(eq=False, kw_only=True)
class TurnWork:
    """What play asks of the background jobs, and of the catalog."""

    render: Callable[[str, Sequence[str]], None]
    """Starts the work for turns of a session that were adopted from a history, or recorded."""
    read: Callable[[str], None]
    """Reads the turns above a recorded one, which are due from now on."""
    began: Callable[[str, str], None]
    """Starts the work for a session whose first turn was recorded, with the client's description of it."""
    proved: Callable[[str, str], None]
    """Notes that a request's history contains a turn."""
    known: Callable[[LiveSession, str, float], Awaitable[str | None]]
    """Waits at most so many seconds for the extraction of the turn to continue. Returns the late turn, if any."""
    why_unread: Callable[[LiveSession, str], tuple[str, str] | None]
    """Returns the turn to continue or the one before it, if the model could not read it, and the reason."""
    edited: Callable[[str, Sequence[Edit]], None]
    """Looks at turns whose text a history may show otherwise than it was recorded."""
    offer: Callable[[str, Sequence[str]], tuple[str, ...]]
    """Returns a notice about how to have many adopted turns read that are not read automatically."""
    leave: Callable[[NewSession | None], Awaitable[None]]
    """Ends a request that leaves no turn. Its session is removed if it is new and nobody needs it."""


@define(eq=False, kw_only=True)
class Recorder:
    """Records turns once their replies have arrived."""

    live: LiveSessions
    journal: Journal
    locks: SessionLocks
    memories: PromptMemories
    bills: TurnBills
    work: TurnWork
    silent: MissingReports
    ids: IdSource
    clock: Clock
    counters: Counters
    open_calls: OpenCalls

    async def record(self, start: TurnStart, pending: PendingTurn, finish: str, model: str) -> tuple[Turn, ...]:
        """Record one turn for each reply with text.

        Raises ``StoreError``, and ``NotFound`` if the session was deleted, reset or pruned since the turn began. In
        both cases nothing was recorded.
        """
        session = start.place.live.session.id
        async with self.locks.writing(session):
            turns = await self._record(start, pending, finish, model)
            await self.bills.failed(session, pending)
        if not turns and not any(reply.calls for reply in pending.replies):
            await self.work.leave(start.place.new)
        elif start.place.new is not None:
            start.place.new.session = None
        return turns

    async def unrecorded(self, start: TurnStart, pending: PendingTurn) -> None:
        """Keep the bill of a turn that was not recorded, and remove a session that it began and nobody needs.

        The bill is entered under the turn that it would have continued. If that session or turn is gone, it is not
        kept.
        """
        if pending.usage is not None or pending.failed:
            await self._bill(start, pending)
        await self.work.leave(start.place.new)

    async def _bill(self, start: TurnStart, pending: PendingTurn) -> None:
        session = start.place.live.session.id
        try:
            async with self.locks.writing(session):
                live = await self.live.get(session)
                live.tree.get(start.place.parent)
                await self.bills.unrecorded(session, pending)
                await self.bills.failed(session, pending)
        except (NotFound, StoreError) as error:
            log.warning("turn %s: what it cost is not kept: %s", pending.id, error)

    async def _record(self, start: TurnStart, pending: PendingTurn, finish: str, model: str) -> tuple[Turn, ...]:
        place, transcript = start.place, start.place.transcript
        session, parent, side = place.live.session.id, place.parent, place.kind is TurnKind.SIDE
        live = await self.live.get(session)
        # What is known of the turns above may have been amended since the turn began.
        state = await live.state(parent)
        persona = None if side else persona_of(transcript, start.request.player)
        model = model or start.request.model
        records = _Records(start, pending.context, live, state, persona, model, self.ids, self.clock, self.counters)
        made: list[_Made] = []
        if pending.asked_again:
            self.silent.told_no_story(model)
        for reply in pending.replies:
            reply.finish()
            if reply.calls:
                self.open_calls.keep(session, reply.calls)
                continue
            ended, text = finish or reply.ended_by, reply.story_text
            if text.strip() and not (ended != "stop" and thinks_only(text)):
                made += await records.of(reply, text, finish)
                if not finish and reply.limits.ended:
                    self.counters.add(f"reply.ended.{reply.limits.ended}")
        if not made:
            await self.bills.unrecorded(session, pending)
            stays = pending.usage is not None or any(reply.calls for reply in pending.replies)
            if parent == live.tree.root and stays:
                await self._expect(live, opening_key(transcript))
            return ()
        bill = self.bills.bill(pending)
        beside = self.beside(live, bill)
        entries = [entry for entry, *_ in made]
        moved = [] if side else follow(live.tree, live.timelines.values(), made[0][1], place.timeline)
        # A continued reply becomes a sibling of the reply that it continues, maybe under words that were edited since.
        has_words = transcript.words or place.kind is TurnKind.CONTINUATION
        first = has_words and made[0][1].depth == 1
        card = "" if start.member else transcript.system_text  # in a group it begins with whoever speaks next
        titled = (
            live.session
            if side
            else evolve(live.session, title=story_title(made[0][2], live.world, card, next_reply_of(card)))
        )
        try:
            if place.unadopted is not None:  # the next request shows this turn together with those above it
                raise place.unadopted
            live.session = await self.journal.append(
                titled,
                entries,
                head="" if side else entries[0].turn.id,
                opening=opening_key(transcript) if first else "",
                timelines=moved,
                beside=beside,
            )
        except StoreError as error:
            self.counters.degrade("journal.write", str(error))
            self.live.forget(session)  # the turn may be in the journal nevertheless, and is read from there
            raise
        self.counters.recover("journal.write")
        self.memories.stored(session, beside)
        pending.bill = bill
        for entry, node, after in made:
            live.record(entry.turn, node, after)
            self.counters.add("problems", sum(problem.turn == entry.turn.id for problem in after.problems))
        live.timelines.update((timeline.name, timeline) for timeline in moved)
        self.work.render(session, [entry.turn.id for entry in entries if not entry.settled])
        self.work.read(session)
        if first:
            self.work.began(session, transcript.system_text)
        if not side:
            try:
                await self.silent.look(live, entries[0].turn.id)
            except StoreError as error:  # the turn is recorded nevertheless
                self.counters.add("silence.unknown")
                log.warning("turn %s: whether the narrator is silent is not known: %s", pending.id, error)
        self.counters.add("turns.recorded", len(made))
        for entry in entries:
            self.counters.emit("recorded", session=session, turn=entry.turn.id, depth=entry.turn.depth)
        return tuple(entry.turn for entry in entries)

    def beside(self, live: LiveSession, bill: Bill | None) -> Batch:
        """The records to write with a turn: its bill, and the memory of the session's prompts."""
        session = live.session.id
        changes = self.memories.changes(session, live.tree.nodes.__contains__)
        billed = {} if bill is None else {keys.bill(session, bill.turn, bill.call): codec.encode(bill)}
        return Batch({**changes.puts, **billed}, changes.deletes)

    async def _expect(self, live: LiveSession, opening: str) -> None:
        """Let a chat without a recorded turn find its session: one that calls tools, after a restart too, and one whose
        reply was paid for and is empty."""
        if live.session.id in await self.journal.openings(live.session.owner, opening):
            return
        try:
            await self.journal.expect(live.session, opening)
        except StoreError as error:
            self.counters.degrade("journal.write", str(error))
            raise
        self.counters.recover("journal.write")


_CLOSING = ",.;:!?…)]}”’»、。，！？；：」』"


@define(eq=False)
class _Records:
    """Turns replies into turn records, using the latest state of the parent."""

    start: TurnStart
    context: TurnContext
    live: LiveSession
    state: WorldState
    """The state at the parent."""
    persona: Persona | None
    """The player's persona, as far as the request shows it."""
    model: str
    ids: IdSource
    clock: Clock
    counters: Counters

    async def of(self, reply: Reply, text: str, finish: str) -> list[_Made]:
        """The turns that a reply with this story text may be.

        A side reply is recorded in two readings: as a turn of its own (by another speaker), and as the rest of the
        reply before it. The history of the next request shows which one it was. The same holds for a continuation that
        was asked for in the player's role, because those may be the player's words.
        """
        live, place, kind = self.live, self.start.place, self.start.place.kind
        transcript, above = place.transcript, live.tree.get(place.parent)
        instructions = transcript.asked
        child = Turn(
            reply.turn_id,
            place.live.session.id,
            place.parent,
            above.depth + 1,
            self.clock.now(),
            user=transcript.player_words if kind is TurnKind.NARRATION else _text_of(instructions),
            reply=text,
            delta=await self._delta(reply, text, finish or reply.finish_reason),
            kind=kind,
            model=self.model,
            finish=finish or reply.ended_by,
            jump=live.tree.jump_for(place.parent),
            missing=self.context.missing,
            speaker=self.start.member,
        )
        if kind is TurnKind.NARRATION or above.parent is None:
            return [self._made(child, words_key(transcript.words), self.state)]
        before = await live.turn(place.parent)
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
        if kind is TurnKind.CONTINUATION and not instructions:
            return [joined]
        if kind is TurnKind.CONTINUATION:
            own = self._made(evolve(child, id=self.ids.new("t")), words_key(instructions), self.state)
            return [joined, own]
        return [self._made(child, words_key(instructions), self.state), joined]

    async def _delta(self, reply: Reply, text: str, finish: str) -> Delta:
        place = self.start.place
        if place.kind is TurnKind.SIDE:
            return Delta()
        declared = self.start.declared
        before = fold(self.state, Delta(declared), turn=self.state.turn, depth=self.state.depth)
        people = (name for each in before.entities.values() if each.kind is Kind.CHARACTER for name in each.names)
        reading, persona = reply.reading(finish, before.trackers, people), self.persona
        if self.start.report == "after" and reading.status is BlockStatus.FALLBACK:
            reading = evolve(reading, problems=())  # a block that nobody asked for is not missing
        name, sure, claims = ("", False, ()) if persona is None else (persona.name, persona.sure, persona.claims)
        # Only what was gained and who left can repeat what the turn before reported.
        repeats = bool(reading.fields.items_gained or reading.fields.npc_separated)
        above = self.live.effective(await self.live.turn(place.parent)) if repeats else Delta()
        words, prose = looked_through(place.transcript.player_words), looked_through(text)
        delta = read_delta(
            reading,
            before,
            player_name=name,
            sure=sure,
            claims=claims,
            told=f"{words}\n{prose}",
            words=words,
            card=place.transcript.system_text,
            above=above,
        )
        self.counters.add(f"block.{delta.status.value}")
        if self.live.modules.modules:
            after = fold(before, delta, turn=reply.turn_id, depth=self.live.tree.get(place.parent).depth + 1)
            turn = ModuleTurn(before, after, words, prose, reply.turn_id)
            delta = evolve(delta, events=(*delta.events, *self.live.modules.events(turn)))
        # Each text alone, so that the result for this reply is cached for the next request.
        named = {*self.live.lore.mentioned_in(words), *self.live.lore.mentioned_in(prose)}
        events = (*declared, *delta.events, *mention_event(sorted(named)))
        return evolve(delta, events=(*events, *self._heard_by_speaker(events)))

    def _heard_by_speaker(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        """The event that the member of a group who spoke knows the turn, wherever the member is."""
        member, before = self.start.member, self.state
        if not member:
            return ()
        after = fold(before, Delta(events), turn=before.turn, depth=before.depth + 1)
        names = Names(after)
        who = names.ensure(Kind.CHARACTER, member)
        audience = after.audiences.get(after.depth, Audience())
        there = witnesses(self.live.tree.get(self.start.place.parent), before, after)
        if who == after.player or (who in there and who not in audience.missed):
            return ()
        return (*names.introduced, deltas.AudienceSet(who=(who,)))

    def _made(self, turn: Turn, user_key: str, before: WorldState) -> _Made:
        state = fold(before, turn.delta, turn=turn.id, depth=turn.depth)
        side = turn.kind is TurnKind.SIDE
        episode = "" if side else render_episode(turn.delta, state, turn.user, turn.reply, self.live.world.language)
        above = self.live.tree.get(turn.parent) if turn.parent is not None else None
        present = None if side or above is None else witnesses(above, before, state)
        lore = () if side else self.context.timed_lore
        key = identity_key(turn.reply)
        node = node_of(turn, user_key=user_key, reply_key=key, episode=episode, present=present, told=lore)
        return TurnEntry(turn, user_key, episode, present, settled=side, told=lore), node, state


def _text_of(utterances: Sequence[Utterance]) -> str:
    return "\n".join(utterance.text for utterance in utterances)


def _join(one: str, other: str) -> str:
    """Join a reply and its continuation as frontends do: with a space if one can stand between them."""
    end, begin = one[-1:], other[:1]
    near = end.isspace() or begin.isspace() or begin in _CLOSING or is_unspaced(end + begin)
    return one + other if near else f"{one} {other}"
