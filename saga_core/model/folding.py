"""``fold``: compute the next state from a state and a delta. It is pure and total: errors are recorded as problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve
from attrs import fields as attributes

from saga_core.language import is_confided, is_debt, is_settled, settled
from saga_core.model import counting, curated, deltas, facts
from saga_core.model.draft import Draft
from saga_core.model.entities import DEAD, Entity, Happening, Kind, Placement, Relation, Stack, remembered
from saga_core.model.knowledge import set_audience
from saga_core.model.tree import Delta
from saga_core.model.world_state import MAX_HAPPENINGS, MAX_NOTES, MAX_SECRETS, WorldState
from saga_core.trackers import HEALTH

_LINKS = frozenset({"ADJACENT", "INVOLVED_IN", "CAUSED"})
MAX_QUANTITY = 1_000_000_000_000
MAX_STRENGTH = 1_000_000_000


def fold(state: WorldState, delta: Delta, *, turn: str, depth: int) -> WorldState:
    """Return the state after ``delta``, which happened at ``turn``, at this depth.

    Events apply in order. An impossible event (losing an item that is not owned, naming an unknown id) changes what it
    can, or nothing, and is recorded in ``problems``.
    """
    draft = Draft(state, turn, depth)
    if depth > state.depth and state.trackers:
        counting.pass_turns(draft, depth - state.depth)
    for event in delta.events:
        merged = draft.view("merged")
        _APPLY[type(event)](draft, curated.redirected(event, merged) if merged else event)
    for text in delta.problems:
        draft.problem(text)
    return draft.finish()


def _introduced(draft: Draft, event: deltas.Introduced) -> None:
    known: Entity | None = draft.view("entities").get(event.id)
    if known is None:
        draft.put(Entity(event.id, event.kind, event.name, event.aliases, dict(event.attributes)))
        return
    names = dict.fromkeys((*known.aliases, event.name, *event.aliases))
    names.pop(known.name, None)
    draft.put(evolve(known, aliases=tuple(names), attributes={**event.attributes, **known.attributes}))


def _renamed(draft: Draft, event: deltas.Renamed) -> None:
    entity = draft.entity(event.id)
    if entity is None or entity.name == event.name:
        return
    aliases = dict.fromkeys((*entity.aliases, entity.name))
    aliases.pop(event.name, None)
    draft.put(evolve(entity, name=event.name, aliases=tuple(alias for alias in aliases if alias)))
    if draft.view("schedule"):
        schedule = curated.called(draft.view("schedule"), entity.names, event.name)
        if entity.id in schedule:
            schedule[entity.id] = evolve(schedule[entity.id], name=event.name)
        draft.changed["schedule"] = schedule


def _moved(draft: Draft, event: deltas.Moved) -> None:
    who, place = draft.entity(event.who, Kind.CHARACTER), draft.entity(event.to, Kind.LOCATION)
    if who is None or place is None:
        return
    if who.dead:
        draft.problem(f"{who.name!r} is dead and moved to {place.name!r}")
    whereabouts = draft.map("whereabouts")
    player = draft.view("player")
    company = draft.view("present") if who.id == player else ()
    left = whereabouts.get(player)
    for walker in (who.id, *company):
        if walker not in whereabouts or whereabouts[walker].place != place.id:
            along = walker != player and walker in whereabouts and left is not None
            whereabouts[walker] = Placement(place.id, draft.depth, along)
    if who.id != player and who.id in draft.view("present"):
        here = whereabouts.get(player)
        if here is None or here.place != place.id:
            draft.changed["present"] = tuple(other for other in draft.view("present") if other != who.id)


def _hp_changed(draft: Draft, event: deltas.HpChanged) -> None:
    who = draft.entity(event.who, Kind.CHARACTER)
    if who is None or not draft.view("trackers").asks(HEALTH):
        return
    hp, top = who.get("hp"), who.get("max_hp")
    if not isinstance(hp, int) or not isinstance(top, int):
        draft.problem(f"{who.name!r} has no hit points; a change of {event.amount:+d} is left out")
        return
    draft.attribute(who, hp=max(0, min(top, hp + event.amount)))


def _hp_set(draft: Draft, event: deltas.HpSet) -> None:
    who = draft.entity(event.who, Kind.CHARACTER)
    if who is None or not draft.view("trackers").asks(HEALTH):
        return
    known = who.get("max_hp")
    top = event.top if event.top is not None else known
    values: dict[str, Any] = {"hp": max(0, event.hp if not isinstance(top, int) else min(top, event.hp))}
    draft.attribute(who, **values, **({} if top is None or top == known else {"max_hp": top}))


def _mood_changed(draft: Draft, event: deltas.MoodChanged) -> None:
    who = draft.entity(event.who, Kind.CHARACTER)
    if who is not None:
        draft.attribute(who, mood=event.mood)


def _status_changed(draft: Draft, event: deltas.StatusChanged) -> None:
    """The status, and since which turn; the same status again leaves both."""
    who = draft.entity(event.who, Kind.CHARACTER)
    if who is None or who.get("status") == event.status:
        return
    draft.attribute(who, status=event.status, status_since=draft.depth)
    if event.status == DEAD and who.id in draft.view("present"):
        draft.changed["present"] = tuple(other for other in draft.view("present") if other != who.id)


def _gain(draft: Draft, owner: str, item: str, quantity: int) -> None:
    hands = draft.hands(owner)
    old = hands.get(item, Stack(0))
    hands[item] = evolve(old, quantity=min(MAX_QUANTITY, old.quantity + quantity))


def _lose(draft: Draft, owner: str, item: str, quantity: int) -> int:
    """Take up to ``quantity`` away and give how many there were to take."""
    have: Stack | None = draft.view("belongings").get(owner, {}).get(item)
    if have is None:
        draft.problem(f"{_name(draft, owner)!r} does not have {_name(draft, item)!r} and cannot lose it")
        return 0
    if have.quantity < quantity:
        draft.problem(
            f"{_name(draft, owner)!r} has {have.quantity} of {_name(draft, item)!r} and cannot lose {quantity}"
        )
    taken = min(have.quantity, quantity)
    hands = draft.hands(owner)
    if have.quantity > taken:
        hands[item] = evolve(have, quantity=have.quantity - taken)
    else:
        del hands[item]
    return taken


def _name(draft: Draft, id_: str) -> str:
    found: Entity | None = draft.view("entities").get(id_)
    return found.name if found else id_


def _countable(draft: Draft, quantity: int, what: str) -> bool:
    if quantity < 1:
        draft.problem(f"a quantity of {quantity} {what!r} is no quantity")
    return quantity >= 1


_HOLDERS = (Kind.CHARACTER, Kind.LOCATION)
"""Who can have a thing: somebody, or the place where it lies."""


def _item_gained(draft: Draft, event: deltas.ItemGained) -> None:
    owner, item = draft.entity(event.owner, *_HOLDERS), draft.entity(event.item, Kind.ITEM)
    if owner and item and _countable(draft, event.quantity, item.name):
        _gain(draft, owner.id, item.id, event.quantity)


def _item_lost(draft: Draft, event: deltas.ItemLost) -> None:
    owner, item = draft.entity(event.owner, *_HOLDERS), draft.entity(event.item, Kind.ITEM)
    if owner and item and _countable(draft, event.quantity, item.name):
        _lose(draft, owner.id, item.id, event.quantity)


def _item_counted(draft: Draft, event: deltas.ItemCounted) -> None:
    owner, item = draft.entity(event.owner, *_HOLDERS), draft.entity(event.item, Kind.ITEM)
    if owner is None or item is None:
        return
    hands = draft.hands(owner.id)
    if event.quantity < 1:
        hands.pop(item.id, None)
    else:
        old = hands.get(item.id, Stack(0))
        hands[item.id] = evolve(old, quantity=min(MAX_QUANTITY, event.quantity))


def _item_transferred(draft: Draft, event: deltas.ItemTransferred) -> None:
    giver, receiver = draft.entity(event.giver, *_HOLDERS), draft.entity(event.receiver, *_HOLDERS)
    item = draft.entity(event.item, Kind.ITEM)
    if giver and receiver and item and _countable(draft, event.quantity, item.name):
        # Who gives something had it: what nobody listed is unknown, not absent.
        have: Stack | None = draft.view("belongings").get(giver.id, {}).get(item.id)
        if have is not None:
            _lose(draft, giver.id, item.id, min(have.quantity, event.quantity))
        _gain(draft, receiver.id, item.id, event.quantity)


def _met(draft: Draft, event: deltas.Met) -> None:
    who = draft.entity(event.who, Kind.CHARACTER)
    if who is None or who.id == draft.view("player"):
        return
    if who.dead:
        # Only a status report brings a dead character back. Being listed as present does not.
        draft.problem(f"{who.name!r} is dead and was met again")
        return
    for group in ("met", "present"):
        draft.append(group, who.id)
    here = draft.view("whereabouts").get(draft.view("player"))
    if here is not None:
        there = draft.view("whereabouts").get(who.id)
        if there is None or there.place != here.place or there.left:
            draft.map("whereabouts")[who.id] = Placement(here.place, draft.depth, along=there is not None)


def _separated(draft: Draft, event: deltas.Separated) -> None:
    who = draft.entity(event.who, Kind.CHARACTER)
    if who is None:
        return
    where, here = (draft.view("whereabouts").get(id_) for id_ in (who.id, draft.view("player")))
    if who.id in draft.view("present"):
        draft.changed["present"] = tuple(other for other in draft.view("present") if other != who.id)
    elif not event.gone and (who.dead or where is None or here is None or where.place != here.place):
        return  # who is not here cannot leave, and that she is not here is no contradiction
    if (event.away or event.gone) and where is not None and not where.left:
        draft.map("whereabouts")[who.id] = evolve(where, left=True)


def _relation_changed(draft: Draft, event: deltas.RelationChanged) -> None:
    source, target = draft.entity(event.source, Kind.CHARACTER), draft.entity(event.target, Kind.CHARACTER)
    if source is None or target is None:
        return
    if source.id == target.id:
        draft.problem(f"{source.name!r} has no relation to itself")
        return
    relations = draft.map("relations")
    old: Relation | None = relations.get((source.id, target.id))
    kind = event.type or (old.type if old else "")
    felt, owed, was = (old.felt, old.owed, old.part(kind)) if old else (None, None, None)
    strength = (was.strength if was else 0) + event.amount
    strength = max(-MAX_STRENGTH, min(MAX_STRENGTH, strength))
    if is_debt(kind) and was and was.strength and not strength:
        kind = settled(kind)
    now = Relation(kind, strength, was.since if was and was.type == kind else draft.depth)
    if not is_debt(kind) and (was is None or was is not owed):
        now = evolve(now, debt=owed)
    elif felt is not None and not is_settled(felt.type):
        now = evolve(felt, debt=now if is_debt(kind) else None)
    relations[source.id, target.id] = now


def _relation_ended(draft: Draft, event: deltas.RelationEnded) -> None:
    relations = draft.map("relations")
    old: Relation | None = relations.get((event.source, event.target))
    if old is None:
        return
    ended = old.part(event.type)
    left = next((evolve(each, debt=None) for each in old.parts if each != ended), None)
    if left is None:
        del relations[event.source, event.target]
    else:
        relations[event.source, event.target] = left


def _event_triggered(draft: Draft, event: deltas.EventTriggered) -> None:
    happening = draft.entity(event.event, Kind.EVENT)
    if happening is None:
        return
    who = event.who if event.who is not None else (draft.view("player"), *draft.view("present"))
    links = {(each, "INVOLVED_IN", happening.id) for each in who}
    draft.changed["links"] = draft.view("links") | {link for link in links if link[0]}
    kept = (*draft.view("happenings"), Happening(happening.id, event.name, draft.depth))
    draft.changed["happenings"] = kept[-MAX_HAPPENINGS:]
    if happening.id in draft.view("schedule"):
        draft.map("schedule").pop(happening.id)


def _played(draft: Draft, event: deltas.Played) -> None:
    who, before = draft.entity(event.who, Kind.CHARACTER), draft.view("player")
    if who is None or who.id == before:
        return
    draft.changed["player"] = who.id
    draft.attribute(who, is_player=True)
    company = [each for each in draft.view("present") if each != who.id]
    old = draft.view("entities").get(before)
    if old is not None and not old.dead:
        company.append(before)
        draft.changed["met"] = tuple(dict.fromkeys((*draft.view("met"), before)))
    draft.changed["present"] = tuple(company)
    here = draft.view("whereabouts").get(before)
    if here is not None and who.id not in draft.view("whereabouts"):
        draft.map("whereabouts")[who.id] = Placement(here.place, draft.depth, along=True)


def _noted(draft: Draft, event: deltas.Noted) -> None:
    notes = (*draft.view("notes"), (draft.depth, event.text))
    draft.changed["notes"] = notes[-MAX_NOTES:]
    if secrets := tuple(each for each in notes[:-MAX_NOTES] if is_confided(each[1])):
        draft.changed["secrets"] = (*draft.view("secrets"), *secrets)[-MAX_SECRETS:]


def _unnoted(draft: Draft, event: deltas.Unnoted) -> None:
    said = (event.depth, event.text)
    where = next((each for each in ("notes", "secrets") if said in draft.view(each)), None)
    if where is None:
        draft.problem(f"turn {event.depth} has no remark {event.text!r} among those kept")
        return
    draft.changed[where] = tuple(each for each in draft.view(where) if each != said)
    draft.changed.update(curated.taken_back(draft.view("untrue"), draft.view("story"), said))


def _mentioned(draft: Draft, event: deltas.Mentioned) -> None:
    mentioned = draft.map("mentioned")
    for name in event.lore:
        mentioned[name] = draft.depth


def _attribute_set(draft: Draft, event: deltas.AttributeSet) -> None:
    entity = draft.entity(event.who)
    if entity is None:
        return
    attributes = {key: value for key, value in entity.attributes.items() if key != event.name}
    if event.value is not None:
        attributes[event.name] = event.value
    if event.name == "status" and event.value != entity.get("status"):
        attributes["status_since"] = draft.depth
    draft.put(evolve(entity, attributes=attributes))


def _value_set(draft: Draft, event: deltas.ValueSet) -> None:
    values = draft.map("values")
    if event.value is None:
        values.pop(event.key, None)
    else:
        values[event.key] = event.value


def _whole(draft: Draft, change: Callable[[WorldState], WorldState | str]) -> None:
    """A change of the state as a whole; why it cannot be is a problem."""
    before = draft.finish()
    after = change(before)
    if isinstance(after, str):
        draft.problem(after)
        return
    for name in _FIELDS:
        value = getattr(after, name)
        if value is not getattr(before, name):
            draft.changed[name] = value


def _merged(draft: Draft, event: deltas.Merged) -> None:
    if event.gone != event.into or event.into not in draft.view("merged").values():  # they are one already
        _whole(draft, lambda state: curated.merge(state, event))


def _found(draft: Draft, event: deltas.Found) -> None:
    draft.changed["findings"] = curated.noticed(draft.view("findings"), event, draft.depth, draft.view("merged"))


def _settled(draft: Draft, event: deltas.Settled) -> None:
    findings = draft.view("findings")
    if all(each.key != event.key for each in findings):
        draft.problem(f"there is no finding {event.key!r} to settle")
        return
    draft.changed["findings"] = tuple(
        evolve(each, verdict=event.verdict, note=event.note) if each.key == event.key else each for each in findings
    )


def _scheduled(draft: Draft, event: deltas.EventScheduled) -> None:
    if draft.entity(event.event, Kind.EVENT) is not None:
        before = draft.view("schedule")
        after = draft.changed["schedule"] = curated.scheduled(before, event, draft.depth)
        for lost in before.keys() - after.keys():
            draft.problem(f"{before[lost].name!r} is scheduled no more: a story keeps the latest {len(after)}")


def _closed(draft: Draft, event: deltas.EventClosed) -> None:
    if event.event not in draft.view("schedule"):
        draft.problem(f"{_name(draft, event.event)!r} is not scheduled")
        return
    closed = draft.map("schedule").pop(event.event)
    if event.outcome != curated.CANCELLED and (closed.kind or event.how or event.outcome):
        told = f"{closed.name}: {event.how}" if event.how else closed.name
        happening = Happening(event.event, told, draft.depth)
        draft.changed["happenings"] = (*draft.view("happenings"), happening)[-MAX_HAPPENINGS:]


def _advanced(draft: Draft, event: deltas.EventAdvanced) -> None:
    known = draft.view("schedule").get(event.event)
    if known is None:
        draft.problem(f"{_name(draft, event.event)!r} is not scheduled")
        return
    draft.map("schedule")[event.event] = evolve(known, text=event.text, advanced=draft.depth)


def _linked(draft: Draft, event: deltas.Linked) -> None:
    if draft.entity(event.source) is None or draft.entity(event.target) is None or event.type not in _LINKS:
        return
    draft.changed["links"] = draft.view("links") | {(event.source, event.type, event.target)}


def _unremembered(draft: Draft, event: deltas.Unremembered) -> None:
    if event.record not in draft.view("memories"):
        draft.problem(f"there is no memory {event.record!r}")
        return
    draft.map("memories").pop(event.record)


_FIELDS = tuple(attribute.name for attribute in attributes(WorldState))

_APPLY: Mapping[type, Callable[[Draft, Any], None]] = {
    deltas.Introduced: _introduced,
    deltas.Renamed: _renamed,
    deltas.Moved: _moved,
    deltas.HpChanged: _hp_changed,
    deltas.HpSet: _hp_set,
    deltas.MoodChanged: _mood_changed,
    deltas.StatusChanged: _status_changed,
    deltas.ItemGained: _item_gained,
    deltas.ItemLost: _item_lost,
    deltas.ItemCounted: _item_counted,
    deltas.ItemTransferred: _item_transferred,
    deltas.Met: _met,
    deltas.Separated: _separated,
    deltas.RelationChanged: _relation_changed,
    deltas.RelationEnded: _relation_ended,
    deltas.EventTriggered: _event_triggered,
    deltas.Played: _played,
    deltas.Noted: _noted,
    deltas.Unnoted: _unnoted,
    deltas.Mentioned: _mentioned,
    deltas.AttributeSet: _attribute_set,
    deltas.ValueSet: _value_set,
    deltas.Merged: _merged,
    deltas.Split: lambda draft, event: _whole(draft, lambda state: curated.split(state, event)),
    deltas.Forgotten: lambda draft, event: _whole(draft, lambda state: curated.forget(state, event.id)),
    deltas.Found: _found,
    deltas.Settled: _settled,
    deltas.StoryTold: lambda draft, event: draft.changed.update(story=curated.told(draft.view("story"), event)),
    deltas.LoreLearned: lambda draft, event: draft.changed.update(
        learned=curated.learned(draft.view("learned"), event)
    ),
    deltas.EventScheduled: _scheduled,
    deltas.EventAdvanced: _advanced,
    deltas.EventClosed: _closed,
    deltas.BlockWritten: lambda draft, event: draft.changed.update(
        blocks=curated.written(draft.view("blocks"), event, draft.depth)
    ),
    deltas.Remembered: lambda draft, event: draft.changed.update(
        memories=remembered(draft.view("memories"), event.record, draft.depth)
    ),
    deltas.Unremembered: _unremembered,
    deltas.TrackersDeclared: counting.declared,
    deltas.ProfileChosen: counting.profile_chosen,
    deltas.TrackerRemoved: counting.removed,
    deltas.TrackerSet: counting.is_set,
    deltas.TrackerChanged: counting.changed,
    deltas.ModuleUsed: lambda draft, event: draft.map("modules").update({event.module: event.version}),
    deltas.Linked: _linked,
    deltas.Observed: counting.observed,
    deltas.AudienceSet: set_audience,
    deltas.WorldSeen: facts.see,
    deltas.TextEdited: lambda draft, event: None,
}
