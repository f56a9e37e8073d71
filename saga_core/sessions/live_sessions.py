"""The sessions in memory, as requests and jobs use them. Each is loaded once, and evicted when others are played."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import define, evolve, field, frozen
from cachetools import LRUCache

from saga_core.counters import Counters
from saga_core.errors import Conflict, StoreError
from saga_core.hosting import WriteRights
from saga_core.journal import Journal
from saga_core.language import fold_name
from saga_core.model import (
    Delta,
    Review,
    Session,
    Source,
    Timeline,
    Tree,
    Turn,
    TurnNode,
    WorldState,
    deltas,
    edits,
    fold,
    sharing,
    undoings,
)
from saga_core.modules import NO_MODULES, Modules
from saga_core.projection import GraphImage, LoreGraph, StateLineKey, render_episode, render_graph, touched, witnesses
from saga_core.recall import PER_TURN, SIZE, LexicalIndex, LoreIndex, LoreMoment, PathEpisodes, Segment, mark_of, unpack
from saga_core.world import World, opening_state

# -- a session -------------------------------------------------------------------------------------------------


@frozen(eq=False, repr=False)
class PreparedWorld:
    """A world and the data derived from it. It is made once and shared by its sessions to save memory."""

    world: World
    lore: LoreIndex
    lore_graph: LoreGraph
    opening: WorldState
    """The state that sessions begin with, before it is assigned to a turn."""
    image: GraphImage
    """The graph of that state, with its caches cleared."""

    @classmethod
    def of(cls, world: World) -> PreparedWorld:
        """Prepare ``world``. This takes a tenth of a second for a large one."""
        lore_graph, opening = LoreGraph.of(world), opening_state(world, "")
        return cls(world, LoreIndex(world.lore), lore_graph, opening, render_graph(opening, world, lore=lore_graph))


_STATES = 64
_TURNS, _CHARACTERS = 16, 256_000
"""Turns whose texts are held, and the characters of all of them. Of a longer turn, the text is held until it rests."""
_IMAGES = 4
_FOLDED, _STEP = 128, 0.02
"""Turns, and seconds of CPU time, for which is folded before the event loop gets control again."""
_READ = 256
"""Turns that are read before the event loop gets control again."""
_INDEXED = 32
"""Episodes that are indexed before the event loop gets control again."""


def _size(turn: Turn) -> int:
    return min(max(len(turn.user) + len(turn.reply), _CHARACTERS // _TURNS), _CHARACTERS)


@define(eq=False, repr=False)
class LiveSession:
    """A session as requests and jobs use it. Made by ``LiveSessions``."""

    session: Session
    prepared: PreparedWorld
    tree: Tree
    journal: Journal
    amendments: dict[str, tuple[Delta, ...]]
    checkpoint_every: int
    _episodes: LexicalIndex = field(factory=LexicalIndex)
    _states: LRUCache[str, WorldState] = field(factory=lambda: LRUCache(_STATES))
    _images: LRUCache[str, GraphImage] = field(factory=lambda: LRUCache(_IMAGES))
    _drawn: tuple[str, GraphImage] | None = None
    """The newest image and its turn. The next image is rendered from it."""
    _turns: LRUCache[str, Turn] = field(factory=lambda: LRUCache(_CHARACTERS, _size))
    slots: dict[int, float] = field(factory=dict)
    """Timeline slot -> time of its last use."""
    timelines: dict[str, Timeline] = field(factory=dict)
    """The named timelines, by name."""
    reviews: dict[str, tuple[Review, ...]] = field(factory=dict)
    """Turn -> reviews made at it."""
    modules: Modules = NO_MODULES
    touched: float = 0.0
    """The time of the last request that read it, in seconds since the epoch."""
    outdated: bool = False
    """Whether the journal may have a change that is not here, because a commit failed. It is read again then."""
    revision: int = 0
    """Grows with each amendment. States folded before an amendment may be outdated."""
    _unindexed: deque[str] = field(factory=deque)
    """Turns whose episodes are not in the index yet as they are now, oldest first."""
    _replaced_texts: dict[str, str] = field(factory=dict)
    """Of those of them that are in the index with an earlier episode: that episode."""
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

    @property
    def episodes(self) -> LexicalIndex:
        """The index of the episodes. A few that wait are indexed first; many wait for ``index``."""
        if 0 < len(self._unindexed) <= _INDEXED:
            self._index_some()
        return self._episodes

    def record(self, turn: Turn, node: TurnNode, state: WorldState | None) -> None:
        """Add a journaled turn. Its episode is indexed later: a reply does not wait for that."""
        self.tree.add(node)
        self._turns[turn.id] = turn
        if node.episode:
            self._unindexed.append(node.id)
        if state is not None:
            self.remember(state)

    async def index(self, turns: Sequence[str]) -> None:
        """Index all waiting episodes, a few at a time and with pauses, if one of ``turns`` is among them."""
        if not set(turns).isdisjoint(self._unindexed):
            await self._index(_pause)

    async def index_all(self) -> None:
        """Index all episodes of the tree that are not in the index yet, after the tree was loaded."""
        self._unindexed.extend(sorted(turn for turn in self.tree.nodes if turn not in self._episodes))
        await self._index(lambda _: asyncio.sleep(0))

    async def _index(self, pause: Callable[[float], Awaitable[None]]) -> None:
        while self._unindexed:
            began = time.thread_time()
            self._index_some()
            await pause(began)

    def _index_some(self) -> None:
        for _ in range(min(_INDEXED, len(self._unindexed))):
            turn = self._unindexed.popleft()
            old, node = self._replaced_texts.pop(turn, None), self.tree.nodes.get(turn)
            if old is not None:
                self._episodes.remove(turn, old)
            if node is not None and node.episode:
                self._episodes.add(turn, node.episode)
                self.unsealed.append(turn)

    def amend(self, node: TurnNode, later: tuple[Delta, ...], *, folds: bool = True) -> None:
        """Set the ``later`` deltas of a turn and its amended ``node``. If it ``folds`` otherwise now, the cached states
        from it on are dropped."""
        self.amendments[node.id] = later
        self.note_text(node.id)
        self.replace(node)
        self.revision += 1
        if not folds:
            return
        for kept in (self._states, self._images):
            for turn in [each for each in kept if self.tree.is_ancestor(node.id, each)]:
                del kept[turn]
        if self._drawn and self._drawn[0] not in self._images:
            self._drawn = None

    def replace(self, node: TurnNode) -> None:
        """Put the changed ``node`` of a turn in place of the old one. A changed episode is indexed later."""
        old = self.tree.get(node.id)
        self.tree.replace(node)
        if node.id in self._episodes and node.id not in self._replaced_texts and old.episode != node.episode:
            self._replaced_texts[node.id] = old.episode
            self._unindexed.append(node.id)

    def note_text(self, turn: str) -> None:
        """Note in the tree whether later deltas of a turn edit its text."""
        if any(delta.is_of_the_text for delta in self.amendments[turn]):
            self.tree.edited.add(turn)

    def reviewed(self, review: Review) -> None:
        """Add a journaled review."""
        self.reviews[review.turn] = (*self.reviews.get(review.turn, ()), review)

    async def change(self, **fields: Any) -> None:
        """Record the session with other values of these fields. The caller must hold its write lock."""
        changed = evolve(self.session, **fields)
        with self.writing():
            await self.journal.put_session(changed)
        self.session = changed

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Around a commit: if it fails or does not end, it may have happened nevertheless."""
        try:
            yield
        except StoreError as error:
            self.outdated = not isinstance(error, Conflict) or self.outdated
            raise

    async def turn(self, turn_id: str) -> Turn:
        """Return a complete turn with its present text. ``NotFound``."""
        return self._shown(await self.recorded(turn_id))

    async def recorded(self, turn_id: str) -> Turn:
        """Return a turn as it was recorded, from the cache if it was used or recorded recently. ``NotFound``."""
        found = self._turns.get(turn_id)
        if found is None:
            self.tree.get(turn_id)
            (found,) = await self.journal.turns(self.session.id, [turn_id])
        self._turns[found.id] = found
        return found

    async def turns(self, turns: Sequence[str]) -> list[Turn]:
        """Return complete turns with their present texts, in this order. Raises ``StoreCorrupt`` if one is missing."""
        return [self._shown(turn) for turn in await self.journal.turns(self.session.id, turns)]

    async def each_turn(self, turns: Sequence[str]) -> AsyncIterator[Turn]:
        """Yield complete turns. Only a slice of them is held, and other tasks run in between."""
        for start in range(0, len(turns), _READ):
            for turn in await self.turns(turns[start : start + _READ]):
                yield turn
            await asyncio.sleep(0)

    def _shown(self, turn: Turn) -> Turn:
        return turn.edited(self.amendments[turn.id]) if turn.id in self.tree.edited else turn

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
            deltas, began = await self.deltas(part), time.thread_time()
            for turn, delta in zip(part, deltas, strict=True):
                if time.thread_time() - began > _STEP:
                    await asyncio.sleep(0)
                    began = time.thread_time()
                base = fold(base, delta, turn=turn, depth=self.tree.get(turn).depth)
                states.append(base)
            if start + _FOLDED < len(chain):
                await asyncio.sleep(0)
        return states

    async def deltas(self, turns: Sequence[str]) -> list[Delta]:
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
        return sum(node.unreported and not self.extracted(node.id) for node in self.tree.upwards(head))

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

    def remembered(self, state: WorldState) -> PathEpisodes:
        """Return the remembered turns of the path to ``state``."""
        return PathEpisodes(self.tree, self.episodes, state.turn, state.untrue, self.world.language)

    def rest(self) -> None:
        """Free what an idle session does not need: all images except the last, from which the next is rendered, and the
        text of a very long turn."""
        if len(self._turns) == 1 and self._turns.currsize == _CHARACTERS:
            self._turns.clear()
        self._images.clear()
        if self._drawn:
            turn, image = self._drawn
            image.rest()
            self._images[turn] = image

    def lore_moment(
        self,
        parent: str,
        messages: Sequence[str],
        *,
        seed: str,
        triggers: frozenset[str] = frozenset({"normal"}),
        speakers: Iterable[str] = (),
    ) -> LoreMoment:
        """Return the input for lore with its own rules after the turn ``parent``: the last ``messages``, the latest
        first, the turn's number, the entries told before, and the characters, ``speakers`` of the chat among them.
        """
        kept, depth = self.lore.kept, self.tree.get(parent).depth
        told: dict[str, int] = {}
        for node in self.tree.upwards(parent) if kept.timed else ():
            for name in node.told:
                told.setdefault(name, PER_TURN * node.depth)
        sheets = (sheet.name for sheet in self.world.characters if not sheet.player)
        return LoreMoment(
            messages=messages[: kept.deepest],
            count=PER_TURN * (depth + 1),
            replies=depth,
            seed=seed,
            triggers=triggers,
            characters=frozenset(map(fold_name, (*sheets, *speakers))),
            told=told,
        )

    @property
    def head(self) -> str:
        """The active head: the turn recorded last."""
        return self.session.head or self.tree.root


async def _pause(began: float) -> None:
    """Leave the event loop to others for as long as the step took that began at this CPU time of the thread."""
    await asyncio.sleep(time.thread_time() - began)


# -- amending a turn -------------------------------------------------------------------------------------------


async def amend(
    live: LiveSession,
    turn_id: str,
    delta: Delta,
    number: str,
    *more: tuple[str, Delta],
    review: Review | None = None,
    retells: bool = False,
) -> list[str]:
    """Record ``delta``, then ``more``, as later deltas of a turn. ``number`` orders it after the earlier ones.

    The same commit contains the ``review``, the turn's updated episode, the removal of the checkpoints below, and a job
    for the turn's views. With ``retells``, also the updated episodes of the turns below that happened at a place which
    is another one now; many of them are written in parts (``Journal.amend``). The caller must hold the session
    exclusively and queue the views of the turns that are returned: the turn and those below it. Raises ``NotFound`` and
    ``StoreError``; then nothing changed, but after a ``StoreError`` with ``retells`` the journal may have the change,
    and the session must be forgotten and settled.
    """
    recorded = await live.recorded(turn_id)
    later = (*live.amendments.get(turn_id, ()), delta, *(other for _, other in more))
    turn, whole = recorded.edited(later), recorded.delta.amended(later)
    folds = whole != live.effective(recorded)
    node = evolve(live.tree.get(turn_id), status=whole.status)
    if turn.parent is not None:
        before = await live.state(turn.parent)
        after = fold(before, whole, turn=turn.id, depth=turn.depth)
        if node.episode:
            episode = render_episode(whole, after, turn.user, turn.reply, live.world.language)
            node = evolve(node, episode=episode, present=witnesses(live.tree.get(turn.parent), before, after))
    else:
        after = fold(evolve(live.prepared.opening, turn=turn.id), Delta().amended(later), turn=turn.id, depth=0)
    below = [each async for each in _elsewhere_now(live, turn.id, after)] if retells else []
    stale = [
        below.id
        for below in (live.tree.nodes.values() if folds else ())
        if below.depth % live.checkpoint_every == 0 and live.tree.is_ancestor(turn_id, below.id)
    ]

    async def write() -> None:
        with live.writing():
            await live.journal.amend(live.session.id, number, delta, node, stale, below, more=more, review=review)
        live.amend(node, later, folds=folds)
        for each in below:
            live.replace(each)
        if review is not None:
            live.reviewed(review)

    writing = asyncio.create_task(write())
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])  # the session is held until memory has what the journal has
        raise
    return [turn.id, *(each.id for each in below)]


async def _elsewhere_now(live: LiveSession, top: str, after: WorldState) -> AsyncIterator[TurnNode]:
    """Yield the turns below ``top``, with new episodes, whose place is another if the state at ``top`` is ``after``."""
    level = [(top, await live.state(top), after)]
    while level:
        inner: list[tuple[str, WorldState, WorldState]] = []
        for parent, old, new in level:
            if new.merged.get(old.location or "", old.location) == new.location:
                continue
            async for turn in live.each_turn(live.tree.children.get(parent, ())):
                delta, node = live.effective(turn), live.tree.get(turn.id)
                was, now = (fold(each, delta, turn=turn.id, depth=turn.depth) for each in (old, new))
                inner.append((turn.id, was, now))
                if node.episode and was.location != now.location:
                    episode = render_episode(delta, now, turn.user, turn.reply, live.world.language)
                    told = evolve(node, episode=episode, present=witnesses(live.tree.get(parent), new, now))
                    if told != node:
                        yield told
        level = inner


# -- what the user said by hand --------------------------------------------------------------------------------


@frozen
class SaidByHand:
    """What a user added and corrected that the pages in the prompt do not show."""

    notes: tuple[str, ...] = ()
    """The added notes that are valid, oldest first."""
    corrected: frozenset[StateLineKey] = frozenset()
    """The keys of the statements that were corrected at the turn of the pages or later."""


def said_by_hand(live: LiveSession, state: WorldState, pages: str, shown: WorldState | None) -> SaidByHand:
    """Return what a user said on the path to ``state``. ``shown`` is the state that ``pages`` show, if any."""
    if not live.amendments:
        return SaidByHand()
    none = state.depth + 1
    oldest = state.notes[0][0] if state.notes else none
    since = none if shown is None else shown.depth
    held = {text for _, text in state.notes}
    notes: list[str] = []
    corrected: set[StateLineKey] = set()
    for node in live.tree.upwards(state.turn):
        if node.depth < min(oldest, since):
            break
        later = live.amendments.get(node.id)
        if not later:
            continue  # as for almost all turns of a path
        made = edits(later)
        said = [each.text for each in made if isinstance(each, deltas.Noted)]
        notes += reversed([text for text in said if text in held and text not in pages])
        if node.depth >= since:
            corrected.update(key for event in made for key in touched(event))
    return SaidByHand(tuple(dict.fromkeys(reversed(notes))), frozenset(corrected))


# -- the stored index ------------------------------------------------------------------------------------------
#
# Index segments: the index of a session's episodes, stored in parts so that a long session loads without reading them.
#
# A segment is checked against the episodes from which it was made. If it no longer matches, it is ignored, its episodes
# are indexed again, and it is removed when the next segment is written.

log = logging.getLogger("saga.live")

_AT_ONCE = 32
"""Episodes that are indexed before the event loop gets control again."""


async def restore(live: LiveSession) -> None:
    """Load the stored segments into the session's index, which must be empty."""
    for first, raw in await live.journal.segments(live.session.id):
        try:
            segment = unpack(raw)
        except ValueError as error:
            log.info("session %s: a segment of its index is rebuilt: %s", live.session.id, error)
            live.stale.append(first)
            continue
        texts = _texts(live, segment)
        if texts is None:
            live.stale.append(first)
        else:
            live.episodes.take(segment, texts)
        await asyncio.sleep(0)


def _texts(live: LiveSession, segment: Segment) -> list[str] | None:
    """Return the episodes of a segment, or None if they no longer match it."""
    texts: list[str] = []
    for turn, mark in zip(segment.ids, segment.marks, strict=True):
        node = live.tree.nodes.get(turn)
        if node is None or not node.episode or turn in live.episodes or mark_of(node.episode) != mark:
            return None
        texts.append(node.episode)
    return texts


async def parts_with(live: LiveSession, turns: Collection[str]) -> list[str]:
    """Return the first turns of the stored segments that contain one of ``turns`` or cannot be read."""
    found = []
    for first, raw in await live.journal.segments(live.session.id):
        try:
            kept = unpack(raw).ids
        except ValueError:
            kept = tuple(turns)
        if not set(turns).isdisjoint(kept):
            found.append(first)
    return found


async def seal(live: LiveSession) -> None:
    """Store the complete segments of the index: runs of 256 episodes."""
    if len(live.unsealed) < SIZE:
        return
    waiting = [turn for turn in dict.fromkeys(live.unsealed) if turn in live.tree]
    live.unsealed = []
    try:
        while len(waiting) >= SIZE:
            await _seal(live, waiting[:SIZE])
            del waiting[:SIZE]
    finally:
        live.unsealed[:0] = waiting


async def _seal(live: LiveSession, run: list[str]) -> None:
    part, texts = LexicalIndex(), [live.tree.get(turn).episode for turn in run]
    for start in range(0, len(run), _AT_ONCE):
        began = time.thread_time()
        for turn, text in zip(run[start : start + _AT_ONCE], texts[start : start + _AT_ONCE], strict=True):
            part.add(turn, text)
        await _pause(began)
    began = time.thread_time()
    stale, packed = list(live.stale), part.packed(texts)
    await _pause(began)
    await live.journal.put_segment(live.session.id, run[0], packed, stale)
    live.stale = [turn for turn in live.stale if turn not in stale]


# -- all sessions ----------------------------------------------------------------------------------------------

_WORLDS = 16
"""The number of worlds from which on worlds without a session in memory are removed."""
_NAMED = 8
"""The maximum number of lore entries that a warning names."""


@define(eq=False, repr=False)
class LiveSessions:
    """The sessions in memory. Each is loaded once. Beyond ``limit``, the least recently used is evicted."""

    journal: Journal
    counters: Counters
    busy: Callable[[str], bool]
    checkpoint_every: int
    limit: int = 64
    ownership: WriteRights | None = None
    """Set if several servers share the journal."""
    before_load: Callable[[str], Awaitable[None]] | None = None
    """Awaited before a session is read from the journal."""
    modules: Modules = NO_MODULES
    evicted: set[str] = field(factory=set)
    """Recently evicted sessions, for parts that keep their own data in memory for them."""
    forgotten: int = 0
    """How often a session was dropped because its stored data may have changed."""
    loads: Counter[str] = field(factory=lambda: Counter[str]())
    """How often each session was loaded. Only loaded sessions are ever changed."""
    _live: OrderedDict[str, LiveSession] = field(factory=OrderedDict)
    _loading: dict[str, asyncio.Task[LiveSession]] = field(factory=dict)
    _outdated: set[str] = field(factory=set)
    """Sessions that were dropped while they were being read."""
    _lore: dict[str, PreparedWorld] = field(factory=dict)
    _preparing: dict[str, asyncio.Task[PreparedWorld]] = field(factory=dict)

    async def get(self, session_id: str) -> LiveSession:
        """Return the session, and load it if necessary. ``NotFound``."""
        while True:
            found = self._live.get(session_id)
            if found is not None and found.outdated:
                self.forget(session_id)
                found = None
            if found is not None and self.ownership is not None:
                current = await self.ownership.is_current(session_id)
                if self._live.get(session_id) is not found:
                    continue  # dropped or loaded again meanwhile, so the answer is outdated
                if not current:
                    self.forget(session_id)
                    found = None
            if found is not None:
                self._live.move_to_end(session_id)
                return found
            task = self._loading.get(session_id)
            begun_before = task is not None
            if task is None:
                task = asyncio.create_task(self._load(session_id))
                self._loading[session_id] = task
                task.add_done_callback(lambda _: self._loaded(session_id))
            # The cancellation of one caller must not cancel the load for the others.
            live = await asyncio.shield(task)
            if self.ownership is None or not begun_before:
                return live
            # Another server may have written the session after that load began and before this call.

    async def tree(self, session_id: str) -> Tree:
        """Return the session's tree."""
        return (await self.get(session_id)).tree

    def peek(self, session_id: str) -> LiveSession | None:
        """Return the session if it is in memory and no other server writes it."""
        if self.ownership is not None and not self.ownership.holds(session_id):
            return None
        return self._live.get(session_id)

    def admit(self, live: LiveSession) -> None:
        """Keep a session in memory."""
        self._live[live.session.id] = live
        self._live.move_to_end(live.session.id)
        self.evicted.discard(live.session.id)
        self.trim(keep=live.session.id)

    def trim(self, keep: str = "") -> None:
        """Evict the sessions used least recently beyond the limit, but none that is busy, and not ``keep``."""
        if len(self._live) <= self.limit:
            return
        for session_id in list(self._live):
            if session_id != keep and not self.busy(session_id):
                del self._live[session_id]
                self.evicted.add(session_id)
                if len(self._live) <= self.limit:
                    break

    def forget(self, session_id: str) -> None:
        """Drop a session from memory, because its stored data may have been rewritten. A running load begins again."""
        self._live.pop(session_id, None)
        if session_id in self._loading:
            self._outdated.add(session_id)
        self.forgotten += 1

    async def aclose(self) -> None:
        """Cancel the running loads and drop all sessions."""
        loading = [*self._loading.values(), *self._preparing.values()]
        for task in loading:
            task.cancel()
        await asyncio.gather(*loading, return_exceptions=True)
        self._live.clear()

    def __len__(self) -> int:
        return len(self._live)

    async def _world(self, digest: str) -> PreparedWorld:
        """Return the world with the data that its sessions share."""
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
        # In a thread, because a large world takes a tenth of a second.
        known = await asyncio.to_thread(PreparedWorld.of, world)
        if len(self._lore) >= _WORLDS:
            used = {live.session.digest for live in self._live.values()}
            self._lore = {each: found for each, found in self._lore.items() if each in used}
        self._lore[digest] = known
        if unread := known.lore.kept.unread:
            self.counters.degrade(
                "lore.patterns",
                f"world {world.name}: {len(unread)} entries of lore have keys that are patterns which cannot be matched"
                f" in bounded time, and open nothing: {', '.join(unread[:_NAMED])}{', …' * (len(unread) > _NAMED)};"
                " install the extra lore (google-re2), or write the keys as words",
            )
        return known

    def _loaded(self, session_id: str) -> None:
        self._loading.pop(session_id, None)
        self._outdated.discard(session_id)

    async def _load(self, session_id: str) -> LiveSession:
        while True:
            self._outdated.discard(session_id)
            if self.before_load is not None:
                await self.before_load(session_id)
            found = await self.ownership.loading(session_id) if self.ownership is not None else 0
            live = await self._read(session_id)
            if session_id in self._outdated:
                continue
            if self.ownership is None or self.ownership.is_loaded(session_id, found):
                break
        self.counters.add("sessions.loaded")
        self.loads[session_id] += 1
        self.admit(live)
        return live

    async def _read(self, session_id: str) -> LiveSession:
        session = await self.journal.session(session_id)
        prepared = await self._world(session.digest)
        tree = await self.journal.tree(session_id)
        amendments = await self.journal.amendments(session_id)
        live = LiveSession(session, prepared, tree, self.journal, amendments, self.checkpoint_every)
        for turn in amendments:
            live.note_text(turn)
        live.modules = self.modules.of_world(prepared.world.modules)
        await restore(live)
        await live.index_all()
        live.timelines = await self.journal.timelines(session_id)
        live.reviews = await self.journal.reviews(session_id)
        return live
