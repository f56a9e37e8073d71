"""The player's character: one person, whatever the client, the card and the blocks call her."""

from __future__ import annotations

from collections.abc import Iterable

from saga_core.ids import entity_id
from saga_core.language import fold_name
from saga_core.model import Delta, Entity, Event, Kind, WorldState, deltas
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


def nameless(state: WorldState) -> bool:
    """Whether nothing has told yet under which name the player's character is played."""
    player = state.entities.get(state.player)
    return player is not None and not player.get(PERSONA) and is_word_for_player(player.name)


def owners_never_met(state: WorldState) -> list[str]:
    """The ids of the characters who own or owned something and were nowhere yet."""
    return [
        each.id
        for each in state.of_kind(Kind.CHARACTER)
        if each.id != state.player
        and each.id in state.belongings
        and each.id not in state.whereabouts
        and not each.get(PERSONA)
    ]


def player_by_hands(state: WorldState, path: Iterable[tuple[WorldState, Delta]]) -> str | None:
    """The id of a character who can only be the player's, told by whom things pass from hand to hand; None for none.

    ``path``: latest turns of the path, each with the state before it. Company hands things to her in one turn and is
    handed things by her in another, she herself is never named as company, and nothing ever passes to or from the
    player under the player's own word. Somebody far away may be sent things; to hand over and be handed, in scenes
    where nobody met her, is what only the player does.
    """
    takes, gives, met = dict[str, set[str]](), dict[str, set[str]](), set(state.present)
    for before, delta in path:
        company = {*before.present, *(event.who for event in delta.events if isinstance(event, deltas.Met))}
        met |= company
        for event in delta.events:
            if not isinstance(event, deltas.ItemTransferred):
                continue
            if state.player in (event.giver, event.receiver):
                return None
            if event.giver in company:
                takes.setdefault(event.receiver, set()).add(before.turn)
            if event.receiver in company:
                gives.setdefault(event.giver, set()).add(before.turn)
    both = [who for who in owners_never_met(state) if who in takes and who in gives and who not in met]
    found = [who for who in both if len(takes[who] | gives[who]) > 1]
    return found[0] if len(found) == 1 else None


def _called(entity: Entity, name: str) -> bool:
    folded = fold_name(name)
    return any(fold_name(each) == folded for each in (*entity.names, str(entity.get(PERSONA) or "")))


def _learns(player: Entity, name: str) -> Event:
    return deltas.Introduced(player.id, Kind.CHARACTER, name, (), {PERSONA: name})
