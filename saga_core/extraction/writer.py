"""From a state block's fields to a delta."""

from __future__ import annotations

from collections.abc import Iterable

from saga_core.language import every, fold_name
from saga_core.model import ALIVE, DEAD, Delta, Event, Kind, Source, Status, WorldState, deltas
from saga_core.naming import Names
from saga_core.state_block import BlockFields, StateReading

_STATUS = {"ok": Status.OK, "partial": Status.PARTIAL, "fallback": Status.FALLBACK}


def read_delta(
    reading: StateReading,
    state: WorldState,
    *,
    player_name: str = "",
    source: Source = Source.BLOCK,
    later: WorldState | None = None,
) -> Delta:
    """What the reply reports, as events on ``state``: names resolved, new entities introduced.

    ``player_name`` is the name under which the player wrote, if the client told it: an unnamed player takes it.
    ``source`` says who reports. ``later`` is a state further down the path, whose names are known too.
    """
    names = Names(state, later)
    events = _events(reading.fields, state, names)
    head = _player_name(state, player_name)
    status = _STATUS[reading.status.value]
    said_by = "state block" if source is Source.BLOCK else source.value
    problems = tuple(f"{said_by}: {problem}" for problem in reading.problems)
    return Delta(
        (*head, *names.introduced, *events), Source.NONE if status is Status.FALLBACK else source, status, problems
    )


_DEAD_WORDS = frozenset(word for each in every() for word in each.block.dead.split())
_ALIVE_WORDS = frozenset(word for each in every() for word in each.block.alive.split())


def _status(word: str) -> str:
    """A status in the word that the state knows it by: whoever is dead is ``dead``, whatever the block calls it."""
    folded = fold_name(word).strip(".!")
    if folded in _DEAD_WORDS:
        return DEAD
    return ALIVE if folded in _ALIVE_WORDS else word


def mention_event(lore: Iterable[str]) -> tuple[Event, ...]:
    """The event for lore entries that a turn's words named; nothing for none."""
    named = tuple(lore)
    return (deltas.Mentioned(named),) if named else ()


def _player_name(state: WorldState, name: str) -> tuple[Event, ...]:
    player = state.entities.get(state.player)
    if not name or player is None or not Names(state).is_player(player.name):
        return ()
    return (deltas.Renamed(state.player, name),)


def _events(fields: BlockFields, state: WorldState, names: Names) -> list[Event]:
    """In an order that the fold reads rightly: who stays behind, where one goes, whom one meets there, the rest."""
    player = state.player
    events: list[Event] = [
        deltas.Separated(names.ensure(Kind.CHARACTER, name))
        for told in fields.npc_separated
        for name in names.joined(told)
    ]
    if fields.location:
        place = names.ensure(Kind.LOCATION, fields.location)
        # Turns above may be read later and move the player elsewhere: who says that one went there says where one is.
        if place != state.location or fields.location_moved:
            events.append(deltas.Moved(player, place))
    for name in (name for told in fields.npc_met for name in names.joined(told)):
        who = names.ensure(Kind.CHARACTER, name)
        if who != player:
            events.append(deltas.Met(who))
    if fields.hp_change:
        events.append(deltas.HpChanged(player, fields.hp_change))
    for item in fields.items_gained:
        events.append(deltas.ItemGained(player, names.ensure(Kind.ITEM, item.name), item.quantity))
    for item in fields.items_lost:
        events.append(deltas.ItemLost(player, names.ensure(Kind.ITEM, item.name), item.quantity))
    for transfer in fields.items_transferred:
        giver = names.ensure(Kind.CHARACTER, transfer.giver) if transfer.giver else player
        receiver = names.ensure(Kind.CHARACTER, transfer.receiver) if transfer.receiver else player
        thing = names.ensure(Kind.ITEM, transfer.item)
        if giver != receiver:
            events.append(deltas.ItemTransferred(giver, receiver, thing, transfer.quantity))
    for change in fields.relationship_changes:
        source, target = names.ensure(Kind.CHARACTER, change.source), names.ensure(Kind.CHARACTER, change.target)
        events.append(deltas.RelationChanged(source, target, change.type, change.delta))
    for status in fields.status_changes:
        events.append(deltas.StatusChanged(names.ensure(Kind.CHARACTER, status.name), _status(status.status)))
    if fields.mood:
        events.append(deltas.MoodChanged(player, fields.mood))
    if fields.event_trigger:
        event = names.ensure(Kind.EVENT, fields.event_trigger)
        events.append(deltas.EventTriggered(event, fields.event_trigger))
    if fields.notes:
        events.append(deltas.Noted(fields.notes))
    return events
