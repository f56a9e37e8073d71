"""Recording a turn: from the replies of a begun turn to journal entries, in one durable commit."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define, evolve

from saga_core.engine.begun import BegunTurn, Reply
from saga_core.engine.live import LiveSession
from saga_core.errors import NotFound, StoreError
from saga_core.extraction.writer import mention_event, read_delta
from saga_core.journal.journal import Entry
from saga_core.journal.matching import opening_key, words_key
from saga_core.journal.timelines import follow
from saga_core.journal.transcript import Transcript, Utterance, identity_key
from saga_core.journal.tree import Node, node_of
from saga_core.model.deltas import Delta
from saga_core.model.fold import fold
from saga_core.model.turn import Turn, TurnKind
from saga_core.model.world_state import WorldState
from saga_core.projection.episodes import render_episode, witnesses

if TYPE_CHECKING:
    from saga_core.engine.saga import Saga

log = logging.getLogger("saga")

_Made = tuple[Entry, Node, WorldState]


@define(eq=False, repr=False)
class Recording:
    """What is needed to record a turn when its replies are there."""

    saga: Saga
    session_id: str
    transcript: Transcript
    parent: str
    state: WorldState
    """The state at the parent."""
    model: str
    timeline: str = ""
    """The named timeline that the request named."""

    async def record(self, begun: BegunTurn, finish: str, model: str) -> tuple[Turn, ...]:
        """One turn for each reply with text. Raises ``StoreError``; then nothing was recorded.

        So does ``NotFound``: the session was deleted, reset or pruned since the turn began.
        """
        async with self.saga.lanes.gates.writing(self.session_id):
            turns = await self._record(begun, finish, model)
            await self.saga.prompting.failed(self.session_id, begun)
            return turns

    async def unrecorded(self, begun: BegunTurn) -> None:
        """Nothing came of a turn that may have been paid: its bill stands under the turn that it would have continued.

        Of a session or a turn that is gone no bill is kept.
        """
        if begun.usage is None and not begun.failed:
            return
        try:
            async with self.saga.lanes.gates.writing(self.session_id):
                live = await self.saga.live.get(self.session_id)
                live.tree.get(self.parent)
                await self.saga.prompting.unrecorded(self.session_id, begun)
                await self.saga.prompting.failed(self.session_id, begun)
        except (NotFound, StoreError) as error:
            log.warning("turn %s: what it cost is not kept: %s", begun.id, error)

    async def _record(self, begun: BegunTurn, finish: str, model: str) -> tuple[Turn, ...]:
        saga = self.saga
        live = await saga.live.get(self.session_id)
        # What is known of the turns above may have been amended since the turn began.
        self.state = await live.state(self.parent)
        made: list[_Made] = []
        for reply in begun.replies:
            reply.finish()
            if reply.told.strip():
                made += await self._readings(
                    live, begun.kind, reply, finish or reply.finish_reason, model or self.model
                )
        prompting = self.saga.prompting
        if not made:
            await prompting.unrecorded(self.session_id, begun)
            return ()
        bill = prompting.bill(begun)
        beside = prompting.beside(live, bill)
        entries = [entry for entry, *_ in made]
        side = begun.kind is TurnKind.SIDE
        moved = [] if side else follow(live.tree, live.timelines.values(), made[0][1], self.timeline)
        # A continued reply stands beside the one that it goes on with, maybe under words that were edited since.
        said = self.transcript.words or begun.kind is TurnKind.CONTINUATION
        first = said and made[0][1].depth == 1
        try:
            live.session = await saga.journal.append(
                live.session,
                entries,
                head="" if side else entries[0].turn.id,
                opening=opening_key(self.transcript) if first else "",
                timelines=moved,
                beside=beside,
            )
        except StoreError as error:
            saga.counters.degrade("journal.write", str(error))
            saga.live.forget(self.session_id)  # it may be in the journal all the same, and is read from there
            raise
        saga.counters.recover("journal.write")
        prompting.written(self.session_id, beside)
        begun.bill = bill
        for entry, node, state in made:
            live.record(entry.turn, node, state)
            saga.counters.add("problems", sum(problem.turn == entry.turn.id for problem in state.problems))
        live.timelines.update((timeline.name, timeline) for timeline in moved)
        saga.lanes.submit(self.session_id, [entry.turn.id for entry in entries if not entry.settled])
        saga.extractions.kick(self.session_id)
        saga.counters.add("turns.recorded", len(made))
        for entry in entries:
            saga.counters.tell("recorded", session=self.session_id, turn=entry.turn.id, depth=entry.turn.depth)
        return tuple(entry.turn for entry in entries)

    async def _readings(self, live: LiveSession, kind: TurnKind, reply: Reply, finish: str, model: str) -> list[_Made]:
        """The turn that a reply is. A side reply has two readings, and the next history shows which of them it was:
        a turn of its own (another speaker's), or the rest of the reply before it. So has a continuation that was asked
        for in the player's role: the player may have said that.
        """
        above = live.tree.get(self.parent)
        asked = self.transcript.asked
        child = Turn(
            reply.turn_id,
            self.session_id,
            self.parent,
            above.depth + 1,
            self.saga.clock.now(),
            user=self.transcript.player_words if kind is TurnKind.NARRATION else _said(asked),
            reply=reply.told,
            delta=self._delta(live, kind, reply, finish),
            kind=kind,
            model=model,
            finish=finish,
            jump=live.tree.jump_for(self.parent),
        )
        if kind is TurnKind.NARRATION or above.parent is None:
            return [self._made(live, child, words_key(self.transcript.words), self.state)]
        before = await live.turn(self.parent)
        whole = evolve(
            child,
            id=child.id if kind is TurnKind.CONTINUATION else self.saga.ids.new("t"),
            parent=above.parent,
            depth=above.depth,
            user=before.user,
            reply=_join(before.reply, child.reply),
            delta=live.effective(before).then(child.delta),
            jump=live.tree.jump_for(above.parent),
        )
        joined = self._made(live, whole, above.user_key, await live.state(above.parent))
        if kind is TurnKind.CONTINUATION and not asked:
            return [joined]
        if kind is TurnKind.CONTINUATION:
            own = self._made(live, evolve(child, id=self.saga.ids.new("t")), words_key(asked), self.state)
            return [joined, own]
        return [self._made(live, child, words_key(asked), self.state), joined]

    def _delta(self, live: LiveSession, kind: TurnKind, reply: Reply, finish: str) -> Delta:
        if kind is TurnKind.SIDE:
            return Delta()
        words = self.transcript.words
        reading = reply.reading(finish)
        delta = read_delta(reading, self.state, player_name=words[-1].speaker if words else "")
        self.saga.counters.add(f"block.{reading.status.value}")
        named = live.lore.mentioned_in(f"{self.transcript.player_words}\n{reply.told}")
        return evolve(delta, events=delta.events + mention_event(named))

    def _made(self, live: LiveSession, turn: Turn, user_key: str, before: WorldState) -> _Made:
        state = fold(before, turn.delta, turn=turn.id, depth=turn.depth)
        side = turn.kind is TurnKind.SIDE
        episode = "" if side else render_episode(turn.delta, state, turn.user, turn.reply, live.world.language)
        present = None if side else witnesses(before, state)
        node = node_of(turn, user_key=user_key, reply_key=identity_key(turn.reply), episode=episode, present=present)
        return Entry(turn, user_key, episode, present, settled=side), node, state


def _said(utterances: Sequence[Utterance]) -> str:
    return "\n".join(utterance.text for utterance in utterances)


def _join(one: str, other: str) -> str:
    """A reply and its continuation: a space where neither brings white space, as frontends join them."""
    return one + other if one[-1:].isspace() or other[:1].isspace() else f"{one} {other}"


async def record_nothing(begun: BegunTurn, finish: str, model: str) -> tuple[Turn, ...]:
    """For a turn that is played without memory."""
    return ()
