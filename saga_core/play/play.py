"""Play: begins a turn. It reads what the turn needs, builds its prompt, and returns it as a ``PendingTurn``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from attrs import Factory, define, evolve, field

from saga_core import extraction
from saga_core.background import Foreground, SessionLocks, Supervisor
from saga_core.config import Settings
from saga_core.context import (
    ContextReader,
    Ignorance,
    OtherStory,
    ReadRequest,
    RecentContexts,
    TurnContext,
    answers_at_once,
    lines_of,
    resident_read,
)
from saga_core.counters import Counters, set_log_context
from saga_core.errors import NotFound, StoreError
from saga_core.hosting import WriteRights
from saga_core.ids import IdSource
from saga_core.journal import greeting_key
from saga_core.language import Unrepeated, detect, language_of, mentions
from saga_core.messages import PromptPlan
from saga_core.model import Delta, Event, Fact, Kind, Session, Turn, TurnKind, WorldState, deltas, fold
from saga_core.naming import Names
from saga_core.play.pending_turn import PendingTurn, Reply, record_nothing
from saga_core.play.places import Places, WorldChoice
from saga_core.play.prompting import Layout, Prefix, Prompting
from saga_core.play.recording import Recorder, TurnWork
from saga_core.play.request import Place, Report, Request, TurnStart
from saga_core.ports import Clock
from saga_core.projection import DEATH, due_lines, elsewhere_lines, fact_texts, render_graph, spoken_day, weight
from saga_core.prompt import Planned, read_client_blocks, static_rules
from saga_core.recall import LoreMoment, without_other_story
from saga_core.sessions import (
    SESSION_KINDS,
    SILENT_FROM,
    SILENT_MODE,
    WORLD,
    LiveSession,
    MissingReports,
    NewSession,
    OtherSession,
    OtherSessions,
    Perspective,
    Perspectives,
    SharedMemories,
    SharedWorlds,
    UnreportedReplies,
    hears,
    said_by_hand,
    unknown_here,
)
from saga_core.state_block import BehindThoughts, block_form
from saga_core.storage import ANSWER_SECONDS, what_hangs
from saga_core.stores import GraphStore
from saga_core.tool_calls import OwnCalls
from saga_core.trackers import ADVENTURE, AUTO, DAY, guessed_profile, shown_value, trackers_of
from saga_core.transcript import Elsewhere, Transcript, next_member, persona_of, read_request, words_key
from saga_core.views import Projector, scope_of
from saga_core.world import WorldLibrary

T = TypeVar("T")

log = logging.getLogger("saga")

_NARRATED = (TurnKind.NARRATION, TurnKind.CONTINUATION)
_TELLING = 40
"""Minimum characters of a greeting that tells stories apart."""
NOTHING = TurnContext("", 0)


@define
class Lap:
    """Measures the milliseconds of each step of beginning a turn."""

    clock: Clock
    started: float = field(default=Factory(lambda self: self.clock.monotonic(), takes_self=True))
    timings: dict[str, float] = field(factory=dict)
    _last: float = field(default=Factory(lambda self: self.started, takes_self=True))

    def __call__(self, name: str) -> None:
        """End the step ``name``."""
        now = self.clock.monotonic()
        self.timings[name] = (now - self._last) * 1_000
        self._last = now

    def again(self) -> None:
        """Measure again from the start, because all steps are repeated."""
        self._last = self.started

    def total(self) -> dict[str, float]:
        """Note the total, and return the milliseconds of each step."""
        self.timings["total"] = (self.clock.monotonic() - self.started) * 1_000
        return self.timings


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
    silent: MissingReports
    perspectives: Perspectives
    shared_worlds: SharedWorlds
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
                async with asyncio.timeout(ANSWER_SECONDS) as limit:
                    with self.foreground.reading():
                        pending = await self._begin(request, transcript, world, lap, limit)
                self.counters.recover("journal.read")
                return pending
            except TimeoutError as error:
                reason = f"{what_hangs(error, self.counters)} within {ANSWER_SECONDS:g} s"
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

    async def unknown_messages(self, request: Request) -> int | None:
        """How many messages of the request's history are unknown here. None if it shows no turn narrated here."""
        transcript = await read_request(request.messages, self.elsewhere)
        world = WorldChoice(self.worlds, request.world, transcript, self.settings.config.session.default_world)
        return await self.places.unknown_messages(request, transcript, world)

    async def _begin(
        self, request: Request, transcript: Transcript, world: WorldChoice, lap: Lap, limit: asyncio.Timeout
    ) -> PendingTurn:
        new = NewSession()
        place = None
        try:
            place = await self.places.find(request, transcript, world, new)
            if place is None:
                await self.work.leave(new)
                return await self._alone(request, transcript, lap)
            lap("match")
            late = None
            if place.kind is not TurnKind.SIDE:
                # A model, which has a limit of its own, may take longer than any store.
                limit.reschedule(None)
                late = await self.work.known(place.live, place.parent, self._waits)
                limit.reschedule(asyncio.get_running_loop().time() + ANSWER_SECONDS)
                lap("extraction")
            return await self._continue(request, place, lap, late)
        except BaseException as error:
            if not isinstance(error, StoreError) and not limit.expired():  # a journal that fails is not waited for
                await self.work.leave(new if place is None else place.new)
            raise
        finally:
            if place is not None and place.adopted:
                # Only now, because the views of a long history are rendered in pieces, which would delay the reading.
                self.work.render(place.live.session.id, place.adopted)

    @property
    def _waits(self) -> float:
        """Seconds that a request waits for the extraction of the turn it continues."""
        return self.settings.config.recall.extraction_wait_ms / 1_000

    async def _continue(self, request: Request, place: Place, lap: Lap, late: str | None) -> PendingTurn:
        """The turn that continues ``place``: what is known there, the context, and the prompt.

        ``late`` is the turn above it whose extraction is not over.
        """
        side, live = place.kind is TurnKind.SIDE, place.live
        # A silent narrator concerns only its own chats.
        degraded = {name: reason for name, reason in self.counters.degraded.items() if name != SILENT_MODE}
        silence = None if side else await self.silent.look(live, place.parent)
        report = self._report(request, silence)
        notices = await self._notices(place, silence, report, late)
        if (waited := lap.timings.get("extraction", 0) / 1_000) > self._waits + 1:
            notices += (
                f"extraction: this reply waited {waited:.0f} s until the one before it was read, as the model reads "
                "more slowly than you write; one on another machine (models.extraction) never makes you wait",
            )
        if place.kind is not TurnKind.CONTINUATION:  # which becomes a sibling and replaces the parent
            self.work.proved(place.live.session.id, place.parent)
        state = await live.state(place.parent)
        lap("state")
        replies = self._replies(request)
        set_log_context(turn=replies[0].turn_id)
        start = await self._start(request, place, state, replies[0].turn_id, report)
        replies = tuple(Reply(each.turn_id, counted=start.state.trackers) for each in replies)
        if start.settled:
            told = "; ".join(fact_texts(start.state, start.settled, start.language))
            notices += (f"several sessions changed the same in their world, and the latest counts: {told}",)
        notices += _moved_clock(state, start.state)
        self.prompting.record_request(start.memory, live.tree, place.parent, start.now)
        plan, planned, context, cut = await self._prompt(start, side, lap)
        tool, own_tools = None, _offered(request, plan) if not side else ()
        if report == "tool" and not side:
            tool = extraction.report_tool(start.language, start.counted)
        if own := frozenset(each["function"]["name"] for each in (*own_tools, *((tool,) if tool is not None else ()))):
            replies = tuple(evolve(reply, own=OwnCalls(own)) for reply in replies)
        parent = await live.turn(place.parent)
        if place.kind is TurnKind.CONTINUATION:
            replies = tuple(evolve(reply, unrepeated=BehindThoughts(Unrepeated(parent.reply))) for reply in replies)
        pending = PendingTurn(
            id=start.turn,
            session=live.session,
            parent=parent,
            plan=plan,
            context=context,
            kind=place.kind,
            replies=replies,
            timings=lap.total(),
            notices=notices + cut,
            degraded=degraded,
            record=partial(self.recorder.record, start),
            narrow=None if side else partial(self._narrow, start),
            planned=planned,
            unrecorded=partial(self.recorder.unrecorded, start),
            silent=silence.replies if silence is not None and silence.replies >= SILENT_FROM else 0,
            block_room=self.settings.config.token_budget.state_block_room if report == "block" and not side else 0,
            form=block_form(start.language, start.counted) if report == "block" and not side else "",
            report_tool=tool,
            own_tools=own_tools,
            recall=partial(_recalled, start),
            story_rules=None if side else static_rules(start.language, block=False),
            count=self.prompting.counter.count,
            counted_by=self.prompting.counter.id,
        )
        self.contexts[pending.id] = context
        if self.rights is not None:
            self.rights.pin(place.live.session.id, pending)
        return pending

    async def _prompt(
        self, start: TurnStart, side: bool, lap: Lap
    ) -> tuple[PromptPlan, Planned | None, TurnContext, tuple[str, ...]]:
        """The prompt, the expected use of the cache, the context in it, and notices about what it leaves out."""
        if side:
            return *await self.prompting.plan_aside(start), NOTHING, ()
        layout = await self.prompting.layout(start)
        prefix = await self.prompting.prefix(start, layout)
        lap("prefix")
        notices: list[str] = []
        if layout.cut and layout.dropped:
            notices.append(self.prompting.cut_notice(start, layout))
        if layout.withheld:
            notices.append(self.prompting.withheld_notice(start, layout))
        context = await self.reading.read(start, layout, prefix)
        lap("context")
        plan, planned = self.prompting.plan(start, layout, prefix, context)
        lap("plan")
        return plan, planned, context, tuple(notices)

    async def _narrow(self, start: TurnStart, pending: PendingTurn, window: int) -> None:
        """Build the prompt of a turn again, for a model whose context turned out to be smaller."""
        start = evolve(start, facts=evolve(start.facts, window=window))
        pending.plan, pending.planned, pending.context, cut = await self._prompt(start, False, Lap(self.clock))
        pending.notices = (*(each for each in pending.notices if each not in cut), *cut)
        self.contexts[pending.id] = pending.context

    def _report(self, request: Request, silence: UnreportedReplies | None) -> Report:
        """How the narrator is asked to report. Where nothing reads its replies, it always is."""
        reporting = self.settings.config.extraction.reporting
        if reporting == "tool" and not request.completion:
            return "tool"
        if reporting in ("block", "tool"):
            return "block"
        if not self.silent.who_reads():
            return "block"
        if reporting == "after" or request.local or self.silent.tells_no_story(request.model):
            return "after"
        return "block" if silence is None or silence.replies < SILENT_FROM else "after"

    async def _start(self, request: Request, place: Place, state: WorldState, turn: str, report: Report) -> TurnStart:
        """What is known where the turn begins."""
        transcript = place.transcript
        facts = self.prompting.models.facts(request.model, request.provider)
        if request.window:
            facts = evolve(facts, window=min(request.window, facts.window or request.window))
        declared, settled = self._declared(request, place, state), tuple[Fact, ...]()
        if place.kind is TurnKind.NARRATION:
            named = partial(_player_in, request, transcript)
            if news := await self.shared_worlds.news(place.live, place.parent, named):
                declared, settled = (*declared, news.seen), news.settled
        if declared:
            state = fold(state, Delta(declared), turn=state.turn, depth=state.depth)
        member = ""
        if self.settings.config.session.group_knowledge and place.kind is not TurnKind.SIDE:
            member = request.member or next_member(transcript, _people(state))
        return TurnStart(
            request=request,
            place=place,
            turn=turn,
            state=state,
            member=member,
            perspective=await self._perspective(place, state, member),
            declared=declared,
            settled=settled,
            language=detect(transcript.player_words or transcript.system_text, place.live.world.language),
            facts=facts,
            memory=await self.prompting.memories.of(place.live.session.id),
            now=self.clock.now(),
            report=report,
        )

    def _declared(self, request: Request, place: Place, state: WorldState) -> tuple[Event, ...]:
        """What the request and the configuration declare and the story does not count yet."""
        config, found = self.settings.config, []
        language = detect(place.transcript.system_text, place.live.world.language)
        if not state.trackers.profile:
            profile = request.profile or config.profile
            if profile == AUTO:
                told = any(node.kind in _NARRATED for node in place.live.tree.upwards(place.parent))
                free = not told and place.live.world.counts_nothing
                profile = guessed_profile(place.transcript.system_text) if free else ""
            if profile not in ("", ADVENTURE):
                found.append(deltas.ProfileChosen(profile, trackers_of(profile, language)))
        missing = state.trackers.missing((*request.trackers, *place.live.modules.trackers(language), *config.counted))
        return (*found, deltas.TrackersDeclared(missing)) if missing else tuple(found)

    async def _perspective(self, place: Place, state: WorldState, member: str) -> Perspective | None:
        """What the member of a group who speaks next knows."""
        if not member:
            return None
        who = Names(state).find(Kind.CHARACTER, member)
        return await self.perspectives.of(place.live, place.parent, who or "")

    async def _notices(
        self, place: Place, silence: UnreportedReplies | None, report: Report, late: str | None
    ) -> tuple[str, ...]:
        """What the player is told with the reply."""
        if silence is None:  # a side request
            return ()
        live = place.live
        notices = self.silent.notice(silence, expected=report != "after")
        if late is not None:
            depth = live.tree.get(late).depth
            notices += (f"extraction: what changed in turn {depth} is not known yet",)
        elif (unread := self.work.why_unread(live, place.parent)) is not None:
            turn, why = unread
            notices += (f"extraction: what changed in turn {live.tree.get(turn).depth} is not known: {why}",)
        if opening := place.transcript.repeated_opening:
            notices += (
                f"the last three replies begin with the same line, {opening[:60]!r}; the model will go on so: remove "
                "the line from them in the chat, or raise the repetition penalty",
            )
        if (offer := await self._going_on(place)) is not None:
            notices += (offer,)
        told = SESSION_KINDS.get(live.session.kind, "")
        if live.session.kind == WORLD and not live.world.shared:
            told = (
                f"the world {live.world.name} shares nothing: its WORLD.md has no list `shared`; this session is alone"
            )
        if told and _just_begun(live):
            notices += (told,)
        name, _, timeline = live.session.label.rpartition("@")
        if name and timeline and _just_begun(live):
            notices += (
                f"the session {live.session.label!r} is new; there is no session {name!r} that could have a timeline "
                f"{timeline!r}, so correct the name if you meant one",
            )
        return notices + self.work.offer(place.live.session.id, place.adopted)

    async def _going_on(self, place: Place) -> str | None:
        """The notice that a chat that has just begun may go on with an older story that began in the same way."""
        transcript, own = place.transcript, place.live.session
        greeting = "\n\n".join(utterance.text for utterance in transcript.greeting)
        if len(place.live.tree) > 1 or len(greeting) < _TELLING:
            return None
        for session in reversed(await self.places.journal.openings(own.owner, greeting_key(greeting))):
            if session == own.id:
                continue
            try:
                older = await self.places.journal.session(session)
            except NotFound:  # deleted meanwhile
                continue
            if older.head not in ("", older.root):
                name = older.label or older.id
                return (
                    f"a story that began in the same way is known: {name}; to go on with it in this chat, put "
                    f"[[saga:continue={name}]] into the chat's prompt or its first message"
                )
        return None

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
            notices=("this turn is played without memory, and is not recorded",) if degraded else (),
            degraded=degraded,
            record=record_nothing,
        )


# -- the context of a turn --------------------------------------------------------------------------------------


@define(eq=False, kw_only=True)
class ContextReading:
    """Reads the contexts of turns that are being begun."""

    settings: Settings
    reader: ContextReader
    graph: GraphStore
    projector: Projector
    supervisor: Supervisor
    shared: SharedMemories
    others: OtherSessions
    counters: Counters

    async def read(self, start: TurnStart, layout: Layout, prefix: Prefix) -> TurnContext:
        """Read the context that the narrator gets for the player's words."""
        live, state, transcript, language = start.place.live, start.told, start.place.transcript, start.language
        perspective = start.perspective
        others: tuple[OtherSession, ...] = ()
        if perspective is None and without_other_story(transcript.player_words) is not None:
            others = await self.others.of(live)
        by_hand = said_by_hand(live, state, prefix.pages, prefix.state)
        request = partial(
            ReadRequest,
            session=live.session.id,
            state=state,
            world=live.world,
            lore=live.lore,
            player_words=transcript.player_words,
            recent=(recent := tuple(utterance.text for utterance in transcript.utterances[-2:])),
            pinned=prefix.state,
            pages=prefix.pages,
            missing=layout.missing,
            in_front=lines_of(prefix.pages),
            by_hand=by_hand.notes,
            corrected=by_hand.corrected,
            language=language,
            episodes=live.remembered(state),
            shown=layout.shown | start.unseen,
            now=start.now,
            due=(
                *due_lines(state, language),
                *live.modules.context(state, language),
                *elsewhere_lines(state, start.declared, language),
            ),
            memories=tuple(
                record
                for record in await self.shared.at(live, state)
                if perspective is None or perspective.knows(record)
            ),
            member=perspective.who if perspective is not None else None,
            ignorance=_ignorance(live, start.state, state, (transcript.player_words, *recent), language),
            hears=lambda who, depth: hears(live, start.state, who, depth),
            reported=start.report == "block",
            moment=_lore_moment(start),
            elsewhere=tuple([await _story(each, language) for each in others]),
            sent=transcript.system_text if live.lore.entries else "",
            window=start.facts.window,
        )
        if perspective is None:
            context = await self._read(live, state.turn, request)
        else:
            graph = render_graph(state, live.world, lore=live.prepared.lore_graph, near=live.prepared.image)
            context = await self.reader.read(request(graph=graph))
        for name in context.late:
            self.counters.add(f"late.{name}")
        return context

    async def _read(self, live: LiveSession, turn: str, request: Callable[..., ReadRequest]) -> TurnContext:
        """Read the context with the graph at ``turn``, which ``request`` still lacks.

        A job may move the scope meanwhile. The result may then be of another path, so the context is read again.
        """
        session = live.session.id
        slot = None
        if not self.supervisor.is_rendering(session):
            slot = await self._answered(partial(self.projector.current_slot, live, turn))
        if slot is not None:
            scope = scope_of(session, slot)
            context = await self.reader.read(request(graph=self.graph, graph_scope=scope))
            still = not self.supervisor.is_rendering(session)
            if still and await self._answered(partial(self.graph.watermark, scope)) == turn:
                self.counters.add("graph.read.store")
                return context
            self.counters.add("graph.read.moved")
        self.counters.add("graph.read.image")
        return await self.reader.read(request(graph=await live.image(turn)))

    async def _answered(self, ask: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
        """The graph store's answer within the deadline of the sources; None if it is late or fails."""
        answer = resident_read(ask, "saga-graph", at_once=answers_at_once(self.graph))
        try:
            if not answer.done():
                async with asyncio.timeout(self.settings.config.recall.deadline_ms / 1_000):
                    return await answer
            return answer.result()
        except (StoreError, TimeoutError) as error:
            self.counters.add("graph.read.failed")
            log.warning("the graph store does not answer, the graph is made from the state: %s", error)
            return None


def _ignorance(
    live: LiveSession, state: WorldState, told: WorldState, said: Sequence[str], language: str
) -> tuple[Ignorance, ...]:
    """What the story noted and somebody here does not know. ``told`` is the state as the prompt may tell it, and
    ``said`` the last two messages: who died without a note matters if they name the dead."""
    if not state.present:
        return ()
    noted = (*told.remarks, *((each.depth, each.name) for each in told.happenings))
    died = frozenset(_deaths(told, noted, "\n".join(said)))
    subjects = dict.fromkeys((*noted, *sorted(died)))
    found: dict[tuple[int, str], list[str]] = {}
    for each in unknown_here(live, state, tuple(subjects)):
        found.setdefault((each.depth, each.text), []).append(each.who)
    words = language_of(language).texts
    return tuple(
        Ignorance(depth, words.died(name=text) if (depth, text) in died else text, tuple(who))
        for (depth, text), who in found.items()
    )


def _deaths(state: WorldState, noted: Sequence[tuple[int, str]], said: str) -> Iterator[tuple[int, str]]:
    """Who of those named died in which turn (depth), unless it is ``noted`` in that turn or later."""
    for each in state.of_kind(Kind.CHARACTER):
        since = each.get("status_since")
        if not each.dead or not isinstance(since, int) or not any(mentions(said, name) for name in each.names):
            continue
        told = (text for depth, text in noted if depth >= since and any(mentions(text, name) for name in each.names))
        if not any(weight(text) == DEATH for text in told):
            yield since, each.name


def _just_begun(live: LiveSession) -> bool:
    """Whether SAGA has narrated nothing of a session yet."""
    return all(node.kind in (TurnKind.ROOT, TurnKind.ADOPTED) for node in live.tree.nodes.values())


def _moved_clock(before: WorldState, now: WorldState) -> tuple[str, ...]:
    """What the player is told if others moved the clock of a shared world by a day or more."""
    clock, old, new = now.clock, before.minutes, now.minutes
    if clock is None or clock.secret or old is None or new is None or new - old < DAY:
        return ()
    then, later = (shown_value(clock, each) for each in (old, new))
    return (
        f"others moved the clock of this world from {then} to {later}; what falls or grows by the hour in this story "
        "did not do so meanwhile",
    )


def _offered(request: Request, plan: PromptPlan) -> Sequence[Mapping[str, Any]]:
    """The own tools that a turn offers: none if several replies are asked for, or if one has begun."""
    return () if request.choices > 1 or request.completion or plan.blocks[-1].role == "assistant" else request.own_tools


def _recalled(start: TurnStart, query: str, most: int) -> list[dict[str, Any]]:
    live = start.place.live
    return live.remembered(start.told).rows(query, most, start.told.remarks, start.unseen)


def _player_in(request: Request, transcript: Transcript) -> str:
    """The name that a request surely gives the player; empty for none."""
    persona = persona_of(transcript, request.player)
    return persona.name if persona is not None and persona.sure else ""


def _people(state: WorldState) -> Iterator[str]:
    """The names of all characters but the player's."""
    others = (each for each in state.of_kind(Kind.CHARACTER) if each.id != state.player)
    return (name for entity in others for name in entity.names)


async def _story(other: OtherSession, language: str) -> OtherStory:
    session, live = other.live.session, other.live
    name, day = session.label or session.world, spoken_day(other.played.date(), language)
    return OtherStory(session.id, name, day, live.remembered(await live.state(live.head)))


def _lore_moment(start: TurnStart) -> LoreMoment | None:
    """The input for lore with its own rules; None if no lore has any."""
    live, transcript = start.place.live, start.place.transcript
    if not live.lore.kept.entries:
        return None
    last = [utterance.text for utterance in transcript.utterances[-live.lore.kept.deepest :]]
    speakers = {utterance.speaker for utterance in transcript.utterances} | {transcript.speaker}
    return live.lore_moment(
        start.place.parent, last[::-1], seed=start.turn, triggers=_triggers(start.place), speakers=speakers - {""}
    )


def _triggers(place: Place) -> frozenset[str]:
    if place.kind is TurnKind.CONTINUATION:
        return frozenset({"continue"})
    tree, key = place.live.tree, words_key(place.transcript.words)
    if any(tree.get(child).user_key == key for child in tree.children.get(place.parent, ())):
        return frozenset({"swipe", "regenerate"})
    return frozenset({"normal"})
