"""The projector: updates graph, pages, key-value view and episode vectors to a turn.

Each live timeline has its own scope ``<session>.<slot>`` in the graph, the pages and the key-value view. The watermark
of each target says which turn it shows, so after a crash each target continues from where it stopped. An ordinary turn,
a swipe, a jump to another branch and a recovery are the same operation: applying the difference of two states.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from attrs import define, field

from saga_core import codec
from saga_core.background import Foreground
from saga_core.capabilities import Capability
from saga_core.errors import StoreCorrupt
from saga_core.journal import keys, rows, value
from saga_core.model import Turn, WorldState
from saga_core.ports import Clock
from saga_core.projection import GraphImage, difference, portions, render_graph, render_kv, render_pages
from saga_core.recall import episodes_scope
from saga_core.sessions import SILENT_FROM, LiveSession, seal, unread_replies
from saga_core.stores import Batch, Edge, EdgeKey, GraphStore, Key, MdCache, Node, Pages, StateKV
from saga_core.views.vector_views import VectorViews

log = logging.getLogger("saga.projection")

_NEAR = 8
"""Maximum distance in turns at which a slot is moved to a turn instead of using another slot. A swipe is 2 away."""
_CHUNK = 256
_VIEWED = 1_000
_PORTION = 2_000
"""Maximum nodes and edges of a new graph that are written at once."""


def scope_of(session_id: str, slot: int) -> str:
    """Return the scope of a live timeline."""
    return f"{session_id}.{slot}"


def session_of_scope(scope: str) -> str | None:
    """Return the session of a live timeline's ``scope``, or None for any other scope."""
    return scope.rpartition(".")[0] or None


@define(eq=False, kw_only=True)
class Projector(VectorViews):
    """Renders states into stores."""

    kv: StateKV
    graph: GraphStore
    cache: MdCache | None
    clock: Clock
    slots: int = 4
    foreground: Foreground = field(factory=Foreground)

    async def render(self, live: LiveSession, turns: Sequence[str], *, vectors: bool = True) -> None:
        """Render the scopes of the newest ``turns`` and of the head, and the turns' episodes.

        For amended turns, render all scopes that show them or turns below them. With ``vectors`` false, vectors of a
        semantic embedder are left out, because they may take long.
        """
        known = [turn for turn in turns if turn in live.tree]
        amended = [turn for turn in known if turn in live.amendments]
        await live.index(known)
        shown = await self._correct(live, amended) if amended else set[str]()
        await self.foreground.give_way()
        tips = _tips(live, [turn for turn in known if turn not in live.amendments])
        beside = [turn for turn in tips if turn != live.head]
        for turn in beside:
            await self.show(live, turn)
        # The head is last, so that turns above or beside it do not replace it.
        if known and (beside or live.head not in shown):
            await self.show(live, live.head)
        for turn in known:
            node = live.tree.get(turn)
            if node.depth and node.depth % live.checkpoint_every == 0:
                await live.journal.put_checkpoint(live.session.id, await live.state(turn))
        await seal(live)
        await self.foreground.give_way()
        # Vectors are last: an embedder may be slow, and the views above do not need it.
        if vectors or self.embedder is None or not self.embedder.semantic:
            await self.ensure_lore(live.world)
            await self._episodes(live, known)

    async def show(self, live: LiveSession, turn: str) -> int:
        """Update the scope of one live timeline to ``turn`` and return its slot."""
        slot = await self._slot(live, turn)
        await self._show_in(live, slot, turn)
        return slot

    async def let_go(self, evicted: set[str]) -> None:
        """Drop the graphs of sessions that were evicted from memory, if the store keeps graphs only in memory.

        They are rendered again when the session continues, as after a start. ``evicted`` is emptied.
        """
        info = self.graph.info
        if Capability.RESIDENT not in info.capabilities or info.location:
            evicted.clear()
        while evicted:
            await self.drop_graphs(evicted.pop())

    async def drop_graphs(self, session_id: str) -> None:
        """Drop the graphs of a session. They are rendered again when the session continues."""
        for slot in range(self.slots):
            await self.graph.drop(scope_of(session_id, slot))

    async def _show_in(self, live: LiveSession, slot: int, turn: str, *, shown: GraphImage | None = None) -> None:
        """Update a slot to ``turn``. ``shown`` is its current graph, if its watermark does not determine that."""
        scope = scope_of(live.session.id, slot)
        state = await live.state(turn)
        moved = await self._graph(live, scope, state, shown)
        await self.foreground.give_way()
        await self._view(scope, state)
        await self.foreground.give_way()
        await self._pages(live, scope, state, moved)
        live.slots[slot] = self.clock.monotonic()
        self.counters.add("projected")
        self.counters.emit("projected", session=live.session.id, turn=turn)

    async def _correct(self, live: LiveSession, amended: Sequence[str]) -> set[str]:
        """Render again the scopes that show amended turns or turns below them, because their states have changed.

        The graphs are read from the store, because no state describes their content any more. Returns the turns that
        were rendered.
        """

        def concerned(turn: str) -> bool:
            return any(live.tree.is_ancestor(each, turn) for each in amended)

        shown: set[str] = set()
        for slot in range(self.slots):
            scope = scope_of(live.session.id, slot)
            mark = await self.graph.watermark(scope)
            if mark is None:
                # After a start the graph is empty, but pages and view may still show the old state.
                marks = [each for each in await self._marks(scope) if each in live.tree and concerned(each)]
                if marks:
                    await self._show_in(live, slot, max(marks))
                    shown.add(max(marks))
            elif mark in live.tree and concerned(mark):
                await self._show_in(live, slot, mark, shown=await self._stored(scope))
                shown.add(mark)
        if live.head not in shown and concerned(live.head):
            await self.show(live, live.head)
            shown.add(live.head)
        return shown

    async def _stored(self, scope: str) -> GraphImage:
        """Return a scope's graph from the store."""
        nodes = {node.id: node for node in await self._all_nodes(scope)}
        ids, size = sorted(nodes), min(_PORTION, self.graph.info.limits.batch)
        edges: dict[EdgeKey, Edge] = {}
        for start in range(0, len(ids), size):
            found = await self.graph.neighbors(scope, ids[start : start + size])
            edges.update((edge.identity, edge) for edge in found)
            await self.foreground.give_way()
        return GraphImage(nodes, edges)

    async def shown(self, session_id: str) -> set[str | None]:
        """Return the turns that the graphs of a session's slots show."""
        return {await self.graph.watermark(scope_of(session_id, slot)) for slot in range(self.slots)}

    async def current_slot(self, live: LiveSession, turn: str) -> int | None:
        """Return the slot whose graph currently shows ``turn``, or None."""
        for slot in range(self.slots):
            if await self.graph.watermark(scope_of(live.session.id, slot)) == turn:
                return slot
        return None

    async def _slot(self, live: LiveSession, turn: str) -> int:
        """Return the slot nearest to ``turn``, or an empty or the least recently used slot if all are far away."""
        distances: dict[int, int] = {}
        for slot in range(self.slots):
            mark = await self.graph.watermark(scope_of(live.session.id, slot))
            if mark is not None and mark in live.tree:
                distances[slot] = live.tree.distance(mark, turn)
        near = min(distances, key=lambda slot: (distances[slot], slot), default=None)
        if near is not None and distances[near] <= _NEAR:
            return near
        free = next((slot for slot in range(self.slots) if slot not in distances), None)
        if free is not None:
            return free
        return min(range(self.slots), key=lambda slot: (live.slots.get(slot, 0.0), slot))

    async def _graph(self, live: LiveSession, scope: str, state: WorldState, shown: GraphImage | None = None) -> bool:
        """Update the graph of a scope. Returns False if it showed the state already.

        If the store is emptied meanwhile, what was written says only what differs from a graph that is gone.
        """
        emptied = getattr(self.graph, "emptied", 0)
        moved = await self._graph_once(live, scope, state, shown)
        while emptied != (emptied := getattr(self.graph, "emptied", 0)):
            await self.graph.drop(scope)
            moved = await self._graph_once(live, scope, state, None)
        return moved

    async def _graph_once(self, live: LiveSession, scope: str, state: WorldState, shown: GraphImage | None) -> bool:
        mark = await self.graph.watermark(scope)
        if mark == state.turn and shown is None:
            return False
        target = await live.image(state.turn)
        base = shown if shown is not None else await self._image_at(live, mark)
        if base is None:
            await self.graph.drop(scope)
            base = GraphImage()
        await self.foreground.give_way()
        parts = [difference(base, target, state.turn)]
        if base.nodes and parts[0].size > self.graph.info.limits.batch:
            await self.graph.drop(scope)
            base = GraphImage()
        if not base.nodes:
            parts = portions(target, state.turn, min(_PORTION, self.graph.info.limits.batch))
        for part in parts:
            await self.foreground.give_way()  # rendering a whole graph takes milliseconds, and so does applying it
            await self.graph.apply(scope, part)
        return True

    async def _image_at(self, live: LiveSession, mark: str | None) -> GraphImage | None:
        """Return the graph of a scope with that watermark, or None if it is unknown and must be rewritten."""
        if mark is None or mark not in live.tree:
            return None
        return await live.image(mark)

    async def _view(self, scope: str, state: WorldState) -> None:
        new = {keys.view(scope, name): value.encode() for name, value in render_kv(state).items()}
        old = (await self._viewed(scope)).keys()
        puts: dict[Key, bytes] = {**new, keys.view_mark(scope): codec.dumps(state.turn)}
        await self.kv.commit(Batch(puts, frozenset(old - new.keys())))

    async def _pages(self, live: LiveSession, scope: str, state: WorldState, moved: bool) -> None:
        if self.cache is None:
            return
        pages = self._rendered_pages(live, state, await live.turn(state.turn))
        # Pages name their turn, so those of another turn differ, and are not read.
        if moved or await self._read_pages(self.cache, scope) != pages:
            await self.cache.write(scope, pages)

    async def _read_pages(self, cache: MdCache, scope: str) -> Pages | None:
        try:
            return await cache.read(scope)
        except StoreCorrupt as error:
            log.warning("pages of %s are damaged and are written again: %s", scope, error)
            self.counters.add("pages.repaired")
            return None

    def _rendered_pages(self, live: LiveSession, state: WorldState, turn: Turn) -> Pages:
        unread = unread_replies(live.tree, turn.id)
        return render_pages(
            state,
            live.world,
            live.world.language,
            session=live.session.id,
            turn=turn,
            unread=unread if unread >= SILENT_FROM else 0,
        )

    async def drop(self, live: LiveSession) -> None:
        """Remove everything that stores have of a session."""
        await self.drop_unread(live.session.id)
        live.slots.clear()

    async def drop_unread(self, session_id: str) -> None:
        """As ``drop``, for a session that cannot be loaded."""
        self._whole.discard(episodes_scope(session_id))
        await self.vectors.drop(episodes_scope(session_id))
        for slot in range(self.slots):
            await self._drop_scope(scope_of(session_id, slot))

    async def _drop_scope(self, scope: str) -> None:
        await self.graph.drop(scope)
        if self.cache is not None:
            await self.cache.drop(scope)
        await self.kv.commit(Batch(deletes=frozenset([*await self._viewed(scope), keys.view_mark(scope)])))

    async def _viewed(self, scope: str) -> dict[Key, bytes]:
        """Return a scope's key-value view from the store."""
        return {key: raw async for key, raw in rows(self.kv, ("view", scope), _VIEWED)}

    async def remove(self, live: LiveSession, turns: Sequence[str]) -> None:
        """Remove turns from the stores: their episodes, and every scope that shows one of them."""
        if self.embedder is not None and await self.vectors.describe(episodes_scope(live.session.id)) is not None:
            for start in range(0, len(turns), _CHUNK):
                await self.vectors.delete(episodes_scope(live.session.id), ids=turns[start : start + _CHUNK])
        doomed = set(turns)
        for slot in range(self.slots):
            scope = scope_of(live.session.id, slot)
            if not doomed.isdisjoint(await self._marks(scope)):
                await self._drop_scope(scope)
                live.slots.pop(slot, None)

    async def _marks(self, scope: str) -> set[str]:
        """Return the turns that graph, view and pages of a scope show: one, unless a crash interrupted an update."""
        found = {await self.graph.watermark(scope) or ""}
        found.update(codec.loads(raw) for raw in (await self.kv.get([keys.view_mark(scope)])).values())
        if self.cache is not None:
            try:
                pages = await self.cache.read(scope)
            except StoreCorrupt:
                return found  # they are rewritten when the scope is shown
            found.add(pages.watermark if pages is not None else "")
        return found

    async def verify(self, live: LiveSession, slot: int) -> list[str]:
        """Compare a slot's graph, view and pages with the journal, and return the differences in words."""
        return [
            *await self.verify_graph(live, slot),
            *await self.verify_view(live, slot),
            *await self.verify_pages(live, slot),
        ]

    async def verify_graph(self, live: LiveSession, slot: int) -> list[str]:
        """Compare a slot's graph with the rendered graph of the turn that it shows."""
        scope = scope_of(live.session.id, slot)
        mark = await self.graph.watermark(scope)
        if mark is None:
            return []
        if mark not in live.tree:
            return [f"graph {scope}: shows {mark}, which is no turn of the session"]
        image = render_graph(await live.state(mark), live.world)
        stored = await self._stored(scope)
        found: list[str] = []
        for what, has, wanted in (("nodes", stored.nodes, image.nodes), ("edges", stored.edges, image.edges)):
            if has != wanted:
                found.append(f"graph {scope}: its {len(has)} {what} are not the {len(wanted)} that the journal gives")
        return found

    async def verify_view(self, live: LiveSession, slot: int) -> list[str]:
        """Compare a slot's key-value view with the rendered view of the turn that it shows."""
        scope = scope_of(live.session.id, slot)
        raw = await value(self.kv, keys.view_mark(scope))
        view = {key[-1]: text.decode("utf-8", "replace") for key, text in (await self._viewed(scope)).items()}
        if raw is None:
            return [f"view {scope}: has values, and says of no turn that it shows it"] if view else []
        mark = codec.loads(raw)
        if mark not in live.tree:
            return [f"view {scope}: shows {mark}, which is no turn of the session"]
        wanted = render_kv(await live.state(mark))
        return [f"view {scope}: {view} is not {wanted}"] if view != wanted else []

    async def verify_pages(self, live: LiveSession, slot: int) -> list[str]:
        """Compare a slot's pages with the rendered pages of the turn that they show."""
        scope = scope_of(live.session.id, slot)
        if self.cache is None:
            return []
        stored = await self.cache.read(scope)
        if stored is None:
            return []
        mark = stored.watermark
        if mark not in live.tree:
            return [f"pages {scope}: show {mark}, which is no turn of the session"]
        turn = await live.turn(mark)
        wanted = self._rendered_pages(live, await live.state(mark), turn)
        differ = [name for name in wanted.files if stored.files.get(name) != wanted.files[name]]
        return [f"pages {scope}: {', '.join(differ)} differ from the journal, or were edited"] if differ else []

    async def unshown(self, live: LiveSession, store: str) -> list[str]:
        """Return in words if the ``graph`` or the ``pages`` of a session do not show the turns that were rendered.

        The key-value view, which is in the journal, tells those turns by slot. A store that was emptied is filled again
        with the head alone, in any slot, so an empty slot counts only if no slot shows the head, or else any turn. What
        is kept only in memory may be empty.
        """
        at = self.graph if store == "graph" else self.cache
        if at is None or Capability.DURABLE not in at.info.capabilities:
            return []
        scopes = [scope_of(live.session.id, slot) for slot in range(self.slots)]
        marks = await self.kv.get([keys.view_mark(scope) for scope in scopes])
        rendered = {scope: codec.loads(raw) for scope in scopes if (raw := marks.get(keys.view_mark(scope)))}
        shows = {scope: mark for scope in rendered if (mark := await self._mark_in(store, scope)) is not None}
        filled = live.head in shows.values() if live.head in rendered.values() else bool(shows)
        return [
            f"{store} {scope}: shows {shows.get(scope, 'no turn')}, not {turn} that was rendered"
            for scope, turn in rendered.items()
            if shows.get(scope, turn if filled else None) != turn
        ]

    async def _mark_in(self, store: str, scope: str) -> str | None:
        """The turn that the graph or the pages of a scope show."""
        if store == "graph":
            return await self.graph.watermark(scope)
        pages = await self._read_pages(self.cache, scope) if self.cache is not None else None
        return pages.watermark if pages is not None else None

    async def rebuild(self, live: LiveSession) -> None:
        """Drop everything that stores have of a session, and render it again from the journal."""
        await self.drop(live)
        await self.ensure_lore(live.world)
        await self._episodes(live, list(live.tree.nodes))
        await self.show(live, live.head)

    async def _all_nodes(self, scope: str) -> list[Node]:
        rows: list[Node] = []
        after: str | None = None
        while page := await self.graph.scan(scope, after=after, limit=1_000):
            rows += page
            after = page[-1].id
            await self.foreground.give_way()
        return rows


def _tips(live: LiveSession, turns: Sequence[str]) -> list[str]:
    """Return the latest two of ``turns`` that no other of them continues. Showing these shows the others as well."""
    deepest = sorted((live.tree.get(turn) for turn in turns), key=lambda node: -node.depth)
    continued: set[str] = set()
    ends: set[str] = set()
    for end in deepest:
        if end.id in continued:
            continue
        ends.add(end.id)
        for node in live.tree.upwards(end.id):
            # Visit each turn once, because an imported chat has thousands of ends, and stop above the highest turn.
            if node.id in continued or node.depth < deepest[-1].depth:
                break
            continued.add(node.id)
    tips = [turn for turn in turns if turn in ends]
    if live.head in tips:
        tips = [turn for turn in tips if turn != live.head] + [live.head]
    return tips[-2:]
