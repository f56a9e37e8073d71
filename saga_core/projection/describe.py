"""A state as plain data, as text and as key-value view, for the admin API, the demo and people."""

from __future__ import annotations

from typing import Any

from saga_core.language import DEFAULT
from saga_core.model import Entity, Kind, Session, WorldState
from saga_core.projection.counts import counted_values, describe_counts
from saga_core.projection.graph_image import GraphImage
from saga_core.stores import Value


def render_kv(state: WorldState) -> dict[str, str]:
    """Return the view as text: facts about the turn and the player, the trackers, and the manual entries.

    The keys are ``turn``, ``player``, ``player_location``, ``player_mood``, ``player_hp`` and ``player_max_hp``.
    """
    player = state.entities.get(state.player)
    view: dict[str, str] = {"turn": str(state.depth)}
    if state.location:
        view["player_location"] = state.name(state.location)
    if player is not None:
        view["player"] = player.name
        for name in ("mood", "hp", "max_hp"):
            value = player.get(name)
            if value is not None:
                view[f"player_{name}"] = str(value)
    view.update((each.label(state), each.text(DEFAULT)) for each in counted_values(state))
    view.update(state.values)
    return view


def describe_state(state: WorldState, session: Session, language: str = DEFAULT) -> dict[str, Any]:
    """Return the state response of the admin API, with names instead of ids. JSON-able.

    The values of trackers are written as texts of ``language``, too.
    """
    player = state.entities.get(state.player) or Entity(state.player, Kind.CHARACTER, "")
    hands = state.belongings.get(state.player, {})
    return {
        "session": {
            "id": session.id,
            "label": session.label,
            "world": session.world,
            "created": session.created,
            "head": session.head,
        },
        "turn": state.depth,
        "turn_id": state.turn,
        "player": player.name,
        "location": state.name(state.location) if state.location else None,
        "hp": player.get("hp"),
        "max_hp": player.get("max_hp"),
        "mood": player.get("mood"),
        "inventory": [
            {"name": state.name(item), "quantity": stack.quantity, "equipped": stack.equipped}
            for item, stack in hands.items()
        ],
        "npcs_present": [state.name(who) for who in state.present],
        "npcs_met": [state.name(who) for who in state.met],
        "dead": [entity.name for entity in state.entities.values() if entity.dead],
        "relationships": [
            {
                "from": state.name(source),
                "to": state.name(target),
                "type": relation.type,
                "strength": relation.strength,
            }
            for (source, target), relation in state.relations.items()
        ],
        "events": [{"name": event.name, "turn": event.depth} for event in state.happenings],
        "notes": [{"turn": depth, "text": text} for depth, text in state.notes],
        **describe_counts(state, language),
        "world_state": render_kv(state),
        "problems": [{"turn": each.depth, "turn_id": each.turn, "text": each.text} for each in state.problems],
    }


def graph_words(image: GraphImage) -> list[str]:
    """Return the edges of a graph as readable lines, sorted. Edges of lore to lore, places and items are left out."""

    def name(id_: str) -> str:
        node = image.nodes.get(id_)
        return str(node.properties.get("name", id_)) if node else id_

    lines = []
    for edge in image.edges.values():
        if edge.type in ("RELATED", "HAS_LORE", "ITEM_LORE"):
            continue
        detail = ", ".join(_property(key, value) for key, value in sorted(edge.properties.items()) if value)
        lines.append(f"{name(edge.source)} -{edge.type}{f' ({detail})' if detail else ''}-> {name(edge.target)}")
    return sorted(lines)


def _property(key: str, value: Value) -> str:
    return f"{key} {value:+d}" if key == "strength" and isinstance(value, int) else f"{key} {value}"
