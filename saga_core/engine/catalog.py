"""The catalog: sessions, turns, trees, states and views, for reading, resetting and deleting."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from attrs import define, evolve, field

from saga_core.billing.bill import Account, Bill
from saga_core.billing.ledger import Ledger
from saga_core.capabilities import Capability
from saga_core.config import Config
from saga_core.context.model import TurnContext
from saga_core.engine.counters import Counters
from saga_core.engine.curating import Curations
from saga_core.engine.extracting import Extractions
from saga_core.engine.lanes import Lanes
from saga_core.engine.live import LiveSession, LiveSessions
from saga_core.engine.open_stores import Stores
from saga_core.engine.projector import Projector, scope_of
from saga_core.engine.vector_filling import VectorFilling
from saga_core.errors import Conflict, NotFound, NotSupported
from saga_core.ids import IdSource
from saga_core.journal.journal import Journal, make_root
from saga_core.journal.removal import Removal
from saga_core.model.turn import Session, Turn
from saga_core.model.world_state import WorldState
from saga_core.ports import Clock
from saga_core.projection.describe import describe_state, graph_words
from saga_core.projection.graph_image import GraphImage
from saga_core.recall.episodes import PathEpisodes
from saga_core.stores.md_cache import Pages
from saga_core.text.normal import clean_name
from saga_core.world.library import WorldLibrary
from saga_core.world.model import World

_EXCERPT = 80
_LISTED = 50


@define(eq=False)
class Catalog:
    """What can be asked of the engine besides playing."""

    config: Config
    stores: Stores
    worlds: WorldLibrary
    clock: Clock
    ids: IdSource
    counters: Counters
    journal: Journal
    live: LiveSessions
    lanes: Lanes
    projector: Projector
    filling: VectorFilling
    extractions: Extractions
    curations: Curations
    _contexts: OrderedDict[str, TurnContext] = field(factory=OrderedDict, kw_only=True)

    async def new_session(self, world: World, *, owner: str = "", label: str = "", greeting: str = "") -> LiveSession:
        """Begin a session: its root and its world are recorded when this returns. ``Conflict`` for a taken label."""
        session_id, now = self.ids.new("s"), self.clock.now()
        root = make_root(session_id, self.ids.new("t"), now, greeting)
        session = Session(session_id, root.id, owner, label, world.name, world.digest, now, root.id)
        await self.journal.create_session(session, root, world)
        self.counters.add("sessions.created")
        self.lanes.submit(session_id, [root.id])
        return await self.live.get(session_id)

    async def named_session(self, name: str, owner: str, world: Callable[[], World]) -> tuple[Session, str]:
        """The session of ``owner`` with that label or id; begun in what ``world`` gives if there is none.

        Behind the last ``@`` may stand one of its named timelines, which comes back as the second value. Raises
        ``NotFound`` for a known session that has no timeline of that name.
        """
        found = await self._known_session(name, owner)
        if found is not None:
            return found, ""
        label, _, timeline = (clean_name(part) for part in name.rpartition("@"))
        above = await self._known_session(label, owner) if label and timeline else None
        if above is not None:
            known = (await self.live.get(above.id)).timelines
            if timeline not in known:
                named = ", ".join(sorted(known)) or "none"
                raise NotFound(
                    f"session {label!r} has no timeline {timeline!r}; it has: {named}. Fork it first, or name the"
                    f" session without {'@' + timeline!r}"
                )
            return above, timeline
        try:
            return (await self.new_session(world(), owner=owner, label=name)).session, ""
        except Conflict:
            # Another request with the same name came first.
            return await self.named_session(name, owner, world)

    async def _known_session(self, name: str, owner: str) -> Session | None:
        known = await self.journal.labelled(owner, name)
        if known is not None:
            return await self.journal.session(known)
        try:
            found = await self.journal.session(name)
        except NotFound:
            return None
        if found.owner != owner:
            raise NotFound(f"there is no session {name!r}")
        return found

    async def create_session(self, *, world: str | None = None, label: str = "", owner: str = "") -> Session:
        """Begin a session ahead of play. ``Conflict`` when the label is taken, ``BadInput`` for an unknown world."""
        chosen = self.worlds.choose(world, "", self.config.session.default_world)
        return (await self.new_session(chosen, owner=owner, label=label)).session

    async def session(self, session_id: str) -> Session:
        """A session by id, or by label where no owner has another of that label. ``NotFound``."""
        try:
            return await self.journal.session(session_id)
        except NotFound:
            named = [session for session in await self.journal.sessions() if session.label == session_id]
            if len(named) != 1:
                raise
            return named[0]

    async def _live(self, session_id: str) -> LiveSession:
        session = await self.session(session_id)
        await self.lanes.gates.opened(session.id)
        return await self.live.get(session.id)

    async def reset(self, session_id: str) -> Session:
        """Begin a session anew: all its turns, timelines and views go, its id, label and world stay."""
        async with self._changing(session_id) as live:
            (root,) = await self.journal.turns(live.session.id, [live.tree.root])
            fresh = make_root(live.session.id, self.ids.new("t"), self.clock.now(), root.reply)
            async with self.curations.letting_go(live.session.id):
                await self.projector.drop(live)
                return await self._removal(live).begin_anew(fresh)

    async def delete(self, session_id: str) -> None:
        """Remove a session from the journal and from every store. ``NotFound``."""
        async with self._changing(session_id) as live:
            await self._delete(live)

    async def _delete(self, live: LiveSession) -> None:
        async with self.curations.letting_go(live.session.id):
            await self.projector.drop(live)
            await self._removal(live).delete()

    @asynccontextmanager
    async def _changing(self, session_id: str, *, stop: bool = True) -> AsyncIterator[LiveSession]:
        """Nobody else writes the session meanwhile; afterwards it is read from the journal again."""
        session = await self.session(session_id)
        async with self.lanes.exclusive(session.id, journal=True, stop=stop):
            live = await self.live.get(session.id)
            try:
                yield live
            finally:
                self.live.forget(session.id)

    def _removal(self, live: LiveSession) -> Removal:
        return Removal(self.journal.kv, live.session, live.tree)

    async def cost(self, session_id: str) -> list[Bill]:
        """The bills of a session's calls, oldest first. ``NotFound``."""
        return await Ledger(self.stores.state).bills((await self.session(session_id)).id)

    async def costs(self) -> dict[str, Account]:
        """What each session that was billed cost, by its id."""
        return {session: Account.of(bills) for session, bills in (await Ledger(self.stores.state).everything()).items()}

    async def state(self, session_id: str, turn: str | None = None) -> WorldState:
        """The state at a turn, the active head's if none is named. ``NotFound``."""
        live = await self._live(session_id)
        return await live.state(turn or live.head)

    async def describe(self, session_id: str, turn: str | None = None) -> dict[str, Any]:
        """The state in names and plain data, JSON-able."""
        live = await self._live(session_id)
        return describe_state(await live.state(turn or live.head), live.session)

    async def turns(
        self,
        session_id: str,
        *,
        from_turn: int | None = None,
        to_turn: int | None = None,
        head: str | None = None,
    ) -> list[Turn]:
        """The turns of the path to ``head``, by depth, both bounds included; the root has depth 0."""
        live = await self._live(session_id)
        low, high = from_turn or 0, to_turn if to_turn is not None else 2**62
        ids = [node.id for node in live.tree.path(head or live.head) if low <= node.depth <= high]
        turns = await self.journal.turns(live.session.id, ids)
        return [evolve(turn, delta=live.effective(turn)) for turn in turns]

    async def tree(self, session_id: str) -> dict[str, Any]:
        """The whole tree, slim, with the beginning of what was said."""
        live = await self._live(session_id)
        ids = list(live.tree.nodes)
        turns = await self.journal.turns(live.session.id, ids)
        nodes = [
            {
                "id": turn.id,
                "parent": turn.parent,
                "depth": turn.depth,
                "kind": turn.kind.value,
                "at": turn.at,
                "user": turn.user[:_EXCERPT],
                "reply": turn.reply[:_EXCERPT],
                "status": live.effective(turn).status.value,
            }
            for turn in turns
        ]
        return {"session": live.session.id, "root": live.tree.root, "head": live.head, "nodes": nodes}

    async def graph(self, session_id: str) -> dict[str, Any]:
        """The graph at the active head: nodes, edges, and the edges in words."""
        live = await self._live(session_id)
        image: GraphImage = await live.image(live.head)
        return {
            "session": live.session.id,
            "watermark": live.head,
            "nodes": [
                {"id": node.id, "label": node.label, "properties": dict(node.properties)}
                for node in image.nodes.values()
            ],
            "edges": [
                {"source": e.source, "type": e.type, "target": e.target, "properties": dict(e.properties)}
                for e in image.edges.values()
            ],
            "words": graph_words(image),
        }

    async def pages(self, session_id: str) -> tuple[Pages | None, str | None]:
        """The pages of the active head's timeline, or of the one shown last, and the folder where they lie."""
        live = await self._live(session_id)
        if self.stores.cache is None:
            return None, None
        slot = await self.projector.current_slot(live, live.head)
        if slot is None:
            slot = max(live.slots, key=lambda used: live.slots[used], default=0)
        scope = scope_of(live.session.id, slot)
        return await self.stores.cache.read(scope), self.stores.cache.locate(scope)

    async def regenerate_pages(self, session_id: str) -> Pages:
        """Render the active head's pages anew from the journal. ``NotSupported`` when pages are switched off."""
        session = await self.session(session_id)
        if self.stores.cache is None:
            raise NotSupported("md_cache.enabled is false: there are no pages to render")
        async with self.lanes.exclusive(session.id):
            live = await self.live.get(session.id)
            slot = await self.projector.show(live, live.head)
            pages = await self.stores.cache.read(scope_of(session.id, slot))
        assert pages is not None
        return pages

    async def search(self, query: str, *, session_id: str, k: int = 10) -> list[dict[str, Any]]:
        """The turns of the active head's path that answer ``query`` best by their words, best first."""
        live = await self._live(session_id)
        episodes = PathEpisodes(live.tree, live.episodes, live.head)
        found = episodes.search(query, k, frozenset())
        return [
            {"turn": turn, "depth": episodes.depth(turn), "score": score, "text": episodes.text(turn)}
            for turn, score in sorted(found.items(), key=lambda each: (-each[1], each[0]))
        ]

    async def graph_query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Any]]:
        """Ask the graph engine in its own language. ``NotSupported`` unless it declares ``RAW_QUERY``."""
        store: Any = self.stores.graph
        if Capability.RAW_QUERY not in store.info.capabilities:
            raise NotSupported(
                f"the graph store {store.info.name!r} has no query language; choose one that has in storage.graph"
            )
        rows: list[dict[str, Any]] = await store.query(text, timeout=timeout, limit=limit)
        return rows

    def forget_contexts(self) -> None:
        """Keep none of the contexts of recent turns."""
        self._contexts.clear()

    async def status(self) -> dict[str, Any]:
        """How the engine is: stores and their health, work that waits, counters, degraded modes. JSON-able."""
        stores = {}
        for kind, store in self.stores.all().items():
            health = await store.check()
            info = store.info
            stores[kind] = {
                "backend": info.name,
                "version": info.version,
                "location": info.location,
                "capabilities": sorted(info.capabilities),
                "ok": health.ok,
                "detail": health.detail,
                "bytes": health.bytes,
            }
        return {
            "stores": stores,
            "embedder": self.stores.embedder.id,
            "tokens": self.stores.counter.id,
            "counting": getattr(self.stores.counter, "note", ""),
            "vectors": {
                "dimension": self.stores.embedder.dimension,
                "semantic": self.stores.embedder.semantic,
                **self.filling.describe(),
            },
            "sessions": {"live": len(self.live)},
            "work": {
                "queued": self.lanes.depth(),
                "waiting": [
                    {"session": each.session, "turn": each.turn, "kind": each.kind, "reason": each.reason}
                    for each in (
                        *self.lanes.waiting(),
                        *self.extractions.waiting(),
                        *self.curations.waiting(),
                        *self.filling.waiting(),
                    )[:_LISTED]
                ],
                "failed": self.extractions.failed()[:_LISTED],
            },
            "backfill": dict(list(self.extractions.progress().items())[-_LISTED:]),
            "curation": self.curations.describe(),
            "counters": dict(sorted(self.counters.counts.items())),
            "degraded": dict(self.counters.degraded),
            "worlds": self.worlds.names(),
        }

    async def verify(self, session_id: str) -> list[str]:
        """Compare every live timeline's views and the episodes with the journal; the differences in words.

        Drain first: work that waits is a difference too.
        """
        live = await self._live(session_id)
        found: list[str] = await self.projector.verify_episodes(live)
        for slot in range(self.projector.slots):
            found += await self.projector.verify(live, slot)
        return found

    async def rebuild(self, session_id: str) -> None:
        """Drop a session's graph, view, pages and vectors, and render them anew from the journal.

        Work that waits is done afterwards, as ever.
        """
        session = await self.session(session_id)
        async with self.lanes.exclusive(session.id):
            await self.projector.rebuild(await self.live.get(session.id))
