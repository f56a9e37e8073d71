"""The layout of a request: which part of its history is sent, and which text of the client's prompt is volatile."""

from __future__ import annotations

from attrs import define, frozen

from saga_core.config import Settings
from saga_core.messages import Block, Origin
from saga_core.model import WorldState
from saga_core.play.known_models import KnownModels
from saga_core.play.prompt_memories import PromptMemories
from saga_core.play.server_history import is_thin, turns_before, with_history
from saga_core.ports import Clock, TokenCounter
from saga_core.prompt import Arranged, Cut, PromptMemory, read_client_blocks
from saga_core.sessions import LiveSession
from saga_core.transcript import Transcript, identity_key
from saga_core.upstream import ModelFacts

_FILLED = 0.95
"""The part of the window that a prompt may fill. The rest is for the reply."""
_LEAST_ROOM = 1_000
"""If fewer tokens than this are left for the history, nothing is cut."""


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
    whole: tuple[Block, ...]
    """The blocks with the volatile text still in place."""


@define(eq=False, kw_only=True)
class Layouts:
    """Lays out the requests of all sessions."""

    settings: Settings
    models: KnownModels
    memories: PromptMemories
    clock: Clock
    counter: TokenCounter

    async def of(
        self,
        live: LiveSession,
        parent: str,
        transcript: Transcript,
        shown: frozenset[str],
        facts: ModelFacts,
        model: str,
    ) -> Layout:
        """Choose the part of the history for a prompt that continues ``parent``, and take out its volatile text.

        ``shown`` are the turns of the path that are in the history as the client sent it.
        """
        session = await self.memories.of(live.session.id)
        messages = transcript.messages
        ours = self.settings.config.session.server_history and is_thin(transcript)
        if ours:
            told = await turns_before(live, parent, self.settings.config.session, self.clock.now())
            messages, shown = with_history(messages, told), frozenset(turn.id for turn in told)
        blocks = await read_client_blocks(messages)
        cut = self._cut(session, live, parent, blocks, await live.state(parent), facts, model, ours=ours)
        if cut.start:
            first = sum(block.origin is Origin.CLIENT for block in blocks)
            if cut.start > first:
                blocks = (*blocks[:first], *blocks[cut.start :])
                # An edited reply has another key, so every turn below an unedited reply counts as shown.
                kept = {identity_key(block.text) for block in blocks[first:]}
                nodes = [live.tree.get(turn) for turn in shown]
                least = min((node.depth for node in nodes if node.reply_key in kept), default=None)
                shown = frozenset(node.id for node in nodes if least is not None and node.depth >= least)
        depths = [live.tree.get(turn).depth for turn in shown]
        missing = min(depths) - 1 if depths else live.tree.get(parent).depth
        arranged = Arranged(blocks)
        if self._carries(facts):
            behind = sum(self.counter.count(block.text) for block in blocks)
            write = min(facts.writes.values(), default=1.0)
            fold = cut.fresh or session.volatile.pays(behind, write, facts.read)
            arranged = session.volatile.arrange(blocks, self.counter.count, fold=fold)
        return Layout(
            blocks=arranged.blocks,
            relocated=arranged.relocated,
            shown=shown,
            missing=missing,
            cut=cut.fresh,
            whole=blocks,
        )

    def _carries(self, facts: ModelFacts) -> bool:
        if facts.cache == "none" or not self.settings.config.prompt_caching.enabled:
            return False
        return self.settings.config.prompt_caching.carry_floating

    def _cut(
        self,
        session: PromptMemory,
        live: LiveSession,
        parent: str,
        blocks: tuple[Block, ...],
        state: WorldState,
        facts: ModelFacts,
        model: str,
        *,
        ours: bool,
    ) -> Cut:
        budget = self.settings.config.token_budget
        most = min(budget.total_context_max, facts.window or budget.total_context_max)
        leading = sum(self.counter.count(block.text) for block in blocks if block.is_system)
        reserved = budget.dynamic_context_max + budget.md_cache_max + budget.world_max + budget.state_block_instruction
        room = int(most * _FILLED / self.models.scale(facts, model)) - leading - reserved
        if room < _LEAST_ROOM:
            return Cut(0)
        told = max((part.last for part in state.story), default=0)
        return session.cuts.place(blocks, live.tree, parent, room=room, told=told, count=self.counter.count, ours=ours)
