"""The prompt of a turn: which pages stand in its prefix, what it is made of, and where it may be cached."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from attrs import define, evolve, field, frozen

from saga_core import codec
from saga_core.billing.bill import Bill
from saga_core.billing.ledger import Ledger
from saga_core.config import Config
from saga_core.context.model import Language, Slot, TurnContext
from saga_core.engine.begun import BegunTurn
from saga_core.engine.billing import bill_of
from saga_core.engine.counters import Counters
from saga_core.engine.live import LiveSession
from saga_core.engine.prefix_texts import PrefixTexts
from saga_core.engine.prompt_memories import HeldMemory, PromptMemories
from saga_core.engine.told_history import is_thin, turns_before, with_history
from saga_core.errors import StoreError
from saga_core.journal import keys
from saga_core.journal.transcript import Transcript, identity_key
from saga_core.model.world_state import WorldState
from saga_core.ports import Clock, TokenCounter, Usage
from saga_core.prompt.build import build_plan, language_of
from saga_core.prompt.cutting import Cut
from saga_core.prompt.floating import Arranged
from saga_core.prompt.memory import PromptMemory
from saga_core.prompt.pinning import Pin, Reason, rewrite_pays
from saga_core.prompt.plan import PromptPlan, Stability, flatten
from saga_core.prompt.planner import Planned, SessionPrompts
from saga_core.prompt.rules import static_rules
from saga_core.stores.state_kv import Batch
from saga_core.upstream.facts import SECONDS, ModelFacts, facts_of

log = logging.getLogger("saga.prompt")

_SYSTEM = ("system", "developer")
_FILLED = 0.95
"""The part of the window that a prompt may fill; the rest is the reply's."""
_LEAST_ROOM = 1_000
"""Tokens below which there is no history to speak of, and nothing is cut."""
_SEEDED = 24
"""Turns of the path whose times tell the pace of a session that was just loaded."""


@frozen
class Layout:
    """A request as it is going to be told: what of its history, and what of its system prompt floats."""

    messages: tuple[Mapping[str, Any], ...]
    carried: str
    shown: frozenset[str]
    """Turns of the path that stand in the history."""
    missing: int
    """The depth up to which turns do not stand in it."""
    cut: bool
    """Whether a piece of the history fell out for this very request."""
    whole: tuple[Mapping[str, Any], ...]
    """The messages before anything was found to float."""


@frozen
class Prefix:
    """What stands in front of the history, and the state that its pages show."""

    rules: str = ""
    world: str = ""
    pages: str = ""
    state: WorldState | None = None
    """None: there are no pages."""
    pin: Pin | None = None
    repinned: str = ""
    """Why the pages were pinned anew for this very prompt; empty when they were not."""


@define(eq=False)
class Prompting:
    """Makes the prompts of all sessions."""

    config: Config
    clock: Clock
    counter: TokenCounter
    counters: Counters
    ledger: Ledger
    memories: PromptMemories = field(init=False)
    texts: PrefixTexts = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.memories = PromptMemories(self.ledger.state, self.counters)
        self.texts = PrefixTexts(self.config.token_budget, self.counter, self.memories)

    def facts(self, model: str, provider: str) -> ModelFacts:
        """What is known of a model, as configured. A model without a name caches nothing that is known."""
        return facts_of(model, provider, self.config.models.facts) if model else ModelFacts(provider)

    def forget(self) -> None:
        """Have no prompt and no page at hand; what is stored of them is read again."""
        self.memories.forget()
        self.texts = PrefixTexts(self.config.token_budget, self.counter, self.memories)

    async def came(self, live: LiveSession, parent: str) -> None:
        """A request that continues ``parent`` came now."""
        session = await self.memories.of(live.session.id)
        moments = session.prompts.moments
        if not moments:
            path = [node.at for node, _ in zip(live.tree.upwards(parent), range(_SEEDED), strict=False) if node.depth]
            moments.extend(sorted(path))
        session.prompts.came(self.clock.now())

    async def layout(
        self,
        live: LiveSession,
        parent: str,
        transcript: Transcript,
        shown: frozenset[str],
        facts: ModelFacts,
        model: str,
    ) -> Layout:
        """Which part of the history a prompt that continues ``parent`` shows, and what of it stays where it is.

        ``shown``: the turns of the path that stand in the history as the client sent it.
        """
        session = await self.memories.of(live.session.id)
        messages = transcript.messages
        ours = self.config.session.server_history and is_thin(transcript)
        if ours:
            told = await turns_before(live, parent, self.config.session, self.clock.now())
            messages, shown = with_history(messages, told), frozenset(turn.id for turn in told)
        cut = self._cut(session, live, parent, messages, await live.state(parent), facts, model, ours=ours)
        if cut.start:
            first = next((at for at, m in enumerate(messages) if m.get("role") not in _SYSTEM), 0)
            if cut.start > first:
                messages = (*messages[:first], *messages[cut.start :])
                kept = {identity_key(flatten(m.get("content") or "")) for m in messages[first:]}
                shown = frozenset(turn for turn in shown if live.tree.get(turn).reply_key in kept)
        depths = [live.tree.get(turn).depth for turn in shown]
        missing = min(depths) - 1 if depths else live.tree.get(parent).depth
        arranged = Arranged(messages)
        if self._carries(facts):
            behind = sum(self.counter.count(flatten(m.get("content") or "")) for m in messages)
            write = min(facts.writes.values(), default=1.0)
            fold = cut.fresh or session.floating.pays(behind, write, facts.read)
            arranged = session.floating.arrange(messages, self.counter.count, fold=fold)
        return Layout(arranged.messages, arranged.carried, shown, missing, cut.fresh, messages)

    def _carries(self, facts: ModelFacts) -> bool:
        if facts.cache == "none" or not self.config.prompt_caching.enabled:
            return False
        return self.config.prompt_caching.carry_floating

    def _cut(
        self,
        session: PromptMemory,
        live: LiveSession,
        parent: str,
        messages: tuple[Mapping[str, Any], ...],
        state: WorldState,
        facts: ModelFacts,
        model: str,
        *,
        ours: bool,
    ) -> Cut:
        budget = self.config.token_budget
        most = min(budget.total_context_max, facts.window or budget.total_context_max)
        leading = sum(self.counter.count(flatten(m.get("content") or "")) for m in messages if m.get("role") in _SYSTEM)
        reserved = budget.dynamic_context_max + budget.md_cache_max + budget.world_max + budget.state_block_instruction
        room = int(most * _FILLED / self.scale(facts, model)) - leading - reserved
        if room < _LEAST_ROOM:
            return Cut(0)
        told = max((part.last for part in state.story), default=0)
        return session.cuts.place(
            messages, live.tree, parent, room=room, told=told, count=self.counter.count, ours=ours
        )

    def scale(self, facts: ModelFacts, model: str) -> float:
        """How many tokens of the model one token as counted here is: as bills showed, else as the facts say."""
        return self.memories.scales.get((facts.provider, model), facts.scale)

    def learn(self, begun: BegunTurn, usage: Usage, model: str, provider: str) -> None:
        """Take the provider's count of a prompt as the measure of its tokens from now on."""
        if begun.planned is not None:
            self.memories.learn((provider, model), begun.planned.request.total, usage.input)

    def bill(self, begun: BegunTurn) -> Bill | None:
        """What a turn cost, as its provider billed it."""
        usage, (model, provider) = begun.usage, begun.asked
        if usage is None:
            return None
        self.learn(begun, usage, model, provider)
        bill = self._priced(begun, usage, model, provider)
        if bill.note:
            self.counters.add("cache.broken")
            log.info("session %s, turn %s: %s", begun.session.id, begun.id, bill.note)
        return bill

    def _priced(self, begun: BegunTurn, usage: Usage, model: str, provider: str) -> Bill:
        facts = self.facts(model, provider)
        return bill_of(begun, usage, facts, model, self.clock.now(), self.scale(facts, model), self.counter)

    def beside(self, live: LiveSession, bill: Bill | None) -> Batch:
        """What is written with a turn: its bill, and what is remembered of the session's prompts."""
        session = live.session.id
        changes = self.memories.changes(session, live.tree.nodes.__contains__)
        billed = {} if bill is None else {keys.bill(session, bill.turn, bill.call): codec.encode(bill)}
        return Batch({**changes.puts, **billed}, changes.deletes)

    def written(self, session: str, batch: Batch) -> None:
        """What ``beside`` gave is written."""
        self.memories.stored(session, batch)

    async def unrecorded(self, session: str, begun: BegunTurn) -> None:
        """Enter what a turn cost of which nothing was recorded, under the turn that it continues.

        A ledger that cannot be written is no reason to fail.
        """
        bill = self.bill(begun)
        if bill is not None and begun.bill is None:
            begun.bill = evolve(bill, turn=begun.parent.id, call=begun.id)
            await self._enter(session, begun.bill)

    async def failed(self, session: str, begun: BegunTurn) -> None:
        """Enter what models billed that failed before another was asked, under the turn that this one continues."""
        for number, given in enumerate(begun.failed, 1):
            bill = self._priced(begun, *given)
            await self._enter(session, evolve(bill, turn=begun.parent.id, call=f"{begun.id}-{number}", block=0, pin=""))

    async def _enter(self, session: str, bill: Bill) -> None:
        try:
            await self.ledger.enter(session, bill)
        except StoreError as error:
            self.counters.degrade("bill.write", str(error))
        else:
            self.counters.recover("bill.write")

    async def prefix(
        self, live: LiveSession, parent: str, layout: Layout, language: Language, facts: ModelFacts, model: str
    ) -> Prefix:
        """What stands in front of the history of a prompt that continues ``parent``."""
        world = self.texts.of_world(live.world)
        if not self.config.prompt_caching.enabled or self.config.prompt_caching.strategy == "none":
            return Prefix(static_rules(language), world)
        session = await self.memories.of(live.session.id)
        if facts.cache != "none" and not session.known:
            await self._restore(session, live, parent)
        old = session.pins.inherited(live.tree, parent)
        if facts.cache == "none":
            pin = await self._by_turns(live, parent, language)
        elif old is None or not old.language:
            pin = Pin(parent, parent, "first", language)
        else:
            before = await self._in_front(live, world, old)
            reason = await self._reason(session, live, parent, layout, before, facts, model)
            pin = old if reason is None else Pin(parent, parent, reason, language)
        repinned = old is None or pin.turn != old.turn
        if repinned:
            self.counters.add(f"pinned.{pin.reason}")
        session.pins.decide(parent, pin)
        return evolve(await self._in_front(live, world, pin), repinned=pin.reason if repinned else "")

    async def _restore(self, session: HeldMemory, live: LiveSession, parent: str) -> None:
        """Nothing is stored of the session's prompts: go on with the pages that the path's last bills name."""
        session.known = True
        path = [node for node, _ in zip(live.tree.upwards(parent), range(_SEEDED), strict=False) if node.parent]
        try:
            bills = await self.ledger.of_turns(live.session.id, [node.id for node in path])
        except StoreError as error:
            self.counters.degrade("bill.read", str(error))
            return
        for node in path:
            bill = bills.get(node.id)
            if bill is not None and bill.pin in live.tree.nodes and node.parent:
                session.pins.decide(node.parent, Pin(bill.pin, node.parent, "first", bill.language))

    async def _in_front(self, live: LiveSession, world: str, pin: Pin) -> Prefix:
        language: Language = "ko" if pin.language == "ko" else "en"
        return Prefix(static_rules(language), world, *(await self.texts.of_pages(live, pin.turn, language)), pin)

    async def _reason(
        self,
        session: PromptMemory,
        live: LiveSession,
        parent: str,
        layout: Layout,
        before: Prefix,
        facts: ModelFacts,
        model: str,
    ) -> Reason | None:
        """Why the pages should be pinned anew, if they should."""
        assert before.pin is not None and before.state is not None
        if before.pin.turn == parent:
            return None
        if layout.cut:
            return "cut"
        told, tells = (
            max((part.last for part in each.story), default=0) for each in (before.state, await live.state(parent))
        )
        if layout.missing > told and tells > told:
            return "curation"
        rent = session.pins.rent(before.pin)
        if rent.full and layout.missing > before.state.depth:
            return "full"
        if self._cold(session.prompts, layout, before, facts, model):
            return "cold"
        if rent.tokens:
            plan = build_plan(layout.messages, rules=before.rules, world=before.world, pages=before.pages)
            behind = sum(
                self.counter.count(b.content)
                for b in plan.blocks
                if b.stability is Stability.HISTORY and isinstance(b.content, str)
            )
            if rewrite_pays(rent, behind, facts):
                return "dear"
        return None

    def _cold(self, prompts: SessionPrompts, layout: Layout, before: Prefix, facts: ModelFacts, model: str) -> bool:
        """Whether nothing of the history is in the cache. Asked only after a pause that kills some entries."""
        pause = prompts.moments[-1] - prompts.moments[-2] if len(prompts.moments) > 1 else float("inf")
        if facts.cache == "automatic":
            return pause > facts.cache_seconds
        if pause < min((SECONDS[ttl] for ttl in facts.writes), default=0) - 10:
            return False
        plan = build_plan(layout.messages, rules=before.rules, world=before.world, pages=before.pages)
        return not prompts.warm(plan, facts, model, self.counter.count)

    async def _by_turns(self, live: LiveSession, parent: str, language: Language) -> Pin:
        """It follows from the path alone, so that a swipe, a branch and a restart give the same prefix bytes; so does
        its language, for a remark in another one must not rewrite them. At the opening that is the words' own."""
        depth = live.tree.get(parent).depth
        pinned = depth - depth % self.config.prompt_caching.repin_every
        if depth:
            told = await live.turn(live.tree.ancestor_at(parent, max(1, pinned)).id)
            language = language_of(told.user or told.reply, live.world.language)
        turn = live.tree.ancestor_at(parent, pinned).id
        return Pin(turn, turn, "turns", language)

    async def plan(
        self,
        live: LiveSession,
        layout: Layout,
        prefix: Prefix,
        context: TurnContext,
        facts: ModelFacts,
        model: str,
        turn: str,
    ) -> tuple[PromptPlan, Planned | None]:
        """The plan of a turn with its breakpoints, and what is expected of it where its cache is known."""
        session = await self.memories.of(live.session.id)
        if prefix.pin is not None and prefix.pin.turn != turn:
            changed = [each for each in context.pieces if each.order == Slot.CHANGED and each.source == "briefing"]
            left_out = any(each.order == Slot.CHANGED and each.source == "briefing" for each in context.skipped)
            session.pins.told(prefix.pin, sum(each.tokens for each in changed), full=left_out)
        messages, carried = layout.messages, layout.carried
        if carried and prefix.repinned == "cold":  # the prefix is written anew, and what has settled goes into it
            arranged = session.floating.arrange(layout.whole, self.counter.count, fold=True)
            messages, carried = arranged.messages, arranged.carried
        plan = build_plan(
            messages,
            rules=prefix.rules,
            world=prefix.world,
            pages=prefix.pages,
            context=context.text,
            carried=carried,
        )
        stable = sum(block.stability is Stability.STABLE for block in plan.blocks)
        ours = (prefix.rules, prefix.world, prefix.pages, context.text)
        fixed, own = stable - bool(prefix.pages), stable - sum(map(bool, ours[:3]))
        marked, planned = self._marked(session, plan, facts, model, fixed=fixed, own=own, turn=turn)
        if planned is not None:
            pin = prefix.pin
            planned = evolve(
                planned,
                reason=prefix.repinned,
                pin=pin.turn if pin else "",
                language=pin.language if pin else "",
                added=sum(self.counter.count(text) for text in ours),
            )
        return marked, planned

    async def aside(
        self, live: LiveSession, transcript: Transcript, facts: ModelFacts, model: str
    ) -> tuple[PromptPlan, Planned | None]:
        """The client's own prompt, which nothing follows."""
        session = await self.memories.of(live.session.id)
        return self._marked(session, build_plan(transcript.messages), facts, model, fixed=0, reading=True)

    def _marked(
        self,
        session: PromptMemory,
        plan: PromptPlan,
        facts: ModelFacts,
        model: str,
        *,
        fixed: int,
        own: int = 0,
        turn: str = "",
        reading: bool = False,
    ) -> tuple[PromptPlan, Planned | None]:
        if facts.cache == "none" or not self.config.prompt_caching.enabled:
            return plan, None
        planned = session.prompts.mark(
            plan,
            facts,
            model,
            self.counter.count,
            fixed=fixed,
            own=own,
            scale=self.scale(facts, model),
            turn=turn,
            reading=reading,
        )
        return planned.plan, planned
