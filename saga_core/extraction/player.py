"""The player's character: one person, whatever the client, the card and the blocks call her."""

from __future__ import annotations

from saga_core.ids import entity_id
from saga_core.language import fold_name
from saga_core.model import Entity, Event, Kind, WorldState, deltas
from saga_core.naming import Names, is_word_for_player
from saga_core.values import Value

PERSONA = "persona"
"""The attribute that holds the name under which the client plays a character."""


def the_player(state: WorldState, name: str, *, sure: bool = True) -> tuple[Event, ...]:
    """What a client's name for the player changes: the player learns it, or another character is the player's.

    A player whom no client has named yet takes the name: as her own when she has none, as another one beside the name
    of a world's sheet. Once a client has named her, another name is another persona, who may have played before. It
    is one only when the client is ``sure`` of the name. Where somebody else bears it, only a client that is sure says
    that the two are one: who claims another's name may be lying.
    """
    player = state.entities.get(state.player)
    if not name or player is None or is_word_for_player(name):
        return ()
    if not sure and not _called(player, name) and second_person(state, name) is not None:
        return ()
    if _called(player, name):
        return () if player.get(PERSONA) else (_learns(player, name),)
    if not player.get(PERSONA):
        learns = _learns(player, name)
        return (deltas.Renamed(player.id, name), learns) if is_word_for_player(player.name) else (learns,)
    if not sure:
        return ()
    names = Names(state)
    if names.find(Kind.CHARACTER, name) == player.id:
        return ()
    for each in state.of_kind(Kind.CHARACTER):
        if each.get(PERSONA) and _called(each, name):
            return (deltas.Played(each.id),)
    found = names.find(Kind.CHARACTER, name)
    attributes: dict[str, Value] = {PERSONA: name, "is_player": True}
    for points in ("hp", "max_hp"):
        if (top := player.get("max_hp")) is not None:
            attributes[points] = top
    if found is not None and found != player.id:
        return (deltas.Introduced(found, Kind.CHARACTER, name, (), attributes), deltas.Played(found))
    fresh = entity_id(Kind.CHARACTER.value, name)
    return (deltas.Introduced(fresh, Kind.CHARACTER, name, (), attributes), deltas.Played(fresh))


def second_person(state: WorldState, name: str = "") -> str | None:
    """The id of another character who bears ``name``, by default the one under which the client plays the player's;
    None for none. Somebody who was played is nobody's double.
    """
    player = state.entities.get(state.player)
    folded = fold_name(name or str((player.get(PERSONA) if player is not None else None) or ""))
    for each in state.of_kind(Kind.CHARACTER):
        if folded and each.id != state.player and not each.get(PERSONA) and fold_name(each.name) == folded:
            return each.id
    return None


def _called(entity: Entity, name: str) -> bool:
    folded = fold_name(name)
    return any(fold_name(each) == folded for each in (*entity.names, str(entity.get(PERSONA) or "")))


def _learns(player: Entity, name: str) -> Event:
    return deltas.Introduced(player.id, Kind.CHARACTER, name, (), {PERSONA: name})
