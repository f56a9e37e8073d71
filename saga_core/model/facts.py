"""What stories share in one world: the facts that a turn changed, and how they become true in another story.

A fact is one value: where a person is, what a thing or a place is like, how many of a thing somebody has, what the hour
is. It says how things are, and not what was done, so that the latest of several facts about the same is all that
counts, and a fact can be applied twice. Nobody but a story's own player changes that player's character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import evolve

from saga_core.model import counting
from saga_core.model.deltas import Fact, FactKey, Introduced, WorldSeen
from saga_core.model.draft import Draft
from saga_core.model.entities import DEAD, HABITS, MOMENT, Entity, Happening, Kind, Placement, Stack
from saga_core.model.world_state import MAX_HAPPENINGS, WorldState
from saga_core.trackers import TrackerKind, Whose, ends
from saga_core.values import Value

PLACES, PEOPLE, THINGS, CLOCK, EVENTS = SCOPES = ("places", "people", "things", "clock", "events")
"""What a world can declare as shared."""
_SCOPE_OF = {Kind.LOCATION: PLACES, Kind.CHARACTER: PEOPLE, Kind.ITEM: THINGS, Kind.EVENT: EVENTS}
_OF_A_STORY = frozenset({*HABITS, MOMENT, "is_player", "persona", "claims", "status_since", "mood"})
"""Attributes that belong to the story which has them."""


def changed_facts(before: WorldState, after: WorldState, hidden: bool) -> dict[FactKey, Fact]:
    """Return the facts of ``after`` that are not so in ``before``, by what they are about.

    With ``hidden``, nothing is told of the player's character, because nobody knows its name.
    """
    found = [*_entities(before, after), *_whereabouts(before, after), *_belongings(before, after)]
    found += [*_counts(before, after), *_happenings(before, after)]
    for source, kind, target in after.links - before.links if after.links is not before.links else ():
        if kind == "ADJACENT":
            found.append(Fact(PLACES, "link", source, target, True))
    return {each.key: each for each in found if not hidden or each.subject != after.player}


def _entities(before: WorldState, after: WorldState) -> Iterable[Fact]:
    if after.entities is before.entities:
        return
    for id_, entity in after.entities.items():
        old = before.entities.get(id_)
        if old is entity or entity.kind is Kind.EVENT:
            continue
        scope = _SCOPE_OF[entity.kind]
        if old is not None and old.name != entity.name:
            yield Fact(scope, "name", id_, "", entity.name)
        for name in {**(old.attributes if old is not None else {}), **entity.attributes}:
            own = id_ == after.player and name != "status"
            if name not in _OF_A_STORY and not own and (old is None or old.get(name) != entity.get(name)):
                yield Fact(scope, "attribute", id_, name, entity.get(name))


def _whereabouts(before: WorldState, after: WorldState) -> Iterable[Fact]:
    if after.whereabouts is before.whereabouts:
        return
    for who, where in after.whereabouts.items():
        old = before.whereabouts.get(who)
        if old is None or old.place != where.place:
            yield Fact(PEOPLE, "place", who, "", where.place)
        if (old is not None and old.left) != where.left:
            yield Fact(PEOPLE, "left", who, "", where.left)


def _belongings(before: WorldState, after: WorldState) -> Iterable[Fact]:
    if after.belongings is before.belongings:
        return
    for owner in {**before.belongings, **after.belongings}:
        old, new = before.belongings.get(owner, {}), after.belongings.get(owner, {})
        if old is new:
            continue
        for item in {**old, **new}:
            quantity = new.get(item, _NONE).quantity
            if old.get(item, _NONE).quantity != quantity:
                yield Fact(THINGS, "held", owner, item, quantity)


_NONE = Stack(0)


def _counts(before: WorldState, after: WorldState) -> Iterable[Fact]:
    if after.counts is before.counts:
        return
    for tracker in after.trackers:
        scope = CLOCK if tracker.kind is TrackerKind.CLOCK else _COUNTED.get(tracker.whose)
        if scope is None:
            continue
        old = before.counts.get(tracker.key, {})
        for subject, count in after.counts.get(tracker.key, {}).items():
            earlier = old.get(subject)
            if subject != after.player and (earlier is None or earlier.value != count.value):
                yield Fact(scope, "count", ends(subject)[0], tracker.key, count.value)


_COUNTED = {Whose.PLACE: PLACES, Whose.WORLD: PLACES, Whose.CHARACTER: PEOPLE}


def _happenings(before: WorldState, after: WorldState) -> Iterable[Fact]:
    known = set(before.happenings)
    for each in after.happenings:
        if each not in known and each.event in after.entities:
            yield Fact(EVENTS, "event", each.event, "", each.name)


def is_secret(state: WorldState, fact: Fact) -> bool:
    """Whether a fact is the value of a tracker that the story keeps from somebody, so that it is no other story's."""
    return fact.what == "count" and any(each.key == fact.other and each.secret for each in state.trackers)


def mentioned(state: WorldState, facts: Iterable[Fact]) -> tuple[Introduced, ...]:
    """Return the entities that facts are about, so that a story which does not know them can introduce them."""
    ids = dict.fromkeys(id_ for fact in facts for id_ in fact.ids)
    known = (state.entities[id_] for id_ in ids if id_ in state.entities)
    return tuple(Introduced(each.id, each.kind, each.name, each.aliases) for each in known)


def with_ids(fact: Fact, into: Mapping[str, str]) -> Fact:
    """Return a fact with other ids of the entities that it names."""
    if not any(each in into for each in fact.ids):
        return fact
    other = into.get(fact.other, fact.other) if fact.what in ("link", "held") else fact.other
    value = into.get(fact.value, fact.value) if fact.what == "place" and isinstance(fact.value, str) else fact.value
    return evolve(fact, subject=into.get(fact.subject, fact.subject), other=other, value=value)


def holds(state: WorldState, fact: Fact) -> bool:
    """Whether a fact is so in a state. A clock that is later than the fact says counts: time does not run back."""
    now = _now(state, fact)
    if fact.scope == CLOCK and isinstance(now, int) and isinstance(fact.value, int):
        return now >= fact.value
    return now == fact.value


def counts(later: Fact, earlier: Fact) -> bool:
    """Whether the later of two facts about the same counts. Of two hours, the farther one does."""
    one, other = later.value, earlier.value
    return later.scope != CLOCK or not isinstance(one, int) or not isinstance(other, int) or one >= other


def _now(state: WorldState, fact: Fact) -> Value:
    entity = state.entities.get(fact.subject)
    match fact.what:
        case "name":
            return entity.name if entity is not None else None
        case "attribute":
            return entity.get(fact.other) if entity is not None else None
        case "place" | "left":
            where = state.whereabouts.get(fact.subject)
            return (where.place if fact.what == "place" else where.left) if where is not None else None
        case "held":
            return state.belongings.get(fact.subject, {}).get(fact.other, _NONE).quantity
        case "link":
            return (fact.subject, "ADJACENT", fact.other) in state.links
        case "event":
            happened = any((fact.subject, fact.value) == (each.event, each.name) for each in state.happenings)
            return fact.value if happened else None
    tracker = next((each for each in state.trackers if each.key == fact.other), None)
    count = state.count(tracker, fact.subject) if tracker is not None and tracker.is_of(fact.subject) else None
    return count.value if count is not None else None


# -- folding ---------------------------------------------------------------------------------------------------


def see(draft: Draft, event: WorldSeen) -> None:
    """Make the facts true that a story has seen of its shared world. What it knows nothing of changes nothing."""
    draft.map("seen")[event.share] = event.number
    merged = draft.view("merged")
    for each in event.introduced:
        if each.id not in draft.view("entities") and each.id not in merged:  # it may be introduced twice
            draft.put(Entity(each.id, each.kind, each.name, each.aliases))
    for fact in event.facts:
        fact = with_ids(fact, merged)
        take = _SEE.get(fact.what)
        if take is not None and fact.subject != draft.view("player"):
            take(draft, fact)


def _is(draft: Draft, id_: str, kind: Kind) -> bool:
    found = draft.view("entities").get(id_)
    return found is not None and found.kind is kind


def _see_name(draft: Draft, fact: Fact) -> None:
    entity = draft.view("entities").get(fact.subject)
    if entity is not None and isinstance(fact.value, str) and fact.value not in ("", entity.name):
        names = dict.fromkeys((*entity.aliases, entity.name))
        names.pop(fact.value, None)
        draft.put(evolve(entity, name=fact.value, aliases=tuple(names)))


def _see_attribute(draft: Draft, fact: Fact) -> None:
    entity = draft.view("entities").get(fact.subject)
    if entity is None or entity.get(fact.other) == fact.value:
        return
    attributes = {name: value for name, value in entity.attributes.items() if name != fact.other}
    if fact.value is not None:
        attributes[fact.other] = fact.value
    if fact.other == "status":
        attributes["status_since"] = draft.depth
        if fact.value == DEAD:
            _no_longer_here(draft, entity.id)
    draft.put(evolve(entity, attributes=attributes))


def _see_place(draft: Draft, fact: Fact) -> None:
    if not _is(draft, fact.subject, Kind.CHARACTER):
        return
    if isinstance(fact.value, str) and _is(draft, fact.value, Kind.LOCATION):
        draft.map("whereabouts")[fact.subject] = Placement(fact.value, draft.depth)
    here = draft.view("whereabouts").get(draft.view("player"))
    if here is None or here.place != fact.value:
        _no_longer_here(draft, fact.subject)


def _see_left(draft: Draft, fact: Fact) -> None:
    where = draft.view("whereabouts").get(fact.subject)
    if where is not None and isinstance(fact.value, bool):
        draft.map("whereabouts")[fact.subject] = evolve(where, left=fact.value)
        if fact.value:
            _no_longer_here(draft, fact.subject)


def _no_longer_here(draft: Draft, who: str) -> None:
    if who in draft.view("present"):
        draft.changed["present"] = tuple(each for each in draft.view("present") if each != who)


def _see_held(draft: Draft, fact: Fact) -> None:
    known = _is(draft, fact.subject, Kind.CHARACTER) and _is(draft, fact.other, Kind.ITEM)
    if not known or not isinstance(fact.value, int):
        return
    hands = draft.hands(fact.subject)
    if fact.value < 1:
        hands.pop(fact.other, None)
    else:
        hands[fact.other] = evolve(hands.get(fact.other, _NONE), quantity=fact.value)


def _see_link(draft: Draft, fact: Fact) -> None:
    if _is(draft, fact.subject, Kind.LOCATION) and _is(draft, fact.other, Kind.LOCATION):
        draft.changed["links"] = draft.view("links") | {(fact.subject, "ADJACENT", fact.other)}


def _see_count(draft: Draft, fact: Fact) -> None:
    if not fact.subject or fact.subject in draft.view("entities"):
        counting.see(draft, fact.other, fact.subject, fact.value)


def _see_event(draft: Draft, fact: Fact) -> None:
    if not _is(draft, fact.subject, Kind.EVENT) or not isinstance(fact.value, str):
        return
    happenings = draft.view("happenings")
    if all((each.event, each.name) != (fact.subject, fact.value) for each in happenings):
        happening = Happening(fact.subject, fact.value, draft.depth)
        draft.changed["happenings"] = (*happenings, happening)[-MAX_HAPPENINGS:]


_SEE: Mapping[str, Callable[[Draft, Fact], None]] = {
    "name": _see_name,
    "attribute": _see_attribute,
    "place": _see_place,
    "left": _see_left,
    "held": _see_held,
    "link": _see_link,
    "count": _see_count,
    "event": _see_event,
}
