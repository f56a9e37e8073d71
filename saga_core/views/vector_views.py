"""Vectors of lore and of earlier turns: determines which vectors are missing, and writes them."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Collection, Sequence

from attrs import define, field

from saga_core.counters import Counters
from saga_core.errors import StoreCorrupt
from saga_core.model import Tree, TurnNode
from saga_core.ports import Embedder
from saga_core.recall import episodes_scope, lore_scope, passage_of, spec_of
from saga_core.sessions import LiveSession
from saga_core.stores import VectorItem, VectorStore
from saga_core.stores.vector import cosine
from saga_core.world import LoreEntry, World

log = logging.getLogger("saga.projection")

_CHUNK = 256
_ALIKE = 0.999
"""Minimum cosine of two vectors of the same text. A remote model does not return the same bytes twice."""


OF_EMBEDDER = "the embedder failed, not a store"


async def passages(embedder: Embedder, texts: Sequence[str]) -> list[array[float]]:
    """Return a vector for each of ``texts``. Every error of the embedder has the note ``OF_EMBEDDER``."""
    try:
        return await embedder.embed(texts, "passage")
    except BaseException as error:
        error.add_note(OF_EMBEDDER)
        raise


@define(eq=False, kw_only=True)
class VectorViews:
    """The part of the projector that handles vectors."""

    vectors: VectorStore
    embedder: Embedder | None
    counters: Counters
    on_lore: Sequence[Callable[[str], None]] = ()
    """Called with each complete scope of lore. The contents of a scope are determined by its name."""
    _ready_lore: set[str] = field(factory=set)
    _lore_left: dict[str, dict[str, LoreEntry]] = field(factory=dict)
    """Entries without a vector by scope of lore, for scopes that were checked."""
    _whole: set[str] = field(factory=set)
    """Scopes of sessions whose episodes all have a vector."""

    async def ensure_lore(self, world: World, most: int | None = None) -> bool:
        """Write missing vectors of a world's lore, at most ``most``, and return whether the scope is complete.

        Existing vectors are kept, because an earlier process may have ended half way.
        """
        scope = lore_scope(world.digest)
        if self.embedder is None or scope in self._ready_lore or not world.lore:
            return True
        if scope not in self._lore_left:
            await self._create(scope)
            there = await self._there(scope, [entry.name for entry in world.lore])
            self._lore_left[scope] = {entry.name: entry for entry in world.lore if entry.name not in there}
        left = self._lore_left[scope]
        for part in _parts(list(left.values())[:most]):
            vectors = await passages(self.embedder, [f"{entry.name}\n{entry.text}" for entry in part])
            await self.vectors.upsert(
                scope,
                [
                    VectorItem(entry.name, vector, "", {"layer": entry.layer, "type": entry.type})
                    for entry, vector in zip(part, vectors, strict=True)
                ],
            )
            for entry in part:
                left.pop(entry.name, None)
        if left:
            return False
        self._lore_left.pop(scope, None)
        self._ready_lore.add(scope)
        for listener in self.on_lore:
            listener(scope)
        return True

    def forget_lore(self) -> None:
        """Check again on next use whether the vectors of lore and of earlier turns are complete."""
        self._ready_lore.clear()
        self._lore_left.clear()
        self._whole.clear()

    def look_again(self, session: str) -> None:
        """Check again on next use whether all episodes of a session have a vector. Others may have written it."""
        self._whole.discard(episodes_scope(session))

    async def renew_lore(self, live: LiveSession) -> None:
        """Drop and rewrite the vectors of the world's lore."""
        scope = lore_scope(live.world.digest)
        self._ready_lore.discard(scope)
        self._lore_left.pop(scope, None)
        await self.vectors.drop(scope)
        await self.ensure_lore(live.world)

    async def _episodes(self, live: LiveSession, turns: Sequence[str]) -> None:
        """Write the vectors of turns, and those of all other turns without one if the scope is not complete.

        An embedder that is not semantic gets no vectors, because the search by words finds the same turns.
        """
        nodes = [node for turn in turns if (node := live.tree.get(turn)).episode]
        if self.embedder is None or not nodes:
            return
        scope = episodes_scope(live.session.id)
        if not self.embedder.semantic:
            if await self.vectors.describe(scope) is not None:
                await self.vectors.drop(scope)
            return
        session = live.session.id
        lacking = await self.lacking(session, live.tree, [node.id for node in nodes])
        for start in range(0, len(lacking), _CHUNK):
            part = lacking[start : start + _CHUNK]
            vectors = await passages(self.embedder, [passage_of(node.episode) for node in part])
            await self.put_episodes(session, part, vectors)
        self.mark_whole(session)

    async def lacking(self, session: str, tree: Tree, fresh: Collection[str]) -> list[TurnNode]:
        """Return the ``fresh`` turns and all turns without a vector of this embedder, if they have an episode.

        An earlier rebuild may have ended half way, so completeness is checked once per session.
        """
        scope = episodes_scope(session)
        if await self._create(scope):
            self._whole.discard(scope)
        wanted = set(fresh)
        told = [node for turn in wanted if turn in tree and (node := tree.get(turn)).episode]
        if scope in self._whole:
            return told
        nodes = [node for node in tree.nodes.values() if node.episode]
        if await self.vectors.count(scope) == len(nodes):
            return told
        there = await self._there(scope, [node.id for node in nodes])
        return [node for node in nodes if node.id in wanted or node.id not in there]

    async def _there(self, scope: str, ids: Sequence[str]) -> set[str]:
        """Return the ``ids`` that a scope has. A scope that cannot be read is recreated empty."""
        found: set[str] = set()
        try:
            for start in range(0, len(ids), _CHUNK):
                found.update(await self.vectors.get(scope, ids[start : start + _CHUNK]))
        except StoreCorrupt as error:
            log.warning("vectors of %s are damaged and are made again: %s", scope, error)
            self.counters.add("vectors.rebuilt")
            await self.vectors.drop(scope)
            await self._create(scope)
            return set()
        return found

    def mark_whole(self, session: str) -> None:
        """Record that all episodes of a session have a vector."""
        self._whole.add(episodes_scope(session))

    async def put_episodes(self, session: str, nodes: Sequence[TurnNode], vectors: Sequence[array[float]]) -> bool:
        """Write the vectors of turns. Returns whether the scope was created now, so that all others are missing."""
        scope = episodes_scope(session)
        made = await self._create(scope)
        if made:
            self._whole.discard(scope)
        await self.vectors.upsert(
            scope,
            [
                VectorItem(node.id, vector, "", {"depth": node.depth})
                for node, vector in zip(nodes, vectors, strict=True)
            ],
        )
        return made

    async def is_right(self, scope: str) -> bool:
        """Whether a scope exists and was made by this embedder."""
        embedder = self.embedder
        return embedder is not None and await self.vectors.describe(scope) == spec_of(scope, embedder)

    async def _create(self, scope: str) -> bool:
        """Ensure that the scope exists for this embedder. Returns whether it was created now and is empty."""
        assert self.embedder is not None
        spec = spec_of(scope, self.embedder)
        found = await self.vectors.describe(scope)
        if found is not None and found != spec:
            # Vectors of two embedders are never mixed: the scope is recreated and filled from the journal.
            log.warning("vectors of %s were made by %s; %s makes them again", scope, found.embedder, spec.embedder)
            self.counters.add("vectors.rebuilt")
            await self.vectors.drop(scope)
        await self.vectors.create(scope, spec)
        return found != spec

    async def verify_episodes(self, live: LiveSession, waiting: Collection[str] = ()) -> list[str]:
        """Compare a session's episode vectors with those computed from the journal, and return the differences.

        Turns that are ``waiting`` for their views may have a vector or not.
        """
        if self.embedder is None:
            return []
        scope = episodes_scope(live.session.id)
        stored: dict[str, VectorItem] = {}
        after: str | None = None
        while page := await self.vectors.scan(scope, after=after, limit=_CHUNK):
            stored.update((item.id, item) for item in page)
            after = page[-1].id
        nodes = [node for node in live.tree.nodes.values() if node.episode and node.id not in waiting]
        if not self.embedder.semantic:
            nodes = []
        if stored.keys() - set(waiting) != {node.id for node in nodes}:
            return [f"vectors {scope}: {len(stored)} episodes, the journal gives {len(nodes)}"]
        found = []
        for start in range(0, len(nodes), _CHUNK):
            part = nodes[start : start + _CHUNK]
            vectors = await passages(self.embedder, [passage_of(node.episode) for node in part])
            for node, vector in zip(part, vectors, strict=True):
                item = stored[node.id]
                if not alike(item.vector, vector) or item.metadata != {"depth": node.depth}:
                    found.append(f"vectors {scope}: the episode of {node.id} differs from the journal")
        return found


def _parts(entries: Sequence[LoreEntry]) -> list[Sequence[LoreEntry]]:
    return [entries[start : start + _CHUNK] for start in range(0, len(entries), _CHUNK)]


def alike(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two vectors are of the same text, allowing for an embedder's variation."""
    if list(one) == list(other):
        return True
    return len(one) == len(other) and cosine(one, other) >= _ALIKE
