"""Builds the prompt of a turn, and decides where it may be cached."""

from __future__ import annotations

from attrs import define, evolve

from saga_core import codec
from saga_core.billing import Bill
from saga_core.config import Settings
from saga_core.context import Slot, TurnContext
from saga_core.journal import keys
from saga_core.messages import PromptPlan
from saga_core.play.known_models import KnownModels
from saga_core.play.layout import Layout, Layouts
from saga_core.play.prefix import SEEDED, Prefix, Prefixes
from saga_core.play.prompt_memories import PromptMemories
from saga_core.ports import Clock, TokenCounter
from saga_core.prompt import Planned, PromptMemory, build_plan, read_client_blocks
from saga_core.sessions import LiveSession
from saga_core.stores import Batch
from saga_core.transcript import Transcript
from saga_core.upstream import ModelFacts


@define(eq=False, kw_only=True)
class Prompting:
    """Builds the prompts of all sessions."""

    settings: Settings
    models: KnownModels
    memories: PromptMemories
    layouts: Layouts
    prefixes: Prefixes
    clock: Clock
    counter: TokenCounter

    def forget(self) -> None:
        """Drop all cached prompts and pages. Stored ones are read again."""
        self.memories.forget()
        self.prefixes.texts.forget()

    async def note_request(self, live: LiveSession, parent: str) -> None:
        """Note that a request that continues ``parent`` came now."""
        session = await self.memories.of(live.session.id)
        moments = session.prompts.moments
        if not moments:
            path = [node.at for node, _ in zip(live.tree.upwards(parent), range(SEEDED), strict=False) if node.depth]
            moments.extend(sorted(path))
        session.prompts.record_request(self.clock.now())

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
        """The plan of a turn with its breakpoints, and the expected cache use if the model's cache is known."""
        session = await self.memories.of(live.session.id)
        if prefix.pin is not None and prefix.pin.turn != turn:
            changed = [each for each in context.pieces if each.order == Slot.CHANGED and each.source == "briefing"]
            left_out = any(each.order == Slot.CHANGED and each.source == "briefing" for each in context.skipped)
            session.pins.note_changes(prefix.pin, sum(each.tokens for each in changed), full=left_out)
        blocks, relocated = layout.blocks, layout.relocated
        if relocated and prefix.repinned == "expired":  # the prefix is rewritten, so settled text goes back into it
            arranged = session.volatile.arrange(layout.whole, self.counter.count, fold=True)
            blocks, relocated = arranged.blocks, arranged.relocated
        plan = build_plan(
            blocks,
            rules=prefix.rules,
            world=prefix.world,
            pages=prefix.pages,
            context=context.text,
            relocated=relocated,
        )
        marked, planned = self._marked(session, plan, facts, model, turn=turn)
        if planned is not None:
            pin = prefix.pin
            ours = (prefix.rules, prefix.world, prefix.pages, context.text)
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
        """The plan of a side request: the client's own prompt, which no later prompt continues."""
        session = await self.memories.of(live.session.id)
        plan = PromptPlan(await read_client_blocks(transcript.messages))
        return self._marked(session, plan, facts, model, reading=True)

    def _marked(
        self,
        session: PromptMemory,
        plan: PromptPlan,
        facts: ModelFacts,
        model: str,
        *,
        turn: str = "",
        reading: bool = False,
    ) -> tuple[PromptPlan, Planned | None]:
        if facts.cache == "none" or not self.settings.config.prompt_caching.enabled:
            return plan, None
        planned = session.prompts.mark(
            plan,
            facts,
            model,
            self.counter.count,
            scale=self.models.scale(facts, model),
            turn=turn,
            reading=reading,
        )
        return planned.plan, planned

    def beside(self, live: LiveSession, bill: Bill | None) -> Batch:
        """The records to write with a turn: its bill, and the session's prompt memory."""
        session = live.session.id
        changes = self.memories.changes(session, live.tree.nodes.__contains__)
        billed = {} if bill is None else {keys.bill(session, bill.turn, bill.call): codec.encode(bill)}
        return Batch({**changes.puts, **billed}, changes.deletes)

    def written(self, session: str, batch: Batch) -> None:
        """Note that the result of ``beside`` was written."""
        self.memories.stored(session, batch)
