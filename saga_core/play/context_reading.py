"""Reads the context of a turn: from the stored graph if it shows that turn, otherwise from the state's own graph."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from attrs import define

from saga_core.background import Supervisor
from saga_core.config import Settings
from saga_core.context import ContextReader, OtherStory, ReadRequest, TurnContext, lines_of
from saga_core.counters import Counters
from saga_core.errors import StoreError
from saga_core.model import TurnKind
from saga_core.play.prompting import Layout, Prefix
from saga_core.play.request import Place, TurnStart
from saga_core.projection import due_lines, spoken_day
from saga_core.recall import PER_TURN, KeptMoment, PathEpisodes, without_other_story
from saga_core.sessions import LiveSession, OtherSession, OtherSessions, SharedMemories, remarks_by_hand
from saga_core.stores import GraphStore
from saga_core.stores.resident_read import answers_at_once, read_at_hand
from saga_core.transcript import words_key
from saga_core.views import Projector, scope_of

log = logging.getLogger("saga")

T = TypeVar("T")


@define(eq=False, kw_only=True)
class ContextReading:
    """Reads the contexts of turns that are being begun."""

    settings: Settings
    reader: ContextReader
    graph: GraphStore
    projector: Projector
    supervisor: Supervisor
    shared: SharedMemories
    others: OtherSessions
    counters: Counters

    async def read(self, start: TurnStart, layout: Layout, prefix: Prefix) -> TurnContext:
        """Read the context that the narrator gets for the player's words."""
        live, state, transcript, language = start.place.live, start.state, start.place.transcript, start.language
        others: tuple[OtherSession, ...] = ()
        if without_other_story(transcript.player_words) is not None:
            others = await self.others.of(live)
        request = partial(
            ReadRequest,
            session=live.session.id,
            state=state,
            world=live.world,
            lore=live.lore,
            player_words=transcript.player_words,
            recent=tuple(utterance.text for utterance in transcript.utterances[-2:]),
            pinned=prefix.state,
            pages=prefix.pages,
            missing=layout.missing,
            in_front=lines_of(prefix.pages),
            by_hand=remarks_by_hand(live, state, prefix.pages),
            language=language,
            episodes=PathEpisodes(live.tree, live.episodes, state.turn),
            shown=layout.shown,
            now=start.now,
            due=due_lines(state, language),
            memories=await self.shared.at(live, state),
            moment=_lore_moment(start),
            elsewhere=tuple(_story(each, language) for each in others),
            sent=transcript.system_text if live.lore.entries else "",
        )
        context = await self._read(live, state.turn, request)
        for name in context.late:
            self.counters.add(f"late.{name}")
        return context

    async def _read(self, live: LiveSession, turn: str, request: Callable[..., ReadRequest]) -> TurnContext:
        """Read the context with the graph at ``turn``, which ``request`` still lacks.

        A job may move the scope meanwhile. The result may then be of another path, so the context is read again.
        """
        session = live.session.id
        slot = None
        if not self.supervisor.is_rendering(session):
            slot = await self._answered(partial(self.projector.current_slot, live, turn))
        if slot is not None:
            scope = scope_of(session, slot)
            context = await self.reader.read(request(graph=self.graph, graph_scope=scope))
            still = not self.supervisor.is_rendering(session)
            if still and await self._answered(partial(self.graph.watermark, scope)) == turn:
                self.counters.add("graph.read.store")
                return context
            self.counters.add("graph.read.moved")
        self.counters.add("graph.read.image")
        return await self.reader.read(request(graph=await live.image(turn)))

    async def _answered(self, ask: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
        """The graph store's answer within the deadline of the sources; None if it is late or fails."""
        answer = read_at_hand(ask, "saga-graph", at_once=answers_at_once(self.graph))
        try:
            if not answer.done():
                async with asyncio.timeout(self.settings.config.recall.deadline_ms / 1_000):
                    return await answer
            return answer.result()
        except (StoreError, TimeoutError) as error:
            self.counters.add("graph.read.failed")
            log.warning("the graph store does not answer, the graph is made from the state: %s", error)
            return None


def _story(other: OtherSession, language: str) -> OtherStory:
    session, live = other.live.session, other.live
    name, day = session.label or session.world, spoken_day(other.played.date(), language)
    return OtherStory(session.id, name, day, PathEpisodes(live.tree, live.episodes, live.head))


def _lore_moment(start: TurnStart) -> KeptMoment | None:
    """The input for lore with its own rules: the last messages, the turn's number, and the entries shown before.

    None if no lore has any.
    """
    live, transcript = start.place.live, start.place.transcript
    kept = live.lore.kept
    if not kept.entries:
        return None
    depth = live.tree.get(start.place.parent).depth
    shown: dict[str, int] = {}
    if kept.timed:
        for node in live.tree.upwards(start.place.parent):
            for name in node.told:
                shown.setdefault(name, PER_TURN * node.depth)
    last = [utterance.text for utterance in transcript.utterances[-kept.deepest :]] if kept.deepest else []
    names = {sheet.name.casefold() for sheet in live.world.characters if not sheet.player}
    names |= {utterance.speaker.casefold() for utterance in transcript.utterances if utterance.speaker}
    names |= {transcript.speaker.casefold()} if transcript.speaker else set()
    return KeptMoment(
        messages=last[::-1],
        count=PER_TURN * (depth + 1),
        replies=depth,
        seed=start.turn,
        triggers=_triggers(start.place),
        characters=frozenset(names),
        told=shown,
    )


def _triggers(place: Place) -> frozenset[str]:
    if place.kind is TurnKind.CONTINUATION:
        return frozenset({"continue"})
    tree, key = place.live.tree, words_key(place.transcript.words)
    if any(tree.get(child).user_key == key for child in tree.children.get(place.parent, ())):
        return frozenset({"swipe", "regenerate"})
    return frozenset({"normal"})
