"""A session in memory: its tree, the states of its recent turns, and its index of episodes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from attrs import define, evolve, field
from cachetools import LRUCache

from saga_core.journal import Journal
from saga_core.model import (
    Delta,
    Node,
    Review,
    Session,
    Source,
    Status,
    Timeline,
    Tree,
    Turn,
    TurnKind,
    WorldState,
    fold,
    sharing,
    undoings,
)
from saga_core.projection import GraphImage, render_graph
from saga_core.recall import LexicalIndex, LoreIndex
from saga_core.sessions.prepared_world import PreparedWorld
from saga_core.world import World

_STATES = 64
_TURNS = 16
_IMAGES = 4
_FOLDED = 128
"""Turns that are folded before the event loop gets control again."""
_INDEXED = 32
"""Episodes that are indexed before the event loop gets control again."""


@define(eq=False, repr=False)
class LiveSession:
    """A session as requests and jobs use it. Made by ``LiveSessions``."""

    session: Session
    prepared: PreparedWorld
    tree: Tree
    journal: Journal
    amendments: dict[str, tuple[Delta, ...]]
    checkpoint_every: int
    episodes: LexicalIndex = field(factory=LexicalIndex)
    _states: LRUCache[str, WorldState] = field(factory=lambda: LRUCache(_STATES))
    _images: LRUCache[str, GraphImage] = field(factory=lambda: LRUCache(_IMAGES))
    _drawn: tuple[str, GraphImage] | None = None
    """The newest image and its turn. The next image is rendered from it."""
    _turns: LRUCache[str, Turn] = field(factory=lambda: LRUCache(_TURNS))
    slots: dict[int, float] = field(factory=dict)
    """Timeline slot -> time of its last use."""
    timelines: dict[str, Timeline] = field(factory=dict)
    """The named timelines, by name."""
    reviews: dict[str, tuple[Review, ...]] = field(factory=dict)
    """Turn -> reviews made at it."""
    touched: float = 0.0
    """The time of the last request that read it, in seconds since the epoch."""
    revision: int = 0
    """Grows with each amendment. States folded before an amendment may be outdated."""
    _unindexed: deque[str] = field(factory=deque)
    """Turns whose episodes are not in the index yet, oldest first."""
    unsealed: list[str] = field(factory=list)
    """Turns whose episodes are in the index but in no stored segment."""
    stale: list[str] = field(factory=list)
    """First turns of stored segments that are outdated."""

    @property
    def world(self) -> World:
        """The world as it was when the session began."""
        return self.prepared.world

    @property
    def lore(self) -> LoreIndex:
        """The index of the world's lore."""
        return self.prepared.lore

    def record(self, turn: Turn, node: Node, state: WorldState | None, *, indexed: bool = True) -> None:
        """Add a journaled turn. With ``indexed`` false, or while others wait, its episode waits for ``index``."""
        self.tree.add(node)
        self._turns[turn.id] = turn
        if node.episode:
            if indexed and not self._unindexed:
                self._add(node)
            else:
                self._unindexed.append(node.id)
        if state is not None:
            self.remember(state)

    async def index(self, turns: Sequence[str]) -> None:
        """Index all waiting episodes, a few at a time, if one of ``turns`` is among them."""
        if not set(turns).isdisjoint(self._unindexed):
            await self._index()

    async def index_all(self) -> None:
        """Index all episodes of the tree that are not in the index yet, after the tree was loaded."""
        self._unindexed.extend(sorted(turn for turn in self.tree.nodes if turn not in self.episodes))
        await self._index()

    async def _index(self) -> None:
        while self._unindexed:
            for _ in range(min(_INDEXED, len(self._unindexed))):
                node = self.tree.nodes.get(self._unindexed.popleft())
                if node is not None and node.episode:
                    self._add(node)
            await asyncio.sleep(0)

    def _add(self, node: Node) -> None:
        self.episodes.add(node.id, node.episode)
        self.unsealed.append(node.id)

    def amend(self, node: Node, later: tuple[Delta, ...]) -> None:
        """Set the ``later`` deltas of a turn and its amended ``node``, and drop the cached states from it on."""
        old = self.tree.get(node.id)
        self.amendments[node.id] = later
        self.tree.replace(node)
        if node.id in self.episodes and old.episode != node.episode:
            self.episodes.remove(node.id, old.episode)
            self._add(node)
        self.revision += 1
        for kept in (self._states, self._images):
            for turn in [each for each in kept if self.tree.is_ancestor(node.id, each)]:
                del kept[turn]
        if self._drawn and self._drawn[0] not in self._images:
            self._drawn = None

    def reviewed(self, review: Review) -> None:
        """Add a journaled review."""
        self.reviews[review.turn] = (*self.reviews.get(review.turn, ()), review)

    async def turn(self, turn_id: str) -> Turn:
        """Return a complete turn, from the cache if it was used or recorded recently. ``NotFound``."""
        found = self._turns.get(turn_id)
        if found is None:
            self.tree.get(turn_id)
            (found,) = await self.journal.turns(self.session.id, [turn_id])
        self._turns[found.id] = found
        return found

    def remember(self, state: WorldState) -> None:
        """Keep a state in the cache of the 64 most recently used."""
        self._states[state.turn] = state

    def effective(self, turn: Turn) -> Delta:
        """Return the turn's delta with its later amendments."""
        later = self.amendments.get(turn.id)
        return turn.delta.amended(later) if later else turn.delta

    async def state(self, turn_id: str) -> WorldState:
        """Return the state at a turn, from the cache or folded from the nearest checkpoint above it. ``NotFound``."""
        found = self._states.get(turn_id)
        if found is not None:
            return found
        while True:
            revision = self.revision
            states = await self._folded(turn_id)
            if revision == self.revision:  # otherwise a turn above was amended meanwhile
                for state in states:
                    self.remember(state)
                return states[-1]

    async def _folded(self, turn_id: str) -> deque[WorldState]:
        """Return the state at a turn, preceded by the last few states that were folded for it."""
        chain, base = await self._base(turn_id)
        states = deque((base,), maxlen=_STATES)
        for start in range(0, len(chain), _FOLDED):
            part = chain[start : start + _FOLDED]
            for turn, delta in zip(part, await self._deltas(part), strict=True):
                base = fold(base, delta, turn=turn, depth=self.tree.get(turn).depth)
                states.append(base)
            if start + _FOLDED < len(chain):
                await asyncio.sleep(0)
        return states

    async def _deltas(self, turns: Sequence[str]) -> list[Delta]:
        """Return the effective deltas of turns. Turns that an extraction replaces are not read from the journal."""
        found = {turn: self._turns[turn] for turn in turns if turn in self._turns}
        missing = [turn for turn in turns if turn not in found and not self._replaced(turn)]
        found |= {turn.id: turn for turn in await self.journal.turns(self.session.id, missing)}
        return [
            self.effective(found[turn]) if turn in found else Delta().amended(self.amendments[turn]) for turn in turns
        ]

    def extracted(self, turn: str) -> bool:
        """Whether an extraction model reported the turn's changes, even if they wait for the user or were undone."""
        return any(delta.source is Source.EXTRACTION for delta in self.amendments.get(turn, ()))

    def _replaced(self, turn: str) -> bool:
        """Whether an extraction replaces the turn's own delta."""
        later = self.amendments.get(turn, ())
        gone = undoings(later)
        return any(delta.source is Source.EXTRACTION and (not delta.id or delta.id not in gone) for delta in later)

    def unread(self, head: str) -> int:
        """Return the number of turns on the path to ``head`` that were not fully reported and not read by a model."""
        return sum(
            node.status in (Status.FALLBACK, Status.CUT)
            and node.kind not in (TurnKind.ROOT, TurnKind.SIDE)
            and not self.extracted(node.id)
            for node in self.tree.upwards(head)
        )

    async def _base(self, turn_id: str) -> tuple[list[str], WorldState]:
        """Return the turns below the nearest cached state, checkpoint or opening, and that state."""
        chain: list[str] = []
        base: WorldState | None = None
        for node in self.tree.upwards(turn_id):
            base = self._states.get(node.id)
            if base is None and node.depth and node.depth % self.checkpoint_every == 0:
                base = await self.journal.checkpoint(self.session.id, [node.id])
                base = base and sharing(base, self.prepared.opening)
            if base is not None:
                break
            chain.append(node.id)
        if base is None:
            root = chain.pop()
            base = evolve(self.prepared.opening, turn=root)
            later = self.amendments.get(root)
            if later:
                base = fold(base, Delta().amended(later), turn=root, depth=0)
        return chain[::-1], base

    async def image(self, turn_id: str) -> GraphImage:
        """Return the graph at a turn, rendered from its state. The last few are cached."""
        found = self._images.get(turn_id)
        if found is None:
            near = self._drawn[1] if self._drawn else self.prepared.image
            found = render_graph(await self.state(turn_id), self.world, lore=self.prepared.lore_graph, near=near)
            self._images[turn_id] = found
            self._drawn = turn_id, found
        return found

    def rest(self) -> None:
        """Free what an idle session does not need: all images except the last, from which the next is rendered."""
        self._images.clear()
        if self._drawn:
            turn, image = self._drawn
            image.rest()
            self._images[turn] = image

    @property
    def head(self) -> str:
        """The active head: the turn recorded last."""
        return self.session.head or self.tree.root
