"""Views of a session: its state at any turn, its turns, its graph, its pages, and explanations of contexts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, evolve, field

from saga_core.arguments import checks_arguments
from saga_core.background import Supervisor
from saga_core.capabilities import Capability
from saga_core.config import Settings
from saga_core.context import ContextReader, RecentContexts, TurnContext, explain_context
from saga_core.errors import NotFound, NotSupported
from saga_core.journal import Journal
from saga_core.model import Turn, WorldState
from saga_core.projection import GraphImage, describe_state, graph_words
from saga_core.sessions import LiveSession, LiveSessions, SessionDirectory, SharedMemories, turn_named
from saga_core.stores import GraphStore, MdCache, Pages
from saga_core.views.explain import InFront, reading_after, reread, shown_lore, untold, with_signals
from saga_core.views.projector import Projector, scope_of
from saga_core.views.search import Knowledge, TurnItems
from saga_core.world import World

_EXCERPT = 80


@checks_arguments
@define(eq=False, kw_only=True)
class Views:
    """Reads the views. Each ``session_id`` may be a label."""

    directory: SessionDirectory
    live: LiveSessions
    journal: Journal
    graph_store: GraphStore
    cache: MdCache | None
    projector: Projector
    supervisor: Supervisor
    reader: ContextReader
    contexts: RecentContexts
    shared: SharedMemories
    front: InFront
    settings: Settings
    authored: Callable[[World], str]
    """Returns the author's text of a world, as in every prompt."""
    _brought: TurnItems = field(factory=TurnItems, init=False)

    async def state(self, session_id: str, turn: str | None = None) -> WorldState:
        """Return the state at a turn, by default the active head. Raises ``NotFound``."""
        live = await self.directory.load(session_id)
        return await live.state(turn_named(live, turn or None))

    async def describe(self, session_id: str, turn: str | None = None) -> dict[str, Any]:
        """Return the state with names as JSON-compatible data."""
        live = await self.directory.load(session_id)
        at = turn_named(live, turn or None)
        state, language = await live.state(at), live.world.language
        return {**describe_state(state, live.session, language), "modules": live.modules.sections(state, language)}

    async def picture(self, session_id: str, module: str, turn: str | None = None) -> str:
        """Return the SVG that a module draws of the state. Raises ``NotFound`` if there is none."""
        live = await self.directory.load(session_id)
        found = live.modules.picture(module, await live.state(turn_named(live, turn or None)), live.world.language)
        if not found:
            known = ", ".join(each.name for each in live.modules.modules) or "none"
            raise NotFound(f"no module {module!r} draws a picture; enabled are {known}: set modules.{module}.enabled")
        return found

    async def turns(
        self,
        session_id: str,
        *,
        from_turn: int | None = None,
        to_turn: int | None = None,
        head: str | None = None,
    ) -> list[Turn]:
        """Return the turns of the path to ``head``, by depth. Both bounds are inclusive; the root has depth 0.

        ``head`` is an id, or a timeline's name for its head; None for the active head.
        """
        live = await self.directory.load(session_id)
        end = turn_named(live, head or None)
        low, high = from_turn or 0, to_turn if to_turn is not None else 2**62
        ids = [node.id for node in live.tree.path(end) if low <= node.depth <= high]
        turns = await live.turns(ids)
        return [evolve(turn, delta=live.effective(turn)) for turn in turns]

    async def tree(self, session_id: str) -> dict[str, Any]:
        """Return the whole tree, with short excerpts of the words and replies."""
        live = await self.directory.load(session_id)
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
            async for turn in live.each_turn(list(live.tree.nodes))
        ]
        return {"session": live.session.id, "root": live.tree.root, "head": live.head, "nodes": nodes}

    async def graph(self, session_id: str, turn: str | None = None) -> dict[str, Any]:
        """Return the graph at a turn (default: the active head): nodes, edges, and the edges in words.

        Raises ``NotFound``.
        """
        live = await self.directory.load(session_id)
        at = turn_named(live, turn)
        image: GraphImage = await live.image(at)
        return {
            "session": live.session.id,
            "watermark": at,
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

    async def graph_query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Any]]:
        """Query the graph engine in its own language. Raises ``NotSupported`` unless it declares ``RAW_QUERY``."""
        store: Any = self.graph_store
        if Capability.RAW_QUERY not in store.info.capabilities:
            raise NotSupported(
                f"the graph store {store.info.name!r} has no query language; choose one that has in storage.graph"
            )
        rows: list[dict[str, Any]] = await store.query(text, timeout=timeout, limit=limit)
        return rows

    async def pages(self, session_id: str) -> tuple[Pages | None, str | None]:
        """Return the pages of the active head's timeline, or of the last one shown, and their folder."""
        live = await self.directory.load(session_id)
        if self.cache is None:
            return None, None
        slot = await self.projector.current_slot(live, live.head)
        if slot is None:
            slot = max(live.slots, key=lambda used: live.slots[used], default=0)
        scope = scope_of(live.session.id, slot)
        return await self.cache.read(scope), self.cache.locate(scope)

    async def regenerate_pages(self, session_id: str) -> Pages:
        """Render the active head's pages again from the journal. Raises ``NotSupported`` if pages are disabled."""
        session = await self.directory.find(session_id)
        if self.cache is None:
            raise NotSupported("md_cache.enabled is false: there are no pages to render")
        async with self.supervisor.exclusive(session.id):
            live = await self.live.get(session.id)
            slot = await self.projector.show(live, live.head)
            pages = await self.cache.read(scope_of(session.id, slot))
        assert pages is not None
        return pages

    async def search(
        self, query: str, *, session_id: str, k: int = 10, turn: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the remarks and the turns of the path to ``turn`` whose words match ``query`` best, best first.

        ``turn`` is an id, or a timeline's name for its head; None for the active head.
        """
        live = await self.directory.load(session_id)
        head = turn_named(live, turn)
        state = await live.state(head)
        return live.remembered(state).rows(query, k, state.remarks)

    async def explain(self, session_id: str, turn: str | None = None, *, text: str | None = None) -> dict[str, Any]:
        """Return a turn's context with the reason for every entry, as JSON-compatible data.

        ``turn`` is an id, or a timeline's name for its head; None for the active head. If the context is no longer
        cached, it is read ``anew``. With ``text``, the context is the one for these player words after the turn.
        ``shown_from`` is the depth of the first turn in the sent history, recorded or assumed. Raises ``NotFound``.
        """
        live = await self.directory.load(session_id)
        found = turn_named(live, turn)
        if text is not None:
            now = live.tree.get(found).at
            missing = (await live.turn(found)).missing
            tried = await reading_after(
                live, found, text, self.reader, self.shared.at, self.front, now=now, missing=missing
            )
            rows = await with_signals(live, found, text, explain_context(tried), now=now)
            return {"turn": found, "depth": live.tree.get(found).depth, "anew": True, **rows}
        told, anew = await self._told(live, found)
        own = await live.turn(found)
        rows = await with_signals(live, own.parent or found, own.user, explain_context(told), now=own.at)
        return {"turn": found, "depth": own.depth, "anew": anew, **rows}

    async def lore(self, session_id: str) -> dict[str, Any]:
        """Return the lore of a session's world: each entry with additions from play, its last mention, and the recent
        contexts that had it, with reasons. JSON-compatible. Raises ``NotFound``.
        """
        live = await self.directory.load(session_id)
        return await shown_lore(live, self.contexts)

    async def why_untold(self, session_id: str, text: str, turn: str | None = None) -> dict[str, Any]:
        """Return the items that have ``text``, and why the context of a turn (default: the active head) had them or
        not, as JSON-compatible data. Raises ``NotFound``.
        """
        live = await self.directory.load(session_id)
        found = turn_named(live, turn)
        told, anew = await self._told(live, found)
        sure = not anew or (await live.turn(found)).missing is not None
        knowledge = Knowledge(self._brought, self.settings.config.dynamic_lorebook, self.authored(live.world))
        rows = await untold(live, found, told, text, knowledge, sure=sure)
        return {
            "turn": found,
            "depth": live.tree.get(found).depth,
            "anew": anew,
            "shown_from": None if told.missing is None else told.missing + 1,
            "pages": told.pages,
            "text": text,
            "found": rows,
        }

    async def _told(self, live: LiveSession, turn: str) -> tuple[TurnContext, bool]:
        """Return a turn's context, and whether it was read anew."""
        context = self.contexts.get(turn)
        if context is not None:
            return context, False
        return await reread(live, turn, self.reader, self.shared.at, self.front), True
