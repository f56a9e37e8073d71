"""The prompt memories of all sessions: in memory during play, and stored beside their turns.

They are derived: losing them costs one cache write and nothing else. Under (``prompt``, session) there are two records
and the last pinned pages, as they were pinned, because later amendments of a turn must not change a prefix, even after
a restart.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from attrs import define, evolve, field, frozen
from cachetools import LRUCache

from saga_core import codec
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import StoreError
from saga_core.journal import keys
from saga_core.model import WorldState
from saga_core.prompt import PromptMemory, StoredMemory, StoredVolatile, keep, only, recall
from saga_core.stores import Batch, Key, StateKV
from saga_core.upstream import ModelFacts, facts_of

log = logging.getLogger("saga.prompt")

_SESSIONS = 256
_TELLING = 500
"""Fewest tokens of a prompt from which the provider's way of counting is learned."""
_SCALES = (0.5, 3.0)
_PAGES = 4
"""Pages of one session that are stored: those of the latest pins."""


@frozen
class PinnedPage:
    """Pages as they were pinned, and the state that they show."""

    text: str
    state: WorldState


@define
class HeldMemory(PromptMemory):
    """A session's memory, and which part of it is stored."""

    known: bool = False
    """Whether it was read from the store, or its pins from the ledger."""
    stored: dict[Key, bytes] = field(factory=dict)
    pages: list[tuple[str, str]] = field(factory=list)
    """The turns and languages of the stored pages, oldest first."""
    fresh: dict[tuple[str, str], PinnedPage] = field(factory=dict)
    """Pages that are not stored yet, by turn and language."""


@define(eq=False)
class PromptMemories:
    """Loads the memories, and determines which of their records to write."""

    kv: StateKV
    counters: Counters
    scales: dict[tuple[str, str], float] = field(factory=dict)
    """Provider and model -> the model's tokens per token as counted here, learned from bills."""
    _held: LRUCache[str, HeldMemory] = field(factory=lambda: LRUCache(_SESSIONS))

    async def of(self, session: str) -> HeldMemory:
        """A session's memory; an empty one if nothing is known or the store does not answer."""
        found = self._held.get(session)
        if found is None:
            loaded = await self._load(session)
            found = self._held.setdefault(session, loaded)
        return found

    async def page(self, session: str, memory: HeldMemory, turn: str, language: str) -> PinnedPage | None:
        """The pages of a turn as they were pinned, if they are stored or will be."""
        if (turn, language) in memory.fresh:
            return memory.fresh[turn, language]
        if (turn, language) not in memory.pages:
            return None
        key = keys.pinned_page(session, turn, language)
        try:
            raw = (await self.kv.get([key])).get(key)
            return None if raw is None else codec.decode(raw, PinnedPage)
        except StoreError as error:
            self._lost(session, error)
            return None

    def learn(self, model: tuple[str, str], counted: int, billed: int) -> None:
        """Note that the provider billed ``billed`` tokens for a prompt that counts ``counted`` here."""
        if min(counted, billed) >= _TELLING:
            seen = min(_SCALES[1], max(_SCALES[0], billed / counted))
            self.scales[model] = (self.scales[model] + seen) / 2 if model in self.scales else seen

    def changes(self, session: str, here: Callable[[str], bool]) -> Batch:
        """The records of a session's memory to write. Call ``stored`` once they are written.

        ``here`` tells whether the session has a turn. Nothing is written about turns that were pruned.
        """
        held = self._held.get(session)
        if held is None:
            return Batch()
        pages = [each for each in held.pages if each not in held.fresh and here(each[0])]
        pages = [*pages, *(each for each in held.fresh if here(each[0]))][-_PAGES:]
        kept, volatile = keep(held, self.scales)
        records: dict[Key, bytes] = {
            keys.prompt(session, "memory"): codec.encode(only(evolve(kept, pages=tuple(pages)), here)),
            keys.prompt(session, "floating"): codec.encode(volatile),
        }
        for each in pages:
            if each in held.fresh:
                records[keys.pinned_page(session, *each)] = codec.encode(held.fresh[each])
        puts = {key: raw for key, raw in records.items() if held.stored.get(key) != raw}
        gone = {keys.pinned_page(session, *each) for each in held.pages if each not in pages}
        return Batch(puts, frozenset(gone))

    def stored(self, session: str, batch: Batch) -> None:
        """Note that ``batch`` was written."""
        held = self._held.get(session)
        if held is None:
            return
        pages = [key[3:5] for key in batch.puts if key[2] == "page"]
        gone = {key[3:5] for key in batch.deletes}
        held.stored.update({key: raw for key, raw in batch.puts.items() if key[2] != "page"})
        held.pages = [each for each in held.pages if each not in gone and each not in pages]
        held.pages += [(turn, language) for turn, language in pages]
        for turn, language in pages:
            held.fresh.pop((turn, language), None)

    def forget(self, session: str | None = None) -> None:
        """Drop the memory of ``session``, or all memories, from the cache."""
        if session is None:
            self._held.clear()
        else:
            self._held.pop(session, None)

    async def _load(self, session: str) -> HeldMemory:
        memory, volatile = keys.prompt(session, "memory"), keys.prompt(session, "floating")
        try:
            found = await self.kv.get([memory, volatile])
            if memory not in found:
                return HeldMemory()
            kept = codec.decode(found[memory], StoredMemory)
            known = codec.decode(found[volatile], StoredVolatile) if volatile in found else StoredVolatile()
            recalled, scales = recall(kept, known)
        except (StoreError, ValueError, IndexError) as error:
            self._lost(session, error)
            return HeldMemory()
        for key, scale in scales.items():
            self.scales.setdefault(key, scale)
        self.counters.recover("prompt.memory")
        return HeldMemory(
            recalled.prompts, recalled.pins, recalled.cuts, recalled.volatile, True, dict(found), list(kept.pages)
        )

    def _lost(self, session: str, error: Exception) -> None:
        log.warning("session %s: its prompt memory cannot be read, the next prompt is cached anew: %s", session, error)
        self.counters.degrade("prompt.memory", str(error))


@define(eq=False)
class NarratorModels:
    """The facts about the models that narrate, as configured, and how their token counts compare with ours."""

    settings: Settings
    memories: PromptMemories

    def facts(self, model: str, provider: str) -> ModelFacts:
        """The facts about a model, as configured. A model without a name is not known to cache."""
        return facts_of(model, provider, self.settings.config.models.facts) if model else ModelFacts(provider)

    def scale(self, facts: ModelFacts, model: str) -> float:
        """The number of the model's tokens per token as counted here: learned from bills, or else from the facts."""
        return self.memories.scales.get((facts.provider, model), facts.scale)
