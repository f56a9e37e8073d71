"""Builds the prompt of a turn: the history that is sent, the prefix in front of it, and where it is cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, evolve, field, frozen
from cachetools import LRUCache

from saga_core.config import SessionConfig, Settings, TokenBudget
from saga_core.context import Slot, TurnContext, as_note, as_prose, in_window
from saga_core.counters import Counters
from saga_core.errors import StoreError
from saga_core.journal import Ledger
from saga_core.language import detect, language_of
from saga_core.messages import Block, Origin, PromptPlan, flatten
from saga_core.model import Tree, Turn, TurnNode, WorldState
from saga_core.play.prompt_memories import HeldMemory, NarratorModels, PinnedPage, PromptMemories
from saga_core.play.request import TurnStart
from saga_core.ports import TokenCounter
from saga_core.projection import render_prefix, render_world
from saga_core.prompt import (
    Arranged,
    Cut,
    Pin,
    Planned,
    Reason,
    build_plan,
    read_client_blocks,
    rewrite_pays,
    static_rules,
)
from saga_core.sessions import LiveSession, Perspectives
from saga_core.transcript import Transcript, identity_key
from saga_core.upstream import SECONDS, ModelFacts
from saga_core.world import World

_FILLED = 0.95
"""The part of the window that a prompt may fill. The rest is for the reply."""
_LEAST_ROOM = 1_000
"""If fewer tokens than this are left for the history by ``total_context_max``, nothing is cut."""
_SEEDED = 24
"""Turns of the path whose times and bills are used to restore the prompt memory of a session that was just loaded."""
_PREFIXES = 256
_SYSTEM = ("system", "developer")
_HOUR = 3_600.0


@frozen(kw_only=True)
class Layout:
    """A request's layout: the history that is sent, and the system prompt without its volatile text."""

    blocks: tuple[Block, ...]
    """The client's part of the prompt."""
    relocated: str
    """The volatile text that was taken out of it."""
    shown: frozenset[str]
    """Turns of the path that are in the history."""
    missing: int
    """The depth up to which turns are missing from it."""
    cut: bool
    """Whether a piece of the history was dropped for this request."""
    dropped: int
    """How many messages of the history the prompt leaves out."""
    withheld: int
    """How many messages the member of a group does not know of, and so are left out."""
    whole: tuple[Block, ...]
    """The blocks with the volatile text still in place."""


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
class Prompting:
    """Builds the prompts of all sessions."""

    settings: Settings
    models: NarratorModels
    memories: PromptMemories
    texts: PrefixTexts
    ledger: Ledger
    perspectives: Perspectives
    counter: TokenCounter
    counters: Counters

    def forget(self) -> None:
        """Drop all cached prompts and pages. Stored ones are read again."""
        self.memories.forget()
        self.texts.forget()

    def record_request(self, memory: HeldMemory, tree: Tree, parent: str, now: float) -> None:
        """Note that a request that continues ``parent`` came ``now``.

        A session that was just loaded gets the times of its last turns.
        """
        prompts = memory.prompts
        if not prompts.moments:
            path = zip(tree.upwards(parent), range(_SEEDED), strict=False)
            prompts.moments.extend(sorted(node.at for node, _ in path if node.depth))
        prompts.record_request(now)

    # -- the history -------------------------------------------------------------------------------------------

    async def layout(self, start: TurnStart) -> Layout:
        """Choose the part of the history for a prompt, and take out its volatile text."""
        place, facts = start.place, start.facts
        tree, messages, shown = place.live.tree, place.transcript.messages, place.shown
        ours = self.settings.config.session.server_history and is_thin(place.transcript)
        if ours:
            turns = await _turns_before(place.live, place.parent, self.settings.config.session, start.now)
            messages, shown = _with_history(messages, turns), frozenset(turn.id for turn in turns)
        withheld, hidden = 0, shown & start.unseen
        if start.unseen:
            messages, withheld = _known_to_member(messages, [tree.get(turn) for turn in start.unseen])
            shown -= start.unseen
        blocks = await read_client_blocks(messages)
        sent = sum(block.origin is Origin.HISTORY for block in blocks)
        cut = self._cut(start, blocks, ours=ours)
        if cut.start:
            first = sum(block.origin is Origin.CLIENT for block in blocks)
            if cut.start > first:
                blocks = (*blocks[:first], *blocks[cut.start :])
                # An edited reply has another key, so every turn below an unedited reply counts as shown.
                kept = {identity_key(block.text) for block in blocks[first:]}
                nodes = [tree.get(turn) for turn in shown]
                least = min((node.depth for node in nodes if node.reply_key in kept), default=None)
                shown = frozenset(node.id for node in nodes if least is not None and node.depth >= least)
        depths = sorted(tree.get(turn).depth for turn in shown | (hidden if shown else frozenset()))
        depths.append(tree.get(place.parent).depth + 1)
        if depths[0] == 0 and depths[1] - 1 > sent - len(depths) + 1:
            del depths[0]  # the greeting of another chat that goes on here: it shows none of the turns behind it
        missing = depths[0] - 1
        arranged = Arranged(blocks)
        if self._carries(facts):
            volatile, write = start.memory.volatile, min(facts.writes.values(), default=1.0)
            fold = cut.fresh or volatile.pays(
                lambda: sum(self.counter.count(block.text) for block in blocks), write, facts.read
            )
            arranged = volatile.arrange(blocks, self.counter.count, fold=fold)
        return Layout(
            blocks=arranged.blocks,
            relocated=arranged.relocated,
            shown=shown,
            missing=missing,
            cut=cut.fresh,
            dropped=sent - sum(block.origin is Origin.HISTORY for block in blocks),
            whole=blocks,
            withheld=withheld,
        )

    def _carries(self, facts: ModelFacts) -> bool:
        if facts.cache == "none" or not self.settings.config.prompt_caching.enabled:
            return False
        return self.settings.config.prompt_caching.carry_floating

    def cut_notice(self, start: TurnStart, layout: Layout) -> str:
        """What the player is told when a piece of the history is left out of the prompt."""
        config, window = self.settings.config, start.facts.window
        most = config.token_budget.total_context_max
        limit = f"the model's window of {window} tokens" if window and window <= most else f"total_context_max: {most}"
        reason = f"do not fit into {limit}"
        if config.prompt_caching.cut_sliding:
            reason += ", or the client trims its history (cut_sliding)"
        return f"history: from now on the {layout.dropped} oldest messages are left out of the prompt, as they {reason}"

    def withheld_notice(self, start: TurnStart, layout: Layout) -> str:
        """What the player is told when messages are left out that the next speaker does not know of."""
        name = start.state.name(start.perspective.who) if start.perspective and start.perspective.who else "the speaker"
        return (
            f"group: {name} was not there for {layout.withheld} earlier messages, so this prompt leaves them out "
            "(session.group_knowledge)"
        )

    def _cut(self, start: TurnStart, blocks: tuple[Block, ...], *, ours: bool) -> Cut:
        budget, facts, place = self.settings.config.token_budget, start.facts, start.place
        most = min(budget.total_context_max, facts.window or budget.total_context_max)
        leading = sum(self.counter.count(block.text) for block in blocks if block.is_system)
        dynamic = in_window(budget.dynamic_context_max, facts.window)
        reserved = dynamic + budget.md_cache_max + budget.world_max + budget.state_block_instruction
        whole = int(most * _FILLED / self.models.scale(facts, start.request.model))
        own = most < budget.total_context_max
        room = whole - leading - (min(reserved, whole // 2) if own else reserved)
        if room < _LEAST_ROOM:
            if not own:
                return Cut(0)
            room = max(room, whole // 4)  # the model's own window: what is left out here would be refused or cut there
        return start.memory.cuts.place(
            blocks,
            place.live.tree,
            place.parent,
            room=room,
            told=_covered(start.state),
            count=self.counter.count,
            sliding=self.settings.config.prompt_caching.cut_sliding and not ours,
        )

    # -- the prefix --------------------------------------------------------------------------------------------

    async def prefix(self, start: TurnStart, layout: Layout) -> Prefix:
        """The prefix of a prompt. Pages are pinned anew if that pays."""
        place, facts, memory = start.place, start.facts, start.memory
        live, parent, language = place.live, place.parent, start.language
        world = self.texts.of_world(live.world)
        if not self._has_pages():
            return Prefix(_rules(start, language), world)
        if facts.cache != "none" and not memory.known:
            await self._restore(memory, live, parent)
        if start.perspective is not None:
            # Members take turns, so pages of their own are the same for several turns only if they go by turns.
            pin = await self._by_turns(live, parent, language)
            view = await self.perspectives.of(live, pin.turn, start.perspective.who)
            tag = language_of(pin.language).tag
            text = render_prefix(view.state, live.world, tag, self.counter.count, self.texts.budget.md_cache_max)
            return Prefix(_rules(start, tag), world, text, view.state)
        old = memory.pins.inherited(live.tree, parent)
        found = None
        if facts.cache == "none":
            pin = await self._by_turns(live, parent, language)
        elif old is None or not old.language:
            pin = Pin(parent, parent, "first", language)
        else:
            found = await self._in_front(start, world, old)
            reason = self._reason(start, layout, found)
            pin = old if reason is None else Pin(parent, parent, reason, language)
        repinned = old is None or pin.turn != old.turn
        if repinned:
            self.counters.add(f"pinned.{pin.reason}")
        memory.pins.decide(parent, pin)
        if found is None or pin is not old:
            found = await self._in_front(start, world, pin)
        return evolve(found, repinned=pin.reason) if repinned else found

    async def pages_at(self, live: LiveSession, parent: str) -> tuple[str, WorldState | None]:
        """The pages of a prompt that continues ``parent``, as far as they are known, and the state that they show.
        No pages are pinned or stored for it."""
        if not self._has_pages():
            return "", None
        memory = await self.memories.of(live.session.id)
        if not memory.known:
            await self._restore(memory, live, parent)
        pin = memory.pins.inherited(live.tree, parent)
        if pin is None or not pin.language:
            return "", None
        if pin.reason == "turns":
            pin = await self._by_turns(live, parent, pin.language)
        return await self.texts.of_pages(live, memory, pin.turn, language_of(pin.language).tag, sent=False)

    def _has_pages(self) -> bool:
        config = self.settings.config
        return config.prompt_caching.enabled and config.prompt_caching.strategy != "none"

    async def _restore(self, memory: HeldMemory, live: LiveSession, parent: str) -> None:
        """Restore the pins from the path's last bills, if nothing is stored of the session's prompts."""
        memory.known = True
        path = [node for node, _ in zip(live.tree.upwards(parent), range(_SEEDED), strict=False) if node.parent]
        try:
            bills = await self.ledger.of_turns(live.session.id, [node.id for node in path])
        except StoreError as error:
            self.counters.degrade("bill.read", str(error))
            return
        for node in path:
            bill = bills.get(node.id)
            if bill is not None and bill.pin in live.tree.nodes and node.parent:
                memory.pins.decide(node.parent, Pin(bill.pin, node.parent, "first", bill.language))

    async def _in_front(self, start: TurnStart, world: str, pin: Pin) -> Prefix:
        language = language_of(pin.language).tag
        rules = _rules(start, language)
        pages, state = await self.texts.of_pages(start.place.live, start.memory, pin.turn, language)
        return Prefix(rules, world, pages, state, pin)

    def _reason(self, start: TurnStart, layout: Layout, before: Prefix) -> Reason | None:
        """The reason to pin the pages anew; None if there is none."""
        assert before.pin is not None and before.state is not None
        memory, facts = start.memory, start.facts
        if before.pin.turn == start.place.parent:
            return None
        if layout.cut:
            return "cut"
        covered = _covered(before.state)
        if layout.missing > covered and _covered(start.state) > covered:
            return "curation"
        cost = memory.pins.accrued(before.pin)
        if cost.full and layout.missing > before.state.depth:
            return "full"
        if self._cold(start, layout, before):
            return "expired"
        if cost.tokens:
            plan = build_plan(layout.blocks, rules=before.rules, world=before.world, pages=_pages(start, before))
            behind = sum(
                self.counter.count(b.content)
                for b in plan.blocks
                if b.origin is Origin.HISTORY and isinstance(b.content, str)
            )
            if rewrite_pays(cost, behind, facts):
                return "cost"
        return None

    def _cold(self, start: TurnStart, layout: Layout, before: Prefix) -> bool:
        """Whether nothing of the history is in the cache. Checked only after a pause in which entries may expire."""
        prompts, facts = start.memory.prompts, start.facts
        pause = prompts.moments[-1] - prompts.moments[-2] if len(prompts.moments) > 1 else float("inf")
        if facts.cache == "automatic":
            return pause > facts.cache_seconds
        if pause < min((SECONDS[ttl] for ttl in facts.writes), default=0) - 10:
            return False
        plan = build_plan(layout.blocks, rules=before.rules, world=before.world, pages=_pages(start, before))
        return not prompts.warm(plan, facts, start.request.model, self.counter.count)

    async def _by_turns(self, live: LiveSession, parent: str, language: str) -> Pin:
        """A pin that depends only on the path, so that a swipe, a branch and a restart give the same prefix bytes. So
        does its language, because a remark in another language must not change them. At the opening, ``language`` is
        used."""
        depth = live.tree.get(parent).depth
        pinned = depth - depth % self.settings.config.prompt_caching.repin_every
        if depth:
            first = await live.turn(live.tree.ancestor_at(parent, max(1, pinned)).id)
            language = detect(first.user or first.reply, live.world.language)
        turn = live.tree.ancestor_at(parent, pinned).id
        return Pin(turn, turn, "turns", language)

    # -- the plan ----------------------------------------------------------------------------------------------

    def plan(
        self, start: TurnStart, layout: Layout, prefix: Prefix, context: TurnContext
    ) -> tuple[PromptPlan, Planned | None]:
        """The plan of a turn with its breakpoints, and the expected cache use if the model's cache is known."""
        memory, pin = start.memory, prefix.pin
        if pin is not None and pin.turn != start.place.parent:
            changed = [each for each in context.pieces if each.order == Slot.CHANGED and each.source == "briefing"]
            left_out = any(each.order == Slot.CHANGED and each.source == "briefing" for each in context.skipped)
            memory.pins.note_changes(pin, sum(each.tokens for each in changed), full=left_out)
        blocks, relocated = layout.blocks, layout.relocated
        if relocated and prefix.repinned == "expired":  # the prefix is rewritten, so settled text goes back into it
            arranged = memory.volatile.arrange(layout.whole, self.counter.count, fold=True)
            blocks, relocated = arranged.blocks, arranged.relocated
        rules, pages, text = prefix.rules, _pages(start, prefix), context.text
        if start.report == "after":
            text = as_note(text, start.language)
            # A model of the player's own that is told nothing needs no rules about it, and tells its story better.
            rules = rules if prefix.world or pages or text else ""
        plan = build_plan(blocks, rules=rules, world=prefix.world, pages=pages, context=text, relocated=relocated)
        marked, planned = self._marked(start, plan, turn=start.place.parent)
        if planned is not None:
            ours = (rules, prefix.world, pages, text)
            planned = evolve(
                planned,
                reason=prefix.repinned,
                pin=pin.turn if pin else "",
                language=pin.language if pin else "",
                added=sum(self.counter.count(text) for text in ours),
            )
        return marked, planned

    async def plan_aside(self, start: TurnStart) -> tuple[PromptPlan, Planned | None]:
        """The plan of a side request: the client's own prompt, which no later prompt continues."""
        plan = PromptPlan(await read_client_blocks(start.place.transcript.messages))
        return self._marked(start, plan, reading=True)

    def _marked(
        self, start: TurnStart, plan: PromptPlan, *, turn: str = "", reading: bool = False
    ) -> tuple[PromptPlan, Planned | None]:
        facts, model = start.facts, start.request.model
        if facts.cache == "none" or not self.settings.config.prompt_caching.enabled:
            return plan, None
        planned = start.memory.prompts.mark(
            plan,
            facts,
            model,
            self.counter.count,
            scale=self.models.scale(facts, model),
            turn=turn,
            reading=reading,
        )
        return planned.plan, planned


def _rules(start: TurnStart, language: str) -> str:
    block, call, note, counted = start.report == "block", start.report == "tool", start.report == "after", start.counted
    tools = start.request.tools or bool(start.request.own_tools)
    return static_rules(language, tools=tools, block=block, call=call, note=note, counted=counted)


def _pages(start: TurnStart, prefix: Prefix) -> str:
    """The pages as the narrator gets them."""
    language = prefix.pin.language if prefix.pin is not None else start.language
    return as_prose(prefix.pages, language) if start.report == "after" else prefix.pages


def _covered(state: WorldState) -> int:
    """The depth up to which the story of a state, and so its pages, cover the turns."""
    return max((part.last for part in state.story), default=0)


def _known_to_member(
    messages: Sequence[Mapping[str, Any]], unseen: Sequence[TurnNode]
) -> tuple[tuple[Mapping[str, Any], ...], int]:
    """Leave out the messages of turns that a member does not know of: their replies, and the words before them.

    A message is found by its text, so one that also belongs to a known turn is left out with the unknown one.
    """
    replies = {node.reply_key for node in unseen if node.reply_key}
    gone: set[int] = set()
    words: list[int] = []
    for at, message in enumerate(messages):
        if message.get("role") == "user":
            words.append(at)
        elif message.get("role") == "assistant":
            if identity_key(flatten(message.get("content") or "")) in replies:
                gone.update((*words, at))
            words = []
    return tuple(message for at, message in enumerate(messages) if at not in gone), len(gone)


# -- the history of a thin client, which sends only the player's last words -------------------------------------


def is_thin(transcript: Transcript) -> bool:
    """Whether a request has the player's words and no history before them."""
    return bool(transcript.words) and all(each.role == "user" for each in transcript.utterances)


async def _turns_before(live: LiveSession, parent: str, session: SessionConfig, now: float) -> list[Turn]:
    """The turns of the path to send with a request that continues ``parent``, the opening with its greeting first.

    The window moves in steps of half its size, so that the prompt's beginning stays the same in between.
    """
    step = max(1, session.history_turns // 2)
    depth = live.tree.get(parent).depth
    first = max(0, (depth - session.history_turns) // step * step)
    oldest = now - session.history_hours * _HOUR if session.history_hours else 0.0
    path = [node for node in live.tree.upwards(parent) if node.depth >= first]
    fresh = [node.depth for node in path if node.at >= oldest]
    if len(fresh) < len(path):
        begin = -(-min(fresh, default=depth + 1) // step) * step
        path = [node for node in path if node.depth >= begin]
    return await live.turns([node.id for node in reversed(path)])


def _with_history(messages: Sequence[Mapping[str, Any]], turns: Sequence[Turn]) -> tuple[Mapping[str, Any], ...]:
    """A request's messages with ``turns`` between its leading system messages and the rest."""
    first = next((at for at, m in enumerate(messages) if m.get("role") not in _SYSTEM), len(messages))
    history = [
        {"role": role, "content": text}
        for turn in turns
        for role, text in (("user", turn.user), ("assistant", turn.reply))
        if text
    ]
    return (*messages[:first], *history, *messages[first:])


# -- the texts of a prefix --------------------------------------------------------------------------------------


@define
class PrefixTexts:
    """Renders and caches the texts that come from stored state: the author's world, and the pages of a turn.

    The same turn always gives the same bytes. Pages are rendered once, and the ones used in a prompt are stored,
    because the state of their turn may be amended later, and the prefix must not change because of that.
    """

    budget: TokenBudget
    counter: TokenCounter
    memories: PromptMemories
    _rendered: LRUCache[tuple[str, str], tuple[str, WorldState]] = field(factory=lambda: LRUCache(_PREFIXES))
    _authored: dict[str, str] = field(factory=dict)
    """World digest -> its text in the prefix."""

    def of_world(self, world: World) -> str:
        """The author's text of the world. It never changes in a session, and comes before the pages."""
        text = self._authored.get(world.digest)
        if text is None:
            text = render_world(world, self.counter.count, self.budget.world_max)
            self._authored[world.digest] = text
        return text

    async def of_pages(
        self, live: LiveSession, memory: HeldMemory, turn: str, language: str, *, sent: bool = True
    ) -> tuple[str, WorldState]:
        """The pages of a turn, and the state that they show. Later amendments of the turn are told as changes. Unless
        they are ``sent``, pages that are not stored yet are not stored either."""
        if (rendered := self._rendered.get((turn, language))) is not None:
            return rendered
        page = await self.memories.page(live.session.id, memory, turn, language)
        if page is None:
            state = await live.state(turn)
            text = render_prefix(state, live.world, language, self.counter.count, self.budget.md_cache_max)
            if not sent:
                return text, state
            # Stored with the turn, because a prompt contains it from now on.
            memory.fresh[turn, language] = page = PinnedPage(text, state)
        self._rendered[turn, language] = page.text, page.state
        return page.text, page.state

    def forget(self) -> None:
        """Forget all rendered texts, so that they are rendered again."""
        self._rendered.clear()
        self._authored.clear()
