"""Play: begins a turn. It reads what the turn needs, builds its prompt, and returns it as a ``PendingTurn``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from attrs import define, evolve

from saga_core.background import Foreground, SessionLocks
from saga_core.config import Settings
from saga_core.context import RecentContexts, TurnContext
from saga_core.counters import Counters
from saga_core.errors import NotFound, StoreError
from saga_core.ids import IdSource
from saga_core.language import detect
from saga_core.log_context import set_log_context
from saga_core.messages import PromptPlan
from saga_core.model import Session, Turn, TurnKind
from saga_core.play.asked import Asked, Lap, WorldChoice
from saga_core.play.context_reading import ContextReading
from saga_core.play.lore_moment import lore_moment
from saga_core.play.pending_turn import PendingTurn, Reply, record_nothing
from saga_core.play.places import Place, Places
from saga_core.play.prompting import Prompting
from saga_core.play.recording import Recorder, ToRecord
from saga_core.play.turn_work import TurnWork
from saga_core.ports import Clock
from saga_core.prompt import read_client_blocks
from saga_core.sessions import SILENT_FROM, SILENT_MODE, LiveSession, SilentChats
from saga_core.state_block import block_form
from saga_core.transcript import Elsewhere, persona_of, read_request
from saga_core.world import WorldLibrary

log = logging.getLogger("saga")

READ_SECONDS = 30.0
"""How long a request waits for hanging stores before the turn is played without memory."""
NOTHING = TurnContext("", 0)


@define(eq=False, kw_only=True)
class Play:
    """Begins turns."""

    settings: Settings
    worlds: WorldLibrary
    places: Places
    reading: ContextReading
    prompting: Prompting
    recorder: Recorder
    contexts: RecentContexts
    work: TurnWork
    silent: SilentChats
    foreground: Foreground
    locks: SessionLocks
    ids: IdSource
    clock: Clock
    counters: Counters
    elsewhere: Elsewhere | None = None
    """Searches long texts outside the event loop, if set."""
    pin: Callable[[str, PendingTurn], None] | None = None
    """Keeps a session with this server while one of its turns is under way, if several share the journal."""

    async def begin(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        session: str | None = None,
        owner: str = "",
        world: str | None = None,
        choices: int = 1,
        model: str = "",
        provider: str = "",
        player: str = "",
        aside: bool = False,
        speaker: str = "",
        window: int = 0,
        tools: bool = False,
    ) -> PendingTurn:
        """See ``Saga.begin``."""
        lap = Lap(self.clock)
        set_log_context(session="")
        transcript = await read_request(messages, self.elsewhere)
        if speaker:
            transcript = evolve(transcript, speaker=speaker)
        choice = WorldChoice(self.worlds, world, transcript, self.settings.config.session.default_world)
        if world is not None:
            await choice.get()  # an unknown name is an error even if the session has its own world
        asked = Asked(
            transcript=transcript,
            session=session,
            owner=owner,
            world=choice,
            choices=choices,
            model=model,
            provider=provider,
            player=player,
            aside=aside,
            window=window,
            tools=tools,
            lap=lap,
        )
        while True:
            changes = self.locks.changes
            try:
                async with asyncio.timeout(READ_SECONDS):
                    with self.foreground.reading():
                        pending = await self._begin(asked)
                self.counters.recover("journal.read")
                return pending
            except TimeoutError:
                reason = f"a store did not answer within {READ_SECONDS:g} s"
                self.counters.degrade("journal.read", reason)
                log.error("%s; this turn is played without memory", reason)
                return await self._alone(asked, {"journal.read": reason})
            except (StoreError, NotFound) as error:
                if await self.locks.changed(changes):
                    lap.again()
                    continue  # a session was reset, pruned or deleted meanwhile: read again
                if isinstance(error, NotFound):
                    raise
                self.counters.degrade("journal.read", str(error))
                log.error("the journal cannot be read; this turn is played without memory: %s", error)
                return await self._alone(asked, {"journal.read": str(error)})

    async def _begin(self, asked: Asked) -> PendingTurn:
        place = await self.places.find(asked)
        if place is None:
            return await self._alone(asked)
        try:
            return await self._tell(asked, place)
        finally:
            # Only now, because the views of a long history are rendered in pieces, which would delay the reading above.
            self.work.adopted(place.live.session.id, place.adopted)

    async def _tell(self, asked: Asked, place: Place) -> PendingTurn:
        """Build the pending turn with its prompt."""
        live, parent, transcript, lap = place.live, place.parent, place.transcript, asked.lap
        language = detect(transcript.player_words or transcript.system_text, live.world.language)
        # A silent narrator concerns only its own chats.
        degraded = {name: reason for name, reason in self.counters.degraded.items() if name != SILENT_MODE}
        notices: tuple[str, ...] = ()
        silence = None
        if place.kind is not TurnKind.SIDE:
            silence = await self.silent.look(live, parent)
            notices += self.silent.notice(silence)
            notices += await self._await_extraction(live, parent)
            notices += self.work.offer(live.session.id, place.adopted)
        if place.kind is not TurnKind.CONTINUATION:  # which becomes a sibling and replaces the parent
            self.work.proved(live.session.id, parent)
        state = await live.state(parent)
        lap("state")
        replies = self._replies(asked)
        set_log_context(turn=replies[0].turn_id)
        prompting, model = self.prompting, asked.model
        facts = prompting.models.facts(model, asked.provider)
        if asked.window:
            facts = evolve(facts, window=min(asked.window, facts.window or asked.window))
        await prompting.note_request(live, parent)
        if place.kind is TurnKind.SIDE:
            context = NOTHING
            plan, planned = await prompting.aside(live, transcript, facts, model)
        else:
            layout = await prompting.layouts.of(live, parent, transcript, place.shown, facts, model)
            prefix = await prompting.prefixes.of(live, parent, layout, language, facts, model, tools=asked.tools)
            lap("prefix")
            context = await self.reading.read(
                live,
                state,
                transcript,
                shown=layout.shown,
                missing=layout.missing,
                language=language,
                pinned=prefix.state,
                pages=prefix.pages,
                lore=lore_moment(live, parent, transcript, place.kind, replies[0].turn_id),
            )
            lap("context")
            plan, planned = await prompting.plan(live, layout, prefix, context, facts, model, parent)
            lap("plan")
        above = await live.turn(parent)
        lap.total()
        to_record = ToRecord(
            session=live.session.id,
            transcript=transcript,
            parent=parent,
            model=model,
            timeline=place.timeline,
            told=context.told,
            persona=persona_of(transcript, asked.player),
            missing=context.missing,
        )
        pending = PendingTurn(
            id=replies[0].turn_id,
            session=live.session,
            parent=above,
            plan=plan,
            context=context,
            kind=place.kind,
            replies=replies,
            timings=lap.timings,
            notices=notices,
            degraded=degraded,
            record=partial(self.recorder.record, to_record),
            planned=planned,
            unrecorded=partial(self.recorder.unrecorded, to_record),
            silent=silence.replies if silence is not None and silence.replies >= SILENT_FROM else 0,
            block_room=self.settings.config.token_budget.state_block_room if place.kind is not TurnKind.SIDE else 0,
            form=block_form(language) if place.kind is not TurnKind.SIDE else "",
            count=prompting.counter.count,
            counted_by=prompting.counter.id,
        )
        self.contexts.keep(pending.id, context)
        if self.pin is not None:
            self.pin(live.session.id, pending)
        return pending

    async def _await_extraction(self, live: LiveSession, parent: str) -> tuple[str, ...]:
        """Wait, as long as configured, for the extraction of the turn to continue. Returns a notice if it is late."""
        late = await self.work.known(live, parent, self.settings.config.recall.extraction_wait_ms / 1_000)
        if late is None:
            return ()
        return (f"extraction: what changed in turn {live.tree.get(late).depth} is not known yet",)

    def _replies(self, asked: Asked) -> tuple[Reply, ...]:
        return tuple(Reply(self.ids.new("t")) for _ in range(max(1, asked.choices)))

    async def _alone(self, asked: Asked, degraded: Mapping[str, str] = MappingProxyType({})) -> PendingTurn:
        """A turn without memory or session: it sends the client's own prompt, and is not recorded."""
        replies = self._replies(asked)
        return PendingTurn(
            id=replies[0].turn_id,
            session=Session("", ""),
            parent=Turn("", "", None, 0, self.clock.now(), kind=TurnKind.ROOT),
            plan=PromptPlan(await read_client_blocks(asked.transcript.messages)),
            context=NOTHING,
            kind=TurnKind.SIDE,
            replies=replies,
            timings={"total": (self.clock.monotonic() - asked.lap.started) * 1_000},
            notices=(),
            degraded=degraded,
            record=record_nothing,
        )
