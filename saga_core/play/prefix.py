"""The prefix of a prompt: the rules, the world, and the pages pinned in front of the history."""

from __future__ import annotations

from attrs import define, evolve, frozen

from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import StoreError
from saga_core.journal import Ledger
from saga_core.language import detect, language_of
from saga_core.messages import Origin
from saga_core.model import WorldState
from saga_core.play.layout import Layout
from saga_core.play.prefix_texts import PrefixTexts
from saga_core.play.prompt_memories import HeldMemory, PromptMemories
from saga_core.ports import TokenCounter
from saga_core.prompt import Pin, PromptMemory, Reason, SessionPrompts, build_plan, rewrite_pays, static_rules
from saga_core.sessions import LiveSession
from saga_core.upstream import SECONDS, ModelFacts

SEEDED = 24
"""Turns of the path whose times and bills are used to restore the prompt memory of a session that was just loaded."""


@frozen
class Prefix:
    """The text in front of the history, and the state that its pages show."""

    rules: str = ""
    world: str = ""
    pages: str = ""
    state: WorldState | None = None
    """None if there are no pages."""
    pin: Pin | None = None
    repinned: str = ""
    """Why the pages were pinned anew for this prompt; empty if they were not."""


@define(eq=False, kw_only=True)
class Prefixes:
    """Chooses the prefixes of all sessions, and pins new pages when that pays."""

    settings: Settings
    memories: PromptMemories
    texts: PrefixTexts
    ledger: Ledger
    counter: TokenCounter
    counters: Counters

    async def of(
        self,
        live: LiveSession,
        parent: str,
        layout: Layout,
        language: str,
        facts: ModelFacts,
        model: str,
        *,
        tools: bool = False,
    ) -> Prefix:
        """The prefix of a prompt that continues ``parent``. ``tools`` says whether the narrator may call tools."""
        world = self.texts.of_world(live.world)
        if not self.settings.config.prompt_caching.enabled or self.settings.config.prompt_caching.strategy == "none":
            return Prefix(static_rules(language, tools=tools), world)
        session = await self.memories.of(live.session.id)
        if facts.cache != "none" and not session.known:
            await self._restore(session, live, parent)
        old = session.pins.inherited(live.tree, parent)
        if facts.cache == "none":
            pin = await self._by_turns(live, parent, language)
        elif old is None or not old.language:
            pin = Pin(parent, parent, "first", language)
        else:
            before = await self._in_front(live, world, old, tools)
            reason = await self._reason(session, live, parent, layout, before, facts, model)
            pin = old if reason is None else Pin(parent, parent, reason, language)
        repinned = old is None or pin.turn != old.turn
        if repinned:
            self.counters.add(f"pinned.{pin.reason}")
        session.pins.decide(parent, pin)
        found = await self._in_front(live, world, pin, tools)
        return evolve(found, repinned=pin.reason) if repinned else found

    async def known(self, live: LiveSession, parent: str) -> tuple[str, WorldState | None]:
        """The pages of a prompt that continues ``parent``, as far as they are known, and the state that they show.
        No pages are pinned or stored for it."""
        if not self.settings.config.prompt_caching.enabled or self.settings.config.prompt_caching.strategy == "none":
            return "", None
        session = await self.memories.of(live.session.id)
        if not session.known:
            await self._restore(session, live, parent)
        pin = session.pins.inherited(live.tree, parent)
        if pin is None or not pin.language:
            return "", None
        if pin.reason == "turns":
            pin = await self._by_turns(live, parent, pin.language)
        return await self.texts.shown(live, pin.turn, language_of(pin.language).tag)

    async def _restore(self, session: HeldMemory, live: LiveSession, parent: str) -> None:
        """Restore the pins from the path's last bills, if nothing is stored of the session's prompts."""
        session.known = True
        path = [node for node, _ in zip(live.tree.upwards(parent), range(SEEDED), strict=False) if node.parent]
        try:
            bills = await self.ledger.of_turns(live.session.id, [node.id for node in path])
        except StoreError as error:
            self.counters.degrade("bill.read", str(error))
            return
        for node in path:
            bill = bills.get(node.id)
            if bill is not None and bill.pin in live.tree.nodes and node.parent:
                session.pins.decide(node.parent, Pin(bill.pin, node.parent, "first", bill.language))

    async def _in_front(self, live: LiveSession, world: str, pin: Pin, tools: bool) -> Prefix:
        language = language_of(pin.language).tag
        rules = static_rules(language, tools=tools)
        return Prefix(rules, world, *(await self.texts.of_pages(live, pin.turn, language)), pin)

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
        """The reason to pin the pages anew; None if there is none."""
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
        cost = session.pins.accrued(before.pin)
        if cost.full and layout.missing > before.state.depth:
            return "full"
        if self._cold(session.prompts, layout, before, facts, model):
            return "expired"
        if cost.tokens:
            plan = build_plan(layout.blocks, rules=before.rules, world=before.world, pages=before.pages)
            behind = sum(
                self.counter.count(b.content)
                for b in plan.blocks
                if b.origin is Origin.HISTORY and isinstance(b.content, str)
            )
            if rewrite_pays(cost, behind, facts):
                return "cost"
        return None

    def _cold(self, prompts: SessionPrompts, layout: Layout, before: Prefix, facts: ModelFacts, model: str) -> bool:
        """Whether nothing of the history is in the cache. Checked only after a pause in which entries may expire."""
        pause = prompts.moments[-1] - prompts.moments[-2] if len(prompts.moments) > 1 else float("inf")
        if facts.cache == "automatic":
            return pause > facts.cache_seconds
        if pause < min((SECONDS[ttl] for ttl in facts.writes), default=0) - 10:
            return False
        plan = build_plan(layout.blocks, rules=before.rules, world=before.world, pages=before.pages)
        return not prompts.warm(plan, facts, model, self.counter.count)

    async def _by_turns(self, live: LiveSession, parent: str, language: str) -> Pin:
        """A pin that depends only on the path, so that a swipe, a branch and a restart give the same prefix bytes. So
        does its language, because a remark in another language must not change them. At the opening, ``language`` is
        used."""
        depth = live.tree.get(parent).depth
        pinned = depth - depth % self.settings.config.prompt_caching.repin_every
        if depth:
            told = await live.turn(live.tree.ancestor_at(parent, max(1, pinned)).id)
            language = detect(told.user or told.reply, live.world.language)
        turn = live.tree.ancestor_at(parent, pinned).id
        return Pin(turn, turn, "turns", language)
