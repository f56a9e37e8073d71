"""The prefix texts that come from stored state: the author's world, and the pages of a turn.

Pages are rendered once. The ones used in a prompt are stored, because the state of their turn may be amended later, and
the prefix must not change because of that.
"""

from __future__ import annotations

from attrs import define, field
from cachetools import LRUCache

from saga_core.config import TokenBudget
from saga_core.model import WorldState
from saga_core.play.prompt_memories import KeptPage, PromptMemories
from saga_core.ports import TokenCounter
from saga_core.projection import render_prefix, render_world
from saga_core.sessions import LiveSession
from saga_core.world import World

_PREFIXES = 256


@define
class PrefixTexts:
    """Renders and caches the texts: the same turn always gives the same bytes."""

    budget: TokenBudget
    counter: TokenCounter
    memories: PromptMemories
    _rendered: LRUCache[tuple[str, str], tuple[str, WorldState]] = field(factory=lambda: LRUCache(_PREFIXES))
    _authored: dict[str, str] = field(factory=dict)
    """World digest -> its text in the prefix."""

    def of_world(self, world: World) -> str:
        """The author's text of the world. It never changes in a session, and comes before the pages."""
        found = self._authored.get(world.digest)
        if found is None:
            found = render_world(world, self.counter.count, self.budget.world_max)
            self._authored[world.digest] = found
        return found

    async def of_pages(self, live: LiveSession, turn: str, language: str) -> tuple[str, WorldState]:
        """The pages of a turn, and the state that they show. Later amendments of the turn are told as changes."""
        found = self._rendered.get((turn, language))
        if found is None:
            session = live.session.id
            kept = await self.memories.page(session, turn, language)
            if kept is None:
                kept = KeptPage(*await self._made(live, turn, language))
                await self.memories.pinned(session, turn, language, kept)
            found = kept.text, kept.state
            self._rendered[turn, language] = found
        return found

    async def shown(self, live: LiveSession, turn: str, language: str) -> tuple[str, WorldState]:
        """Like ``of_pages``, but read-only: pages that are not stored are rendered without being stored."""
        found = self._rendered.get((turn, language))
        if found is not None:
            return found
        kept = await self.memories.page(live.session.id, turn, language)
        return (kept.text, kept.state) if kept is not None else await self._made(live, turn, language)

    async def _made(self, live: LiveSession, turn: str, language: str) -> tuple[str, WorldState]:
        state = await live.state(turn)
        return render_prefix(state, live.world, language, self.counter.count, self.budget.md_cache_max), state

    def forget(self) -> None:
        """Forget all rendered texts, so that they are rendered again."""
        self._rendered.clear()
        self._authored.clear()
