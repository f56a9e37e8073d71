"""``Saga``: the engine. Reads what a turn needs, records what came of it, and keeps the projections in step."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import Factory, define, evolve, field, frozen

from saga_core.config import Config
from saga_core.context.model import Language, ReadRequest, TurnContext
from saga_core.context.reader import ContextReader
from saga_core.curation.schedule import due_lines
from saga_core.engine.adoption import adopt
from saga_core.engine.begun import BegunTurn, Reply
from saga_core.engine.explain import explain_context
from saga_core.engine.lanes import DrainReport
from saga_core.engine.live import LiveSession
from saga_core.engine.memories import Memories
from saga_core.engine.placing import place
from saga_core.engine.projector import scope_of
from saga_core.engine.prompting import Prefix, Prompting
from saga_core.engine.recording import Recording, record_nothing
from saga_core.engine.rereading import reread
from saga_core.engine.timelines import turn_named
from saga_core.engine.told_history import is_thin
from saga_core.errors import NotFound, StoreError
from saga_core.journal.matching import Match, Matcher
from saga_core.journal.transcript import Transcript, read_transcript
from saga_core.model.turn import Session, Turn, TurnKind
from saga_core.model.world_state import WorldState
from saga_core.ports import ChatModel, Clock, Entropy, SystemClock, SystemEntropy
from saga_core.prompt.build import build_plan, language_of
from saga_core.recall.episodes import PathEpisodes
from saga_core.subject import concern
from saga_core.world.library import WorldLibrary
from saga_core.world.model import EMPTY_WORLD, World

if TYPE_CHECKING:
    from saga_core.engine.opening import Opening

log = logging.getLogger("saga")

T = TypeVar("T")

NOTHING = TurnContext("", 0)

READ_SECONDS = 30.0
"""How long a request waits for stores that hang, before it is played without memory."""
_EXPLAINED = 128
_HEARD = 8
"""Messages from the end that tell the language of a chat without a world."""

Source = Config | Mapping[str, Any] | str | os.PathLike[str] | None


@define(eq=False, repr=False)
class Saga(Memories):
    """The engine over opened stores. Made by ``Saga.open``; its bases have what is no playing."""

    reader: ContextReader
    matcher: Matcher
    prompting: Prompting
    _closed: bool = False
    _collecting: asyncio.Task[None] | None = None

    @staticmethod
    def open(
        config: Source = None,
        *,
        extractor: ChatModel | None = None,
        curator: ChatModel | None = None,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        resume: bool = True,
        tolerant: bool = False,
    ) -> Opening:
        """Open what ``config`` names (a ``Config``, a mapping, or a YAML file's path).

        ``saga = await Saga.open(…)`` needs an ``aclose`` later; ``async with Saga.open(…) as saga`` does it.
        ``extractor`` is asked in the background what changed in turns whose changes nobody reported, under the name
        of ``models.extraction``; closing it is the caller's. So with ``curator``, which reviews the story every
        ``curator.interval`` turns, and ``models.curator``. Without ``resume`` the work that waits is left to the next
        engine, no session is collected and nothing damaged is put aside: for who only looks. ``tolerant``: a damaged
        journal is gone without, as far as that is possible, instead of raising; the degraded modes say so.
        """
        from saga_core.engine.opening import Opening

        return Opening(config, extractor, curator, clock or SystemClock(), entropy or SystemEntropy(), resume, tolerant)

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
    ) -> BegunTurn:
        """Read what the request needs and build its prompt. Calls no model.

        ``messages``: OpenAI messages as the client sent them. ``session``: an explicit session, by id or by any name,
        with or without a named timeline behind it (``session@timeline``), where a history that proves nothing goes
        on; without one the history itself finds it among those of ``owner``. ``world``: an explicit world.
        ``choices``: how many replies are asked for. ``model`` and ``provider``: who is going to be asked, so that the
        prompt is marked for that cache; without a provider the model's name tells it. Raises ``BadInput`` for
        malformed messages and unknown worlds, ``NotFound`` for a timeline that the session does not have. When the
        journal cannot be read, the turn is played without memory and says so in ``notices``.
        """
        started = self.clock.monotonic()
        concern(session="")
        transcript = read_transcript(messages)
        chosen = _Choice(self.worlds, world, transcript, self.config.session.default_world)
        if world is not None:
            chosen.world()  # an unknown name is an error also where the session has a world of its own
        while True:
            changes = self.lanes.gates.changes
            try:
                async with asyncio.timeout(READ_SECONDS):
                    with self.projector.reads.reading():
                        begun = await self._begin(
                            transcript, chosen, session, owner, choices, (model, provider), started
                        )
                self.counters.recover("journal.read")
                return begun
            except TimeoutError:
                reason = f"a store did not answer within {READ_SECONDS:g} s"
                self.counters.degrade("journal.read", reason)
                log.error("%s; this turn is played without memory", reason)
                return self._alone(transcript, choices, started, f"journal.read: {reason}")
            except (StoreError, NotFound) as error:
                if await self.lanes.gates.changed(changes):
                    continue  # a session was reset, pruned or deleted under the reading: what is left decides
                if isinstance(error, NotFound):
                    raise
                self.counters.degrade("journal.read", str(error))
                log.error("the journal cannot be read; this turn is played without memory: %s", error)
                return self._alone(transcript, choices, started, f"journal.read: {error}")

    async def _begin(
        self,
        transcript: Transcript,
        chosen: _Choice,
        explicit: str | None,
        owner: str,
        choices: int,
        asked_of: tuple[str, str],
        started: float,
    ) -> BegunTurn:
        lap = _Lap(self.clock, started)
        only, timeline = await self.named_session(explicit, owner, chosen.world) if explicit else (None, "")
        placed = await place(self.matcher, transcript, owner=owner, only=only, world=lambda: chosen.world().name)
        transcript, match, kind = placed.transcript, placed.match, placed.kind
        self.counters.add(f"begun.{kind.value}")
        if placed.outside:
            return self._alone(transcript, choices, started)
        if chosen.explicit is not None and only is None and match.session is not None:
            found = await self.journal.session(match.session)
            if found.world != chosen.world().name:
                match = Match(None, unknown=transcript.past[len(transcript.greeting) :])
        if timeline:
            match = await self.entered(match, timeline, transcript)
        elif only is not None and self.config.session.server_history and is_thin(transcript):
            match = Match(only.id, (await self.live.get(only.id)).head, how="session")
        live = await self._session_for(match, transcript, owner, chosen)
        concern(session=live.session.id)
        lap("match")
        parent, adopted = match.parent or live.tree.root, list[str]()
        if match.unknown:
            async with self.lanes.gates.writing(live.session.id):
                live = await self.live.get(live.session.id)
                live.tree.get(parent)
                try:
                    parent, adopted = await adopt(
                        live, parent, match.unknown, self.ids, self.clock.now(), live.world.language, timeline
                    )
                except BaseException:  # cancelled too: what is in the journal by now is read from it
                    self.live.forget(live.session.id)
                    raise
            self.counters.add("turns.adopted", len(adopted))
            match = evolve(match, shown=match.shown | frozenset(adopted))
        try:
            return await self._told(live, _Asked(transcript, match, kind, parent, timeline, choices, *asked_of, lap))
        finally:
            # Now, for the views of a long history are rendered piece by piece, and would come between those of reading.
            self.lanes.submit(live.session.id, adopted)

    async def _told(self, live: LiveSession, asked: _Asked) -> BegunTurn:
        """The turn, with what the model is told."""
        transcript, parent, lap = asked.transcript, asked.parent, asked.lap
        language = language_of(transcript.player_words or transcript.system_text, live.world.language)
        notices = tuple(f"{name}: {reason}" for name, reason in self.counters.degraded.items())
        if asked.kind is not TurnKind.SIDE:
            notices += await self.await_extraction(live, parent)
        if asked.kind is not TurnKind.CONTINUATION:  # that becomes a sibling, which takes the place of the parent
            self.extractions.prove(live.session.id, parent)
        state = await live.state(parent)
        lap("state")
        facts = self.prompting.facts(asked.model, asked.provider)
        await self.prompting.came(live, parent)
        if asked.kind is TurnKind.SIDE:
            context = NOTHING
            plan, planned = await self.prompting.aside(live, transcript, facts, asked.model)
        else:
            layout = await self.prompting.layout(live, parent, asked.transcript, asked.match.shown, facts, asked.model)
            prefix = await self.prompting.prefix(live, parent, layout, language, facts, asked.model)
            lap("prefix")
            context = await self._read(live, state, transcript, layout.shown, language, prefix)
            lap("context")
            plan, planned = await self.prompting.plan(live, layout, prefix, context, facts, asked.model, parent)
            lap("plan")
        replies = tuple(Reply(self.ids.new("t")) for _ in range(max(1, asked.choices)))
        concern(turn=replies[0].turn_id)
        above = await live.turn(parent)
        lap.total()
        recording = Recording(self, live.session.id, transcript, parent, state, asked.model, asked.timeline)
        begun = BegunTurn(
            replies[0].turn_id,
            live.session,
            above,
            plan,
            context,
            asked.kind,
            replies,
            lap.timings,
            notices,
            recording.record,
            planned,
            unrecorded=recording.unrecorded,
            block_room=self.config.token_budget.state_block_room if asked.kind is not TurnKind.SIDE else 0,
        )
        self._explain(begun.id, context)
        return begun

    async def _session_for(self, match: Match, transcript: Transcript, owner: str, chosen: _Choice) -> LiveSession:
        if match.session is not None:
            await self.lanes.gates.opened(match.session)
            live = await self.live.get(match.session)
            live.tree.get(match.parent)  # it may have been pruned while it was looked for
            live.touched = self.clock.now()
            return live
        greeting = "\n\n".join(utterance.text for utterance in transcript.greeting)
        return await self.new_session(chosen.world(), owner=owner, greeting=greeting)

    async def _read(
        self,
        live: LiveSession,
        state: WorldState,
        transcript: Transcript,
        shown: frozenset[str],
        language: Language,
        prefix: Prefix,
    ) -> TurnContext:
        """The context for the player's words: from the stores where they show the state, else from the journal."""
        turn = state.turn
        request = ReadRequest(
            session=live.session.id,
            state=state,
            world=live.world,
            lore=live.lore,
            player_words=transcript.player_words,
            recent=tuple(utterance.text for utterance in transcript.utterances[-2:]),
            pinned=prefix.state,
            language=language,
            episodes=PathEpisodes(live.tree, live.episodes, turn),
            shown=shown,
            now=self.clock.now(),
            due=due_lines(state, language),
            memories=await self.told_memories(live, state),
        )
        context = await self._read_graph(live, request)
        for name in context.late:
            self.counters.add(f"late.{name}")
        return context

    async def _read_graph(self, live: LiveSession, request: ReadRequest) -> TurnContext:
        """Read with the stored graph where it shows this very turn, else with one rendered from the state.

        The lane may move a scope while it is read; then what was read may be of another path, and is read again.
        """
        turn = request.state.turn
        slot = (
            None
            if self.lanes.busy(live.session.id)
            else await self._asked_graph(self.projector.current_slot(live, turn))
        )
        if slot is not None:
            scope = scope_of(live.session.id, slot)
            context = await self.reader.read(evolve(request, graph=self.stores.graph, graph_scope=scope))
            if (
                not self.lanes.busy(live.session.id)
                and await self._asked_graph(self.stores.graph.watermark(scope)) == turn
            ):
                self.counters.add("graph.read.store")
                return context
            self.counters.add("graph.read.moved")
        self.counters.add("graph.read.image")
        return await self.reader.read(evolve(request, graph=await live.image(turn)))

    async def _asked_graph(self, asking: Awaitable[T]) -> T | None:
        """What the graph store answers within the deadline of the sources; None when it does not, or fails."""
        try:
            async with asyncio.timeout(self.config.recall.deadline_ms / 1_000):
                return await asking
        except (StoreError, TimeoutError) as error:
            self.counters.add("graph.read.failed")
            log.warning("the graph store does not answer, the graph is made from the state: %s", error)
            return None

    def _alone(self, transcript: Transcript, choices: int, started: float, *notices: str) -> BegunTurn:
        """A turn without memory, of no session: the client's own prompt, nothing recorded."""
        replies = tuple(Reply(self.ids.new("t")) for _ in range(max(1, choices)))
        session = Session("", "")
        total = (self.clock.monotonic() - started) * 1_000
        return BegunTurn(
            replies[0].turn_id,
            session,
            Turn("", "", None, 0, self.clock.now(), kind=TurnKind.ROOT),
            build_plan(transcript.messages),
            NOTHING,
            TurnKind.SIDE,
            replies,
            {"total": total},
            notices,
            record_nothing,
        )

    async def explain(self, session_id: str, turn: str | None = None) -> dict[str, Any]:
        """What stood in a turn's context and why, entry by entry, JSON-able. ``turn``: an id, or a timeline's name for
        its head; None for the active head. Of a turn that is no longer at hand it is read ``anew``. ``NotFound``.
        """
        live = await self._live(session_id)
        found = turn_named(live, turn) if turn is not None else live.head
        context = self._contexts.get(found)
        told = context if context is not None else await reread(live, found, self.reader, self.told_memories)
        return {"turn": found, "anew": context is None, **explain_context(told)}

    def _explain(self, turn: str, context: TurnContext) -> None:
        self._contexts[turn] = context
        while len(self._contexts) > _EXPLAINED:
            self._contexts.popitem(last=False)

    async def status(self) -> dict[str, Any]:
        """As ``Catalog.status``, with the sources of context, and how often each, or a store behind it, was late."""
        sources = {name: list(needs) for name, needs in self.reader.sources.items()}
        return {**await super().status(), "context": {"sources": sources, "late": dict(self.reader.misses)}}

    def forget_contexts(self) -> None:
        """Keep none of the contexts of recent turns, and nothing of the prompts that were sent."""
        super().forget_contexts()
        self.prompting.forget()

    async def drain(self, timeout: float) -> DrainReport:
        """Run all background work that is due: resting retries, and the extraction of the active heads, included.

        What still waits is in the report.
        """
        ends = asyncio.get_running_loop().time() + timeout
        report, read = await self.lanes.drain(timeout), self.extractions.done
        try:
            async with asyncio.timeout_at(ends):
                while await self.extractions.drain():
                    more = await self.lanes.drain(timeout)
                    report = DrainReport(report.done + more.done)
                if await self.curations.drain():
                    report = DrainReport(report.done + (await self.lanes.drain(timeout)).done)
                await self.filling.drain(timeout)
        except TimeoutError:
            log.info("draining did not finish within %.1f s; turns wait for a model", timeout)
        done = report.done + self.extractions.done - read
        waiting = (self.lanes, self.extractions, self.curations, self.filling)
        return DrainReport(done, tuple(each for some in waiting for each in some.waiting()))

    async def aclose(self, *, drain: float | None = None) -> DrainReport:
        """Drain for at most ``drain`` seconds (the config's ``server.drain_timeout``), then close every store."""
        if self._closed:
            return DrainReport(0)
        self._closed = True
        if self._collecting is not None:
            self._collecting.cancel()
            await asyncio.gather(self._collecting, return_exceptions=True)
        timeout = self.config.server.drain_timeout if drain is None else drain
        await self.extractions.aclose()
        await self.curations.aclose()
        report = await self.lanes.drain(timeout)
        await self.lanes.aclose()
        await self.filling.aclose()
        await self.reader.aclose()
        await self.live.aclose()
        await self.stores.aclose()
        return report


@define
class _Choice:
    """The world for a new session. It is looked for among the files when somebody asks: a known session has its own."""

    worlds: WorldLibrary
    explicit: str | None
    transcript: Transcript
    default: str | None
    _world: World | None = field(default=None, init=False)

    def world(self) -> World:
        """The explicit world, or the one that the system prompt names, or the default. Raises as ``choose`` does.

        An empty world speaks the language of the chat.
        """
        if self._world is None:
            found = self.worlds.choose(self.explicit, self.transcript.system_text, self.default)
            self._world = evolve(found, language=self._language(found)) if found == EMPTY_WORLD else found
        return self._world

    def _language(self, world: World) -> Language:
        said = "\n".join(utterance.text for utterance in self.transcript.utterances[-_HEARD:])
        return language_of(said, language_of(self.transcript.system_text, world.language))


@define
class _Lap:
    """Milliseconds of each step of reading since ``started``."""

    clock: Clock
    started: float
    timings: dict[str, float] = field(factory=dict)
    _last: float = field(default=Factory(lambda self: self.started, takes_self=True))

    def __call__(self, name: str) -> None:
        """The step ``name`` is over."""
        now = self.clock.monotonic()
        self.timings[name] = (now - self._last) * 1_000
        self._last = now

    def total(self) -> None:
        """All steps are over."""
        self.timings["total"] = (self.clock.monotonic() - self.started) * 1_000


@frozen
class _Asked:
    """A request whose place is found."""

    transcript: Transcript
    match: Match
    kind: TurnKind
    parent: str
    timeline: str
    choices: int
    model: str
    provider: str
    lap: _Lap
