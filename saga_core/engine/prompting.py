"""The prompt of a turn: which pages stand in its prefix, what it is made of, and where it may be cached."""

from __future__ import annotations

from collections import OrderedDict

from attrs import define, field, frozen

from saga_core.config import Config
from saga_core.context.model import Language, Slot, TurnContext
from saga_core.engine.counters import Counters
from saga_core.engine.live import LiveSession
from saga_core.journal.transcript import Transcript
from saga_core.model.world_state import WorldState
from saga_core.ports import Clock, TokenCounter
from saga_core.projection.pages import render_prefix, render_world
from saga_core.prompt.build import build_plan
from saga_core.prompt.pinning import Pin, Pins, Reason, rewrite_pays
from saga_core.prompt.plan import PromptPlan, Stability
from saga_core.prompt.planner import Planned, SessionPrompts
from saga_core.prompt.rules import static_rules
from saga_core.stores.state_kv import StateKV
from saga_core.upstream.facts import SECONDS, ModelFacts, facts_of
from saga_core.world.model import World

_PREFIXES = 256
_SESSIONS = 256
_SEEDED = 24
"""Turns of the path whose times tell the pace of a session that was just loaded."""


@frozen
class Prefix:
    """What stands in front of the history, and the state that its pages show."""

    rules: str = ""
    world: str = ""
    pages: str = ""
    state: WorldState | None = None
    """None: there are no pages."""
    pin: Pin | None = None


@define
class _Session:
    prompts: SessionPrompts = field(factory=SessionPrompts)
    pins: Pins = field(factory=Pins)


@define(eq=False)
class Prompting:
    """Makes the prompts of all sessions. What it remembers of them is in memory, but for the pins."""

    config: Config
    clock: Clock
    counter: TokenCounter
    counters: Counters
    state: StateKV
    _sessions: OrderedDict[str, _Session] = field(factory=OrderedDict)
    _rendered: OrderedDict[tuple[str, str], tuple[str, WorldState]] = field(factory=OrderedDict)
    _authored: dict[str, str] = field(factory=dict)
    """World digest -> its text in the prefix."""

    def facts(self, model: str, provider: str) -> ModelFacts:
        """What is known of a model, as configured. A model without a name caches nothing that is known."""
        return facts_of(model, provider, self.config.models.facts) if model else ModelFacts(provider)

    def forget(self, session: str) -> None:
        """A session is gone, or began anew."""
        self._sessions.pop(session, None)

    async def came(self, live: LiveSession, parent: str) -> None:
        """A request that continues ``parent`` came now."""
        session = await self._session(live)
        moments = session.prompts.moments
        if not moments:
            path = [node.at for node, _ in zip(live.tree.upwards(parent), range(_SEEDED), strict=False) if node.depth]
            moments.extend(sorted(path))
        session.prompts.came(self.clock.now())

    async def prefix(
        self, live: LiveSession, parent: str, transcript: Transcript, language: Language, facts: ModelFacts, model: str
    ) -> Prefix:
        """What stands in front of the history of a prompt that continues ``parent``."""
        world = self._world_text(live.world)
        if not self.config.prompt_caching.enabled or self.config.prompt_caching.strategy == "none":
            return Prefix(static_rules(language), world)
        session = await self._session(live)
        old = session.pins.inherited(live.tree, parent)
        if facts.cache == "none":
            pin = self._by_turns(live, parent, language)
        elif old is None or not old.language:
            pin = Pin(parent, parent, "first", language)
        else:
            before = await self._in_front(live, world, old)
            reason = await self._reason(session, live, parent, transcript, before, facts, model)
            pin = old if reason is None else Pin(parent, parent, reason, language)
        if old is None or pin.turn != old.turn:
            self.counters.add(f"pinned.{pin.reason}")
        session.pins.decide(parent, pin)
        return await self._in_front(live, world, pin)

    async def _in_front(self, live: LiveSession, world: str, pin: Pin) -> Prefix:
        language: Language = "ko" if pin.language == "ko" else "en"
        return Prefix(static_rules(language), world, *(await self._rendering(live, pin.turn, language)), pin)

    async def _reason(
        self,
        session: _Session,
        live: LiveSession,
        parent: str,
        transcript: Transcript,
        before: Prefix,
        facts: ModelFacts,
        model: str,
    ) -> Reason | None:
        """Why the pages should be pinned anew, if they should."""
        assert before.pin is not None and before.state is not None
        if before.pin.turn == parent:
            return None
        now = await live.state(parent)
        if now.story != before.state.story:
            return "curation"
        rent = session.pins.rent(before.pin)
        if rent.full:
            return "full"
        if self._cold(session.prompts, transcript, before, facts, model):
            return "cold"
        if rent.tokens:
            plan = build_plan(transcript, rules=before.rules, world=before.world, pages=before.pages)
            behind = sum(
                self.counter.count(b.content)
                for b in plan.blocks
                if b.stability is Stability.HISTORY and isinstance(b.content, str)
            )
            if rewrite_pays(rent, behind, facts):
                return "dear"
        return None

    def _cold(
        self, prompts: SessionPrompts, transcript: Transcript, before: Prefix, facts: ModelFacts, model: str
    ) -> bool:
        """Whether nothing of the history is in the cache. Asked only after a pause that kills some entries."""
        pause = prompts.moments[-1] - prompts.moments[-2] if len(prompts.moments) > 1 else float("inf")
        if facts.cache == "automatic":
            return pause > facts.cache_seconds
        if pause < min((SECONDS[ttl] for ttl in facts.writes), default=0) - 10:
            return False
        plan = build_plan(transcript, rules=before.rules, world=before.world, pages=before.pages)
        return not prompts.warm(plan, facts, model, self.counter.count)

    def _by_turns(self, live: LiveSession, parent: str, language: Language) -> Pin:
        """It follows from the path alone, so that a swipe, a branch and a restart give the same prefix bytes."""
        depth = live.tree.get(parent).depth
        turn = live.tree.ancestor_at(parent, depth - depth % self.config.prompt_caching.repin_every).id
        return Pin(turn, turn, "turns", language)

    async def plan(
        self,
        live: LiveSession,
        transcript: Transcript,
        prefix: Prefix,
        context: TurnContext,
        facts: ModelFacts,
        model: str,
        turn: str,
    ) -> tuple[PromptPlan, Planned | None]:
        """The plan of a turn with its breakpoints, and what is expected of it where its cache is known."""
        session = await self._session(live)
        if prefix.pin is not None and prefix.pin.turn != turn:
            changed = [each for each in context.pieces if each.order == Slot.CHANGED and each.source == "briefing"]
            left_out = any(each.order == Slot.CHANGED and each.source == "briefing" for each in context.skipped)
            session.pins.told(prefix.pin, sum(each.tokens for each in changed), full=left_out)
        plan = build_plan(transcript, rules=prefix.rules, world=prefix.world, pages=prefix.pages, context=context.text)
        stable = sum(block.stability is Stability.STABLE for block in plan.blocks)
        return self._marked(session, plan, facts, model, fixed=stable - bool(prefix.pages), turn=turn)

    async def aside(
        self, live: LiveSession, transcript: Transcript, facts: ModelFacts, model: str
    ) -> tuple[PromptPlan, Planned | None]:
        """The client's own prompt, which nothing follows."""
        session = await self._session(live)
        return self._marked(session, build_plan(transcript), facts, model, fixed=0, reading=True)

    def _marked(
        self,
        session: _Session,
        plan: PromptPlan,
        facts: ModelFacts,
        model: str,
        *,
        fixed: int,
        turn: str = "",
        reading: bool = False,
    ) -> tuple[PromptPlan, Planned | None]:
        if facts.cache == "none" or not self.config.prompt_caching.enabled:
            return plan, None
        planned = session.prompts.mark(plan, facts, model, self.counter.count, fixed=fixed, turn=turn, reading=reading)
        return planned.plan, planned

    # -- pages ---------------------------------------------------------------------------------------------------

    def _world_text(self, world: World) -> str:
        """The author's text of the world: it never changes in a session, and stands before the pages."""
        found = self._authored.get(world.digest)
        if found is None:
            found = render_world(world, self.counter.count, self.config.token_budget.world_max)
            self._authored[world.digest] = found
        return found

    async def _rendering(self, live: LiveSession, turn: str, language: Language) -> tuple[str, WorldState]:
        """The pages of a turn, and the state that they show. What is learned of it later is told as a change."""
        found = self._rendered.get((turn, language))
        if found is None:
            state = await live.state(turn)
            limit = self.config.token_budget.md_cache_max
            found = render_prefix(state, live.world, language, self.counter.count, limit), state
            self._rendered[turn, language] = found
            while len(self._rendered) > _PREFIXES:
                self._rendered.popitem(last=False)
        return found

    # -- what is kept --------------------------------------------------------------------------------------------

    async def _session(self, live: LiveSession) -> _Session:
        found = self._sessions.get(live.session.id)
        if found is None:
            found = _Session()
            self._sessions[live.session.id] = found
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(live.session.id)
        return found
