"""The details of one entity: names, attributes, place, company, relations, related knowledge, and its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saga_core.catalog.lines import plain_events
from saga_core.errors import BadInput, NotFound
from saga_core.language import match_name, match_text
from saga_core.model import HABITS, Entity, Event, Turn, WorldState, deltas
from saga_core.naming import Names, is_word_for_player
from saga_core.sessions import LiveSession

_HISTORY = 60
"""The largest number of history rows. The latest are kept."""


async def entity_page(live: LiveSession, turn: str, named: str) -> dict[str, Any]:
    """Return what is known at ``turn`` about an entity, given its id or a name. JSON-able. ``NotFound``, ``BadInput``.

    ``history`` has the latest turns of the path that changed the entity, with their events. ``knowledge`` has the
    memories and learned lore that name it.
    """
    state = await live.state(turn)
    found = Names(state).called(named)
    if not found:
        raise NotFound(
            f"session {live.session.id} has no entity {named!r} at turn {state.depth}; GET …/entities lists them"
        )
    if len(found) > 1:
        ids = ", ".join(f"{each.id} ({each.kind.value} {each.name})" for each in found)
        raise BadInput(f"entity: {named!r} may be {ids}; give the id")
    entity = found[0]
    where = state.whereabouts.get(entity.id)
    return {
        "session": live.session.id,
        "turn": state.depth,
        "turn_id": state.turn,
        "id": entity.id,
        "kind": entity.kind.value,
        "name": entity.name,
        "aliases": _told_names(entity.aliases),
        "player": entity.id == state.player,
        "present": entity.id in state.present,
        "facts": {name: value for name, value in entity.attributes.items() if name not in HABITS},
        "place": {"id": where.place, "name": state.name(where.place), "since": where.since}
        if where and not where.left
        else None,
        "things": [
            {"id": item, "name": state.name(item), "quantity": stack.quantity, "equipped": stack.equipped}
            for item, stack in state.belongings.get(entity.id, {}).items()
        ],
        "owners": [
            {"id": owner, "name": state.name(owner), "quantity": hands[entity.id].quantity}
            for owner, hands in state.belongings.items()
            if entity.id in hands
        ],
        "here": [
            {"id": who, "name": state.name(who)}
            for who, at in state.whereabouts.items()
            if at.place == entity.id and not at.left
        ],
        "relations": [
            {
                "from": state.name(source),
                "from_id": source,
                "to": state.name(target),
                "to_id": target,
                "type": part.type,
                "strength": part.strength,
                "since": part.since,
            }
            for (source, target), relation in state.relations.items()
            for part in relation.parts
            if entity.id in (source, target)
        ],
        "knowledge": _knowledge(state, entity),
        "history": await _history(live, turn, state, entity.id),
    }


def _knowledge(state: WorldState, entity: Entity) -> list[dict[str, Any]]:
    texts = [(record.id, record.text) for record in state.memories.values()]
    texts += [("", text) for text in state.learned.values()]
    names = [match_name(name) for name in entity.names if len(name) > 1]
    return [
        {"memory": memory or None, "text": text}
        for memory, text in texts
        if any(name in match_text(text) for name in names)
    ]


async def _history(live: LiveSession, turn: str, state: WorldState, entity: str) -> list[dict[str, Any]]:
    """Return the latest turns that changed an entity, latest first."""
    ids = frozenset({entity, *(former for former, into in state.merged.items() if into == entity)})
    found: list[tuple[Turn, list[Event]]] = []
    async for each in live.each_turn([node.id for node in live.tree.upwards(turn)]):
        if events := [event for event in live.effective(each).events if _names(event, ids)]:
            found.append((each, events))
            if len(found) == _HISTORY:
                break
    rows: list[dict[str, Any]] = []
    # A later introduction gives a name more, or nothing that is told. What came before these turns is not looked at.
    called = [state.entities[entity].name] if len(found) == _HISTORY else []
    for each, events in reversed(found):
        told = []
        for event in events:
            (row,) = plain_events((event,), state, live.world.language)
            if isinstance(event, deltas.Introduced) and event.id == entity:
                new = [each for each in _told_names((event.name, *event.aliases)) if each not in called]
                if called and not new:
                    continue
                row = {**row, "names": new, "again": True} if called else row
                called += (event.name, *new)
            told.append(row)
        if told:
            rows.append({"turn": each.depth, "turn_id": each.id, "events": told})
    return rows[::-1]


def _told_names(aliases: Sequence[str]) -> list[str]:
    """Names without words for the player, which are no names: Player, in any language."""
    return [each for each in aliases if not is_word_for_player(each)]


def _names(event: Event, ids: frozenset[str]) -> bool:
    """Whether an event concerns one of these ids: one of its fields is or contains the id. What SAGA learned of the
    narrator is kept with the player, and is nothing that happened to her."""
    habit = isinstance(event, deltas.AttributeSet) and event.name in HABITS
    return not habit and not ids.isdisjoint(deltas.ids_in(event))
