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
"""Turns that are folded between two chances for others to run."""
_INDEXED = 32
"""Episodes that are indexed between two chances for others to run."""


@define(eq=False, repr=False)
class LiveSession:
    """A session as requests and jobs use it. Made by ``load_session``."""

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
    """The newest image and its turn: the next is drawn from it."""
    _turns: LRUCache[str, Turn] = field(factory=lambda: LRUCache(_TURNS))
    slots: dict[int, float] = field(factory=dict)
    """Timeline slot -> when it was used last."""
    timelines: dict[str, Timeline] = field(factory=dict)
    """The named ones, by name."""
    reviews: dict[str, tuple[Review, ...]] = field(factory=dict)
    """Turn -> what curators found at it."""
    touched: float = 0.0
    """When a request read it last, in seconds since the epoch."""
    revision: int = 0
    """Grows with each amendment: what was folded before one may no longer be so."""
    _unindexed: deque[str] = field(factory=deque)
    """Turns whose episodes are not in the index yet, oldest first."""
    unsealed: list[str] = field(factory=list)
    """Turns whose episodes are in the index and in no stored part of it."""
    stale: list[str] = field(factory=list)
    """First turns of stored parts of the index that are no longer right."""

    @property
    def world(self) -> World:
        """The world as it was when the session began."""
        return self.prepared.world

    @property
    def lore(self) -> LoreIndex:
        """The world's lore, as recall finds it."""
        return self.prepared.lore

    def record(self, turn: Turn, node: Node, state: WorldState | None, *, indexed: bool = True) -> None:
        """Take in a turn that the journal has. With ``indexed`` false, or others waiting, ``index`` indexes it."""
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
        """Index all episodes that wait for it, a few at a time, if ``turns`` are among them."""
        if not set(turns).isdisjoint(self._unindexed):
            await self._index()

    async def index_all(self) -> None:
        """Index the episodes of the whole tree, which was just read: those that are not in the index by now."""
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
        """Take in that a turn has ``later`` deltas, and is ``node`` with them; forget what was folded below it."""
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
        """Take in a review that the journal has."""
        self.reviews[review.turn] = (*self.reviews.get(review.turn, ()), review)

    async def turn(self, turn_id: str) -> Turn:
        """A turn, whole: at hand when it was asked for or recorded lately. ``NotFound``."""
        found = self._turns.get(turn_id)
        if found is None:
            self.tree.get(turn_id)
            (found,) = await self.journal.turns(self.session.id, [turn_id])
        self._turns[found.id] = found
        return found

    def remember(self, state: WorldState) -> None:
        """Keep a state at hand; the least recently used go beyond 64."""
        self._states[state.turn] = state

    def effective(self, turn: Turn) -> Delta:
        """The turn's delta with its later amendments."""
        later = self.amendments.get(turn.id)
        return turn.delta.amended(later) if later else turn.delta

    async def state(self, turn_id: str) -> WorldState:
        """The state at a turn: at hand, or folded from the nearest checkpoint above it. ``NotFound``."""
        found = self._states.get(turn_id)
        if found is not None:
            return found
        while True:
            revision = self.revision
            states = await self._folded(turn_id)
            if revision == self.revision:  # else a turn above was amended meanwhile
                for state in states:
                    self.remember(state)
                return states[-1]

    async def _folded(self, turn_id: str) -> deque[WorldState]:
        """The state at a turn, after those of the last few turns above it that had to be folded for it."""
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
        """The effective deltas of turns. What a model reported that counts is at hand; the others are read."""
        found = {turn: self._turns[turn] for turn in turns if turn in self._turns}
        missing = [turn for turn in turns if turn not in found and not self._replaced(turn)]
        found |= {turn.id: turn for turn in await self.journal.turns(self.session.id, missing)}
        return [
            self.effective(found[turn]) if turn in found else Delta().amended(self.amendments[turn]) for turn in turns
        ]

    def extracted(self, turn: str) -> bool:
        """Whether an extraction model reported what the turn changed, also if that waits for a person or was undone."""
        return any(delta.source is Source.EXTRACTION for delta in self.amendments.get(turn, ()))

    def _replaced(self, turn: str) -> bool:
        """Whether what a model reported stands for the turn's own delta."""
        later = self.amendments.get(turn, ())
        gone = undoings(later)
        return any(delta.source is Source.EXTRACTION and (not delta.id or delta.id not in gone) for delta in later)

    def unread(self, head: str) -> int:
        """How many turns of the path to ``head`` nobody reported all of, nor has a model read."""
        return sum(
            node.status in (Status.FALLBACK, Status.CUT)
            and node.kind not in (TurnKind.ROOT, TurnKind.SIDE)
            and not self.extracted(node.id)
            for node in self.tree.upwards(head)
        )

    async def _base(self, turn_id: str) -> tuple[list[str], WorldState]:
        """The nearest state at hand or checkpoint above a turn, or the opening, and the turns from there to it."""
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
        """The graph at a turn, rendered from its state; the last few are kept."""
        found = self._images.get(turn_id)
        if found is None:
            near = self._drawn[1] if self._drawn else self.prepared.image
            found = render_graph(await self.state(turn_id), self.world, lore=self.prepared.lore_graph, near=near)
            self._images[turn_id] = found
            self._drawn = turn_id, found
        return found

    def rest(self) -> None:
        """Let go of what nobody needs while nobody plays: the images but the last, from which the next is drawn."""
        self._images.clear()
        if self._drawn:
            turn, image = self._drawn
            image.rest()
            self._images[turn] = image

    @property
    def head(self) -> str:
        """The active head: the turn recorded last."""
        return self.session.head or self.tree.root
