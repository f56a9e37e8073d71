"""Shared worlds: what sessions publish in one, and what they see of it.

A turn is published when the next request continues it: then it is no longer a swipe. Publications are numbered in the
order of their commits, in the same commit as the number's count. What a session sees at a turn is an event of that
turn (``WorldSeen``). So its past needs no other session and never changes, and a branch back sees what it saw then.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import islice

from attrs import evolve, frozen

from saga_core import codec
from saga_core.counters import Counters
from saga_core.errors import Conflict, StoreError, StoreUnavailable
from saga_core.extraction import nameless
from saga_core.ids import IdSource, entity_id
from saga_core.journal import SharedTurn, keys, value
from saga_core.language import fold_name
from saga_core.model import (
    Delta,
    Fact,
    FactKey,
    Introduced,
    Kind,
    TurnNode,
    WorldSeen,
    WorldState,
    changed_facts,
    counts,
    deltas,
    fold,
    holds,
    is_secret,
    mentioned,
    with_ids,
)
from saga_core.naming import Names
from saga_core.sessions.live_sessions import LiveSession
from saga_core.stores import Batch, Key, StateKV

log = logging.getLogger("saga.worlds")

MODE = "world.shared"
"""The degraded mode while the journal does not tell what others published."""
_PAGE = 500
_TRIES = 16
_LOOKED_BACK = 8
"""Published turns that are looked at again, because a later delta may have changed what they report."""


@frozen
class SharedWorld:
    """A shared world: the value of its ``sharing`` record."""

    id: str
    """It tells a world from one of the same name in another journal."""
    published: int = 0
    """The number of its latest publication."""


@frozen
class Publication:
    """What a session published of one turn."""

    session: str
    turn: str
    facts: tuple[Fact, ...]
    introduced: tuple[Introduced, ...] = ()


@frozen
class News:
    """What a session sees of its world, and the facts about which several sessions said different things."""

    seen: WorldSeen
    settled: tuple[Fact, ...] = ()


@frozen(eq=False)
class SharedWorlds:
    """Publishes turns in shared worlds, and reads what others published there."""

    kv: StateKV
    ids: IdSource
    counters: Counters

    async def news(self, live: LiveSession, turn: str, called: Callable[[], str]) -> News | None:
        """Publish the path to ``turn``, which a request continues, and return what others published meanwhile.

        ``called`` returns the name that the request gives the player, who may not have one yet. None if there is
        nothing new, or if the session shares no world. If the journal fails, the turn is played without the news, and
        the next one tries again.
        """
        if not live.session.share or not live.world.shared:
            return None
        try:
            await self._publish(live, turn)
            found = await self._unseen(live, await live.state(turn), fold_name(called()))
        except StoreError as error:
            self.counters.degrade(MODE, f"session {live.session.id} sees nothing new of its world: {error}")
            return None
        self.counters.recover(MODE)
        return found

    # -- publishing --------------------------------------------------------------------------------------------

    async def _publish(self, live: LiveSession, turn: str) -> None:
        for _ in range(_TRIES):
            try:
                return await self._try_to_publish(live, turn)
            except Conflict:
                continue  # another session was faster
        raise StoreUnavailable(f"others published in {live.session.share!r} {_TRIES} times meanwhile; try again")

    async def _try_to_publish(self, live: LiveSession, turn: str) -> None:
        due, expected = await self._unpublished(live, turn)
        if not due:
            return
        session, share, now = live.session.id, live.session.share, await live.state(turn)
        puts: dict[Key, bytes] = {}
        world: SharedWorld | None = None
        for node, facts in zip(due, await _latest(live, due, now, await self._published(live, due)), strict=True):
            told = (fact for fact in facts if fact.scope in live.world.shared and not is_secret(now, fact))
            kept = tuple(fact for fact in told if holds(now, fact))
            mark = keys.shared(session, node.id)
            old = expected[mark]
            numbers = codec.decode(old, SharedTurn).numbers if old is not None else ()
            if kept:
                if world is None:
                    raw = expected[keys.sharing(share)] = await value(self.kv, keys.sharing(share))
                    world = codec.decode(raw, SharedWorld) if raw is not None else SharedWorld(self.ids.new("w"))
                world = evolve(world, published=world.published + 1)
                numbers = (*numbers, world.published)
                puts[keys.publication(share, world.published)] = codec.encode(_publication(session, node.id, now, kept))
            puts[mark] = codec.encode(SharedTurn(share, numbers, _amendments(live, node)))
        if world is not None:
            puts[keys.sharing(share)] = codec.encode(world)
            self.counters.add("worlds.published")
        await self.kv.commit(Batch(puts), expected=expected)

    async def _unpublished(self, live: LiveSession, turn: str) -> tuple[list[TurnNode], dict[Key, bytes | None]]:
        """The turns of the path that are to be published, oldest first, with what is recorded of their publication."""
        found: dict[Key, bytes | None] = {}
        due: list[TurnNode] = []
        published, path = 0, live.tree.upwards(turn)
        while part := list(islice(path, _LOOKED_BACK + 1)):
            rows = await self.kv.get([keys.shared(live.session.id, node.id) for node in part])
            for node in part:
                if node.parent is None or node.at < live.session.shared_at or published == _LOOKED_BACK:
                    return due[::-1], found
                key = keys.shared(live.session.id, node.id)
                raw = rows.get(key)
                if raw is None or codec.decode(raw, SharedTurn).amendments != _amendments(live, node):
                    due.append(node)
                    found[key] = raw
                else:
                    published += 1
        return due[::-1], found

    async def _published(self, live: LiveSession, due: Sequence[TurnNode]) -> list[Mapping[FactKey, Fact]]:
        """What was published of each turn, or of another reply in its place: saying it again is no news."""
        found: list[Mapping[FactKey, Fact]] = []
        session, children = live.session.id, live.tree.children
        for node in due:
            rows = await self.kv.get([keys.shared(session, each) for each in children.get(node.parent or "", ())])
            marks = [codec.decode(raw, SharedTurn) for raw in rows.values()]
            wanted = sorted({keys.publication(mark.share, number) for mark in marks for number in mark.numbers})
            known = [codec.decode(raw, Publication) for raw in (await self.kv.get(wanted)).values()] if wanted else []
            found.append({fact.key: fact for each in known if each.session == session for fact in each.facts})
        return found

    # -- seeing ------------------------------------------------------------------------------------------------

    async def _unseen(self, live: LiveSession, state: WorldState, called: str) -> News | None:
        """What was published since the path's last look, where others' is newer than what the path itself published."""
        raw = await value(self.kv, keys.sharing(live.session.share))
        if raw is None:
            return None
        world = codec.decode(raw, SharedWorld)
        since = state.seen.get(world.id, 0)
        if since >= world.published:
            return None
        own, names = live.session.id, Names(state)
        latest: dict[FactKey, tuple[str, Fact]] = {}
        rivals: set[FactKey] = set()
        introduced: dict[str, Introduced] = {}
        into: dict[str, str] = {}
        async for each in self._between(live.session.share, since, world.published):
            if each.session == own and not (each.turn in live.tree and live.tree.is_ancestor(each.turn, state.turn)):
                continue  # of another branch of this session
            for entity in each.introduced:
                if entity.id not in into:
                    into[entity.id] = known = _known_as(names, state, entity, called)
                    introduced[known] = evolve(entity, id=known)
            for fact in (with_ids(fact, into) for fact in each.facts):
                before = latest.pop(fact.key, None)  # so that the facts are in the order of their publications
                if before is not None and before[0] != each.session and before[1].value != fact.value:
                    rivals.add(fact.key)
                latest[fact.key] = (each.session, fact) if before is None or counts(fact, before[1]) else before
        facts = tuple(
            fact
            for session, fact in latest.values()
            if session != own
            and fact.scope in live.world.shared
            and fact.subject != state.player
            and not holds(state, fact)
            and not _is_anothers_name(names, state, fact)
        )
        fresh = {id_ for fact in facts for id_ in fact.ids} - state.entities.keys()
        seen = WorldSeen(world.id, world.published, tuple(introduced[id_] for id_ in introduced if id_ in fresh), facts)
        after = fold(state, Delta((seen,)), turn=state.turn, depth=state.depth)
        settled = [fact for key, (_, fact) in latest.items() if key in rivals and holds(after, fact)]
        return News(seen, tuple(settled))

    async def _between(self, share: str, since: int, last: int) -> AsyncIterator[Publication]:
        after = keys.publication(share, since)
        while rows := await self.kv.scan(("share", share), after=after, limit=_PAGE):
            for key, raw in rows:
                if key > keys.publication(share, last):
                    return
                yield codec.decode(raw, Publication)
            after = rows[-1][0]


async def _latest(
    live: LiveSession, due: Sequence[TurnNode], now: WorldState, published: Sequence[Mapping[FactKey, Fact]]
) -> list[list[Fact]]:
    """The facts that each turn changed and that no later one did, without those that were published."""
    found: list[list[Fact]] = []
    later: set[FactKey] = set()
    into = _public_ids(now)
    for node, known in reversed(list(zip(due, published, strict=True))):
        facts = await _facts(live, node)
        public = {key: with_ids(fact, into) for key, fact in facts.items() if key not in later}
        found.append([facts[key] for key, fact in public.items() if known.get(fact.key) != fact])
        later |= facts.keys()
    return found[::-1]


async def _facts(live: LiveSession, node: TurnNode) -> dict[FactKey, Fact]:
    """The facts that a turn itself changed, and not what it saw of others, nor how a thread or a plan ended."""
    (delta,) = await live.deltas([node.id])
    seen = tuple(event for event in delta.events if isinstance(event, WorldSeen))
    before = fold(await live.state(node.parent or ""), Delta(seen), turn=node.id, depth=node.depth)
    after = await live.state(node.id)
    ended = {event.event for event in delta.events if isinstance(event, deltas.EventClosed)}
    facts = changed_facts(before, after, nameless(after))
    return {key: fact for key, fact in facts.items() if fact.what != "event" or fact.subject not in ended}


def _publication(session: str, turn: str, state: WorldState, facts: Sequence[Fact]) -> Publication:
    into = _public_ids(state)
    introduced = (evolve(each, aliases=()) if each.id in into else each for each in mentioned(state, facts))
    return Publication(
        session,
        turn,
        tuple(with_ids(fact, into) for fact in facts),
        tuple(evolve(each, id=into.get(each.id, each.id)) for each in introduced),
    )


def _public_ids(state: WorldState) -> dict[str, str]:
    """The id under which others know the player's character: that of its name. Unnamed players all have the same."""
    return {state.player: entity_id(Kind.CHARACTER.value, state.name(state.player))}


def _known_as(names: Names, state: WorldState, entity: Introduced, called: str) -> str:
    """The id that an entity of another session has in a state; its own if it is unknown there.

    The player may be ``called`` like a character of others before the state knows.
    """
    if entity.kind is Kind.CHARACTER and called and fold_name(entity.name) == called:
        return state.player
    id_ = state.merged.get(entity.id, entity.id)
    return id_ if id_ in state.entities else names.find(entity.kind, entity.name) or entity.id


def _is_anothers_name(names: Names, state: WorldState, fact: Fact) -> bool:
    """Whether a fact renames an entity to what this story calls its player's character, or another of the kind."""
    entity = state.entities.get(fact.subject)
    if fact.what != "name" or entity is None:
        return False
    name = str(fact.value)
    bearers = names.bearers(entity.kind, name)
    return any(each != entity.id for each in bearers) or (entity.kind is Kind.CHARACTER and names.is_player(name))


def _amendments(live: LiveSession, node: TurnNode) -> int:
    return len(live.amendments.get(node.id, ()))
