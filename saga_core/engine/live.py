"""A session in memory: its tree, the states of its recent turns, and its index of episodes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence

from attrs import define, evolve, field

from saga_core.curation.review import Review
from saga_core.engine.counters import Counters
from saga_core.engine.prepared_world import PreparedWorld
from saga_core.engine.sealing import restore
from saga_core.journal.journal import Journal
from saga_core.journal.timelines import Timeline
from saga_core.journal.tree import Node, Tree
from saga_core.model.deltas import Delta, Source
from saga_core.model.fold import fold
from saga_core.model.sharing import sharing
from saga_core.model.turn import Session, Turn
from saga_core.model.world_state import WorldState
from saga_core.projection.graph_image import GraphImage, render_graph
from saga_core.recall.lexical import LexicalIndex
from saga_core.recall.lore_index import LoreIndex
from saga_core.world.model import World

_STATES = 64
_TURNS = 16
_IMAGES = 4
_WORLDS = 16
"""Worlds from which on those without a session in memory are let go."""
_FOLDED = 128
"""Turns that are folded between two chances for others to run."""
_INDEXED = 32
"""Episodes that are indexed between two chances for others to run."""


@define(eq=False, repr=False)
class LiveSession:
    """What a session's requests and lane work with. Made by ``load_session``."""

    session: Session
    prepared: PreparedWorld
    tree: Tree
    journal: Journal
    amendments: dict[str, tuple[Delta, ...]]
    checkpoint_every: int
    episodes: LexicalIndex = field(factory=LexicalIndex)
    _states: OrderedDict[str, WorldState] = field(factory=OrderedDict)
    _images: OrderedDict[str, GraphImage] = field(factory=OrderedDict)
    _turns: OrderedDict[str, Turn] = field(factory=OrderedDict)
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
        self._keep(turn)
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

    def reviewed(self, review: Review) -> None:
        """Take in a review that the journal has."""
        self.reviews[review.turn] = (*self.reviews.get(review.turn, ()), review)

    async def turn(self, turn_id: str) -> Turn:
        """A turn, whole: at hand when it was asked for or recorded lately. ``NotFound``."""
        found = self._turns.get(turn_id)
        if found is None:
            self.tree.get(turn_id)
            (found,) = await self.journal.turns(self.session.id, [turn_id])
        self._keep(found)
        return found

    def _keep(self, turn: Turn) -> None:
        self._turns[turn.id] = turn
        self._turns.move_to_end(turn.id)
        while len(self._turns) > _TURNS:
            self._turns.popitem(last=False)

    def remember(self, state: WorldState) -> None:
        """Keep a state at hand; the least recently used go beyond 64."""
        self._states[state.turn] = state
        self._states.move_to_end(state.turn)
        while len(self._states) > _STATES:
            self._states.popitem(last=False)

    def effective(self, turn: Turn) -> Delta:
        """The turn's delta with its later amendments."""
        later = self.amendments.get(turn.id)
        return turn.delta.amended(later) if later else turn.delta

    async def state(self, turn_id: str) -> WorldState:
        """The state at a turn: at hand, or folded from the nearest checkpoint above it. ``NotFound``."""
        found = self._states.get(turn_id)
        if found is not None:
            self._states.move_to_end(turn_id)
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
        """The effective deltas of turns. One that was extracted is at hand; the others are read."""
        found = {turn: self._turns[turn] for turn in turns if turn in self._turns}
        missing = [turn for turn in turns if turn not in found and not self.extracted(turn)]
        found |= {turn.id: turn for turn in await self.journal.turns(self.session.id, missing)}
        return [
            self.effective(found[turn]) if turn in found else Delta().amended(self.amendments[turn]) for turn in turns
        ]

    def extracted(self, turn: str) -> bool:
        """Whether an extraction model reported what the turn changed."""
        return any(delta.source is Source.EXTRACTION for delta in self.amendments.get(turn, ()))

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
            near = next(reversed(self._images.values()), self.prepared.image)
            found = render_graph(await self.state(turn_id), self.world, lore=self.prepared.lore_graph, near=near)
            self._images[turn_id] = found
            while len(self._images) > _IMAGES:
                self._images.popitem(last=False)
        return found

    def rest(self) -> None:
        """Let go of what nobody needs while nobody plays: the images but the last, from which the next is drawn."""
        while len(self._images) > 1:
            self._images.popitem(last=False)
        for image in self._images.values():
            image.rest()

    @property
    def head(self) -> str:
        """The active head: the turn recorded last."""
        return self.session.head or self.tree.root


Loader = Callable[[str], Awaitable[LiveSession]]


@define(eq=False, repr=False)
class LiveSessions:
    """The sessions in memory: loaded once each, the least recently used let go beyond ``limit``."""

    journal: Journal
    counters: Counters
    busy: Callable[[str], bool]
    checkpoint_every: int
    limit: int = 64
    evicted: set[str] = field(factory=set)
    """Sessions that were let go from memory lately, for whoever keeps something in memory for them."""
    forgotten: int = 0
    """How often a session was let go because what is kept of it may be another."""
    _live: OrderedDict[str, LiveSession] = field(factory=OrderedDict)
    _loading: dict[str, asyncio.Task[LiveSession]] = field(factory=dict)
    _lore: dict[str, PreparedWorld] = field(factory=dict)
    _preparing: dict[str, asyncio.Task[PreparedWorld]] = field(factory=dict)

    async def get(self, session_id: str) -> LiveSession:
        """The session, loaded if need be. ``NotFound``."""
        found = self._live.get(session_id)
        if found is not None:
            self._live.move_to_end(session_id)
            return found
        task = self._loading.get(session_id)
        if task is None:
            task = asyncio.create_task(self._load(session_id))
            self._loading[session_id] = task
            task.add_done_callback(lambda _: self._loading.pop(session_id, None))
        # One caller's cancellation must not take the load away from the others.
        return await asyncio.shield(task)

    async def tree(self, session_id: str) -> Tree:
        """The session's tree."""
        return (await self.get(session_id)).tree

    def peek(self, session_id: str) -> LiveSession | None:
        """The session if it is in memory."""
        return self._live.get(session_id)

    def admit(self, live: LiveSession) -> None:
        """Keep a session in memory."""
        self._live[live.session.id] = live
        self._live.move_to_end(live.session.id)
        self.evicted.discard(live.session.id)
        for session_id in list(self._live):
            if len(self._live) <= self.limit:
                break
            if session_id != live.session.id and not self.busy(session_id):
                del self._live[session_id]
                self.evicted.add(session_id)

    def forget(self, session_id: str) -> None:
        """Let a session go from memory: what is kept of it may have been rewritten."""
        self._live.pop(session_id, None)
        self.forgotten += 1

    async def aclose(self) -> None:
        """Stop the loads that are under way and let all sessions go."""
        loading = [*self._loading.values(), *self._preparing.values()]
        for task in loading:
            task.cancel()
        await asyncio.gather(*loading, return_exceptions=True)
        self._live.clear()

    def __len__(self) -> int:
        return len(self._live)

    async def _world(self, digest: str) -> PreparedWorld:
        """The world, with what the sessions in it share."""
        known = self._lore.get(digest)
        if known is None:
            task = self._preparing.get(digest)
            if task is None:
                task = asyncio.create_task(self._prepare(digest))
                self._preparing[digest] = task
                task.add_done_callback(lambda _: self._preparing.pop(digest, None))
            known = await asyncio.shield(task)
        return known

    async def _prepare(self, digest: str) -> PreparedWorld:
        world = await self.journal.world(digest)
        # Beside the loop: a large world takes a tenth of a second.
        known = await asyncio.to_thread(PreparedWorld.of, world)
        if len(self._lore) >= _WORLDS:
            used = {live.session.digest for live in self._live.values()}
            self._lore = {each: found for each, found in self._lore.items() if each in used}
        self._lore[digest] = known
        return known

    async def _load(self, session_id: str) -> LiveSession:
        session = await self.journal.session(session_id)
        prepared = await self._world(session.digest)
        tree = await self.journal.tree(session_id)
        amendments = await self.journal.amendments(session_id)
        live = LiveSession(session, prepared, tree, self.journal, amendments, self.checkpoint_every)
        await restore(live)
        await live.index_all()
        live.timelines = await self.journal.timelines(session_id)
        live.reviews = await self.journal.reviews(session_id)
        self.counters.add("sessions.loaded")
        self.admit(live)
        return live
