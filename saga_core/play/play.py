"""Play: begins a turn. It reads what the turn needs, builds its prompt, and returns it as a ``PendingTurn``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from attrs import define, evolve

from saga_core.background import Foreground, SessionLocks
from saga_core.config import Settings
from saga_core.context import RecentContexts, TurnContext
from saga_core.counters import Counters
from saga_core.errors import NotFound, StoreError
from saga_core.hosting import WriteRights
from saga_core.ids import IdSource
from saga_core.language import detect
from saga_core.log_context import set_log_context
from saga_core.messages import PromptPlan
from saga_core.model import Session, Turn, TurnKind, WorldState
from saga_core.play.context_reading import ContextReading
from saga_core.play.pending_turn import PendingTurn, Reply, record_nothing
from saga_core.play.places import Places
from saga_core.play.prompting import Prompting
from saga_core.play.recording import Recorder, TurnWork
from saga_core.play.request import Lap, Place, Request, TurnStart, WorldChoice
from saga_core.ports import Clock
from saga_core.prompt import read_client_blocks
from saga_core.sessions import SILENT_FROM, SILENT_MODE, Silence, SilentChats
from saga_core.state_block import block_form
from saga_core.transcript import Elsewhere, Transcript, read_request
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
    rights: WriteRights | None = None
    """Decides which sessions this engine writes, if several programs share the journal."""

    async def begin(self, request: Request) -> PendingTurn:
        """See ``Saga.begin``."""
        lap = Lap(self.clock)
        set_log_context(session="")
        transcript = await read_request(request.messages, self.elsewhere)
        if request.speaker:
            transcript = evolve(transcript, speaker=request.speaker)
        world = WorldChoice(self.worlds, request.world, transcript, self.settings.config.session.default_world)
        if request.world is not None:
            await world.get()  # an unknown name is an error even if the session has its own world
        while True:
            changes = self.locks.changes
            try:
                async with asyncio.timeout(READ_SECONDS):
                    with self.foreground.reading():
                        pending = await self._begin(request, transcript, world, lap)
                self.counters.recover("journal.read")
                return pending
            except TimeoutError:
                reason = f"a store did not answer within {READ_SECONDS:g} s"
                self.counters.degrade("journal.read", reason)
                log.error("%s; this turn is played without memory", reason)
                return await self._alone(request, transcript, lap, {"journal.read": reason})
            except (StoreError, NotFound) as error:
                if await self.locks.changed(changes):
                    lap.again()
                    continue  # a session was reset, pruned or deleted meanwhile: read again
                if isinstance(error, NotFound):
                    raise
                self.counters.degrade("journal.read", str(error))
                log.error("the journal cannot be read; this turn is played without memory: %s", error)
                return await self._alone(request, transcript, lap, {"journal.read": str(error)})

    async def _begin(self, request: Request, transcript: Transcript, world: WorldChoice, lap: Lap) -> PendingTurn:
        place = await self.places.find(request, transcript, world)
        if place is None:
            return await self._alone(request, transcript, lap)
        lap("match")
        try:
            return await self._continue(request, place, lap)
        finally:
            if place.adopted:
                # Only now, because the views of a long history are rendered in pieces, which would delay the reading.
                self.work.adopted(place.session, place.adopted)

    async def _continue(self, request: Request, place: Place, lap: Lap) -> PendingTurn:
        """The turn that continues ``place``: what is known there, the context, and the prompt."""
        side, live = place.kind is TurnKind.SIDE, place.live
        # A silent narrator concerns only its own chats.
        degraded = {name: reason for name, reason in self.counters.degraded.items() if name != SILENT_MODE}
        silence = None if side else await self.silent.look(live, place.parent)
        asks = self._asks_for_block(request, silence)
        notices = await self._notices(place, silence, asks)
        if place.kind is not TurnKind.CONTINUATION:  # which becomes a sibling and replaces the parent
            self.work.proved(place.session, place.parent)
        state = await live.state(place.parent)
        lap("state")
        replies = self._replies(request)
        set_log_context(turn=replies[0].turn_id)
        start = await self._start(request, place, state, replies[0].turn_id, asks)
        self.prompting.record_request(start)
        if side:
            context = NOTHING
            plan, planned = await self.prompting.plan_aside(start)
        else:
            layout = await self.prompting.layout(start)
            prefix = await self.prompting.prefix(start, layout)
            lap("prefix")
            context = await self.reading.read(start, layout, prefix)
            lap("context")
            plan, planned = self.prompting.plan(start, layout, prefix, context)
            lap("plan")
        pending = PendingTurn(
            id=start.turn,
            session=live.session,
            parent=await live.turn(place.parent),
            plan=plan,
            context=context,
            kind=place.kind,
            replies=replies,
            timings=lap.total(),
            notices=notices,
            degraded=degraded,
            record=partial(self.recorder.record, start, context),
            planned=planned,
            unrecorded=partial(self.recorder.unrecorded, start),
            silent=silence.replies if silence is not None and silence.replies >= SILENT_FROM else 0,
            block_room=0 if side or not asks else self.settings.config.token_budget.state_block_room,
            form="" if side or not asks else block_form(start.language),
            count=self.prompting.counter.count,
            counted_by=self.prompting.counter.id,
        )
        self.contexts.keep(pending.id, context)
        if self.rights is not None:
            self.rights.pin(place.session, pending)
        return pending

    def _asks_for_block(self, request: Request, silence: Silence | None) -> bool:
        """Whether the narrator is asked for a state block. Where nothing reads its replies, it always is."""
        reporting = self.settings.config.extraction.reporting
        if reporting == "block" or not self.silent.who_reads():
            return True
        if reporting == "after" or request.local:
            return False
        return silence is None or silence.replies < SILENT_FROM

    async def _start(self, request: Request, place: Place, state: WorldState, turn: str, asks: bool) -> TurnStart:
        """What is known where the turn begins."""
        transcript = place.transcript
        facts = self.prompting.models.facts(request.model, request.provider)
        if request.window:
            facts = evolve(facts, window=min(request.window, facts.window or request.window))
        return TurnStart(
            request=request,
            place=place,
            turn=turn,
            state=state,
            language=detect(transcript.player_words or transcript.system_text, place.live.world.language),
            facts=facts,
            memory=await self.prompting.memories.of(place.session),
            now=self.clock.now(),
            asks_for_block=asks,
        )

    async def _notices(self, place: Place, silence: Silence | None, asks: bool) -> tuple[str, ...]:
        """What the player is told with the reply. Waits, as configured, for the extraction of the turn to continue."""
        if silence is None:  # a side request
            return ()
        live, seconds = place.live, self.settings.config.recall.extraction_wait_ms / 1_000
        notices = self.silent.notice(silence, expected=asks)
        late = await self.work.known(live, place.parent, seconds)
        if late is not None:
            depth = live.tree.get(late).depth
            notices += (f"extraction: what changed in turn {depth} is not known yet",)
        return notices + self.work.offer(place.session, place.adopted)

    def _replies(self, request: Request) -> tuple[Reply, ...]:
        return tuple(Reply(self.ids.new("t")) for _ in range(max(1, request.choices)))

    async def _alone(
        self, request: Request, transcript: Transcript, lap: Lap, degraded: Mapping[str, str] = MappingProxyType({})
    ) -> PendingTurn:
        """A turn without memory or session: it sends the client's own prompt, and is not recorded."""
        replies = self._replies(request)
        return PendingTurn(
            id=replies[0].turn_id,
            session=Session("", ""),
            parent=Turn("", "", None, 0, self.clock.now(), kind=TurnKind.ROOT),
            plan=PromptPlan(await read_client_blocks(transcript.messages)),
            context=NOTHING,
            kind=TurnKind.SIDE,
            replies=replies,
            timings={"total": lap.total()["total"]},
            notices=(),
            degraded=degraded,
            record=record_nothing,
        )
