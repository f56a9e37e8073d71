"""Lines of what is true: what a story counts, what changed, what is due, and plain data for the key-value view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from attrs import frozen

from saga_core.language import DEFAULT, is_debt, language_of, squash
from saga_core.model import ALIVE, HABITS, Entity, Event, Fact, Kind, Scheduled, Session, WorldState, deltas
from saga_core.projection.graph_image import GraphImage
from saga_core.stores import Value
from saga_core.trackers import (
    ADVENTURE,
    Count,
    Secrecy,
    Telling,
    Tracker,
    Whose,
    ends,
    is_relative,
    overdue_from,
    shown_due,
    shown_value,
)

# -- counts ----------------------------------------------------------------------------------------------------
#
# The values of a story's trackers: whose they are, and which of them the narrator is told.

_TENTH = 10
"""The part of a range that is near a limit."""


@frozen
class CountedValue:
    """A value of a tracker. ``subject`` and ``other`` are ids, empty for the world and for no pair."""

    tracker: Tracker
    subject: str
    other: str
    count: Count

    def label(self, state: WorldState) -> str:
        """The tracker's name, with whose value it is unless it is the player's or the world's."""
        if not self.subject or (self.subject == state.player and not self.other):
            return self.tracker.name
        names = " → ".join(state.name(each) for each in (self.subject, self.other) if each)
        return f"{self.tracker.name} ({names})"

    def text(self, language: str) -> str:
        """The value as text."""
        value = self.count.value
        if isinstance(value, bool):
            words = language_of(language).labels
            return words.yes if value else words.no
        return shown_value(self.tracker, value, language)

    def told(self, language: str) -> str:
        """The name and the value, for the narrator."""
        secret = self.tracker.secret
        mark = f" [{language_of(language).labels.secret_count[secret.value]}]" if secret is not Secrecy.NO else ""
        return f"{self.tracker.name}: {self.text(language)}{mark}"

    def is_told(self, depth: int) -> bool:
        """Whether the narrator is told it after the turn at ``depth``."""
        tracker, value = self.tracker, self.count.value
        if tracker.told is Telling.CHANGED:
            return 0 < self.count.since >= depth
        if tracker.told is Telling.NEAR_LIMIT:
            least, most = tracker.limits
            if not isinstance(value, int) or (least is None and most is None):
                return False
            near = max(1, ((most or 0) - (least or 0)) // _TENTH) if least is not None and most is not None else 1
            return (least is not None and value - least <= near) or (most is not None and most - value <= near)
        return tracker.told is Telling.ALWAYS


def counted_values(state: WorldState) -> list[CountedValue]:
    """All known values, in the order of the trackers. What nobody knows is left out."""
    found = []
    for tracker in state.trackers:
        for subject in dict.fromkeys((*_subjects(state, tracker), *state.counts.get(tracker.key, ()))):
            count = state.count(tracker, *ends(subject)) if tracker.is_of(*ends(subject)) else None
            if count is not None:
                found.append(CountedValue(tracker, *ends(subject), count))
    return found


def _subjects(state: WorldState, tracker: Tracker) -> Iterator[str]:
    if tracker.whose is Whose.WORLD:
        yield ""
    elif tracker.whose is Whose.PLAYER:
        yield state.player
    elif tracker.whose is Whose.PLACE:
        yield from (state.location,) if state.location else ()
    elif tracker.whose is Whose.CHARACTER:
        yield from state.present
    else:
        yield from (f"{who}>{state.player}" for who in state.present)


_DAY = 24 * 60


def due_time(state: WorldState, event: Scheduled, language: str) -> str:
    """When an event is due by the story's clock; as it was said if the clock does not know it."""
    clock = state.clock
    if clock is None or event.at is None:
        return event.when
    return shown_due(clock, event.at, event.when, language)


def told_time(state: WorldState, event: Scheduled, language: str) -> str:
    """``due_time``, of an overdue thread with the word for it, and with the number of days where the time alone, such
    as a weekday, could be that of another week."""
    shown, words, clock, now = due_time(state, event, language), language_of(language).texts, state.clock, state.minutes
    if event.at is None or now is None or clock is None or not shown:
        return shown
    if event.kind and now >= overdue_from(event.at, event.when):
        return words.overdue.format(when=shown)
    days = round((event.at - now) / _DAY)
    return words.in_days.format(when=shown, days=days) if days > 5 and not clock.start else shown


def describe_counts(state: WorldState, language: str) -> dict[str, Any]:
    """The declarations, the values and what is only observed, with names instead of ids. JSON-able."""
    return {
        "profile": state.trackers.profile or ADVENTURE,
        "trackers": [
            {
                "name": each.tracker.name,
                "kind": each.tracker.kind.value,
                "for": each.tracker.whose.value,
                "who": state.name(each.subject) if each.subject else None,
                "to": state.name(each.other) if each.other else None,
                "value": list(each.count.value) if isinstance(each.count.value, tuple) else each.count.value,
                "text": each.text(language),
                "least": each.tracker.limits[0],
                "most": each.tracker.limits[1],
                "since": each.count.since,
                "earlier": [
                    {
                        "turn": depth,
                        "value": list(value) if isinstance(value, tuple) else value,
                        "text": shown_value(each.tracker, value, language),
                    }
                    for depth, value in each.count.earlier
                ],
                "secret": each.tracker.secret.value or None,
            }
            for each in counted_values(state)
        ],
        "threads": [
            {
                "kind": each.kind,
                "name": each.name,
                "text": each.text,
                "between": each.between or None,
                "when": due_time(state, each, language) or None,
                "since": each.since,
                "advanced": each.advanced,
            }
            for each in state.schedule.values()
            if each.kind
        ],
        "observed": [
            {"key": key, "value": each.value, "times": each.times, "turn": each.since}
            for key, each in state.observed.items()
        ],
    }


# -- lines -----------------------------------------------------------------------------------------------------
#
# The known facts line by line. Each line is one statement that a user can check, correct and trace to a turn.

StateLineKey = tuple[str, str, str]
"""Kind, subject and other. Statements about the same thing have the same key, whatever their content."""


@frozen(kw_only=True)
class StateLine:
    """A statement.

    ``kind`` is ``place``, ``hp``, ``mood``, ``condition``, ``status``, ``present``, ``elsewhere``, ``item``,
    ``relation``, ``note``, ``event``, ``happening``, or ``tracker:`` with the key of a tracker.
    """

    kind: str
    subject: str = ""
    """The id of the entity; of a note its turn and its number there; of an event or a happening the event's id."""
    other: str = ""
    """The id of the item, or of the target of a relation."""
    text: str = ""
    when: str = ""
    """The time by the story's clock when an event is due; as it was said if the clock does not know it."""
    told: str = ""
    """``when``, as it is told: overdue, or in so many days."""
    number: int | None = None
    """Hit points, quantity, strength, or the turn when an event is due."""
    top: int | None = None
    """The maximum of the hit points."""
    since: int | None = None
    """The turn (depth) of a note, of a happening, or of the scheduling of an event."""

    @property
    def key(self) -> StateLineKey:
        """The key of the statement."""
        kind = "debt" if self.kind == "relation" and is_debt(self.text) else self.kind
        return kind, self.subject, self.other


def state_lines(state: WorldState, language: str = DEFAULT) -> list[StateLine]:
    """Return the statements of a state: the player, company, relations, the dead, notes, scheduled events, those who
    were met and are elsewhere, and what happened.

    People come with what they carry. A condition is a status of the living, such as a wound.
    """
    return list(_lines(state, language))


def _lines(state: WorldState, language: str) -> Iterator[StateLine]:
    place = state.location
    yield StateLine(kind="place", subject=state.player, text=state.name(place) if place else "")
    yield from person_lines(state, state.player, own=True)
    for who in state.present:
        yield StateLine(kind="present", subject=who, text=state.name(who))
        yield from person_lines(state, who)
    for (source, target), relation in state.relations.items():
        for part in relation.parts:
            yield StateLine(kind="relation", subject=source, other=target, text=part.type, number=part.strength)
    for value in counted_values(state):
        number = value.count.value if value.tracker.numeric and isinstance(value.count.value, int) else None
        yield StateLine(
            kind=f"tracker:{value.tracker.key}",
            subject=value.subject,
            other=value.other,
            text=f"{value.label(state)}: {value.text(language)}",
            number=number,
            top=value.tracker.limits[1] if number is not None else None,
        )
    for entity in state.of_kind(Kind.CHARACTER):
        if entity.dead:
            yield StateLine(kind="status", subject=entity.id, text=str(entity.get("status")))
    seen: dict[int, int] = {}
    for depth, text in state.remarks:
        seen[depth] = seen.get(depth, 0) + 1
        yield StateLine(kind="note", subject=f"{depth}.{seen[depth]}", text=text, since=depth)
    for event in state.schedule.values():
        text = f"{event.name}: {event.text}" if event.text else event.name
        when, told = due_time(state, event, language), told_time(state, event, language)
        yield StateLine(
            kind="event", subject=event.event, text=text, when=when, told=told, number=event.due, since=event.since
        )
    for who in elsewhere(state):
        where = state.whereabouts.get(who)
        yield StateLine(kind="elsewhere", subject=who, text=state.name(where.place) if where and not where.left else "")
        yield from person_lines(state, who)
    latest = {each.event: each for each in state.happenings}
    for happened in sorted(latest.values(), key=lambda each: each.depth):
        yield StateLine(kind="happening", subject=happened.event, text=happened.name, since=happened.depth)


def elsewhere(state: WorldState) -> tuple[str, ...]:
    """Return the ids of the living who were met and are not here."""
    here = {state.player, *state.present}
    return tuple(who for who in state.met if who not in here and who in state.entities and not state.entities[who].dead)


def person_lines(state: WorldState, who: str, *, own: bool = False) -> Iterator[StateLine]:
    """Yield how somebody is and what they carry, wherever they are. ``own`` is for the player."""
    entity = state.entities.get(who)
    if entity is None:
        return
    hp, top, mood = entity.get("hp"), entity.get("max_hp"), entity.get("mood")
    if isinstance(hp, int):
        yield StateLine(kind="hp", subject=who, number=hp, top=top if isinstance(top, int) else None)
    if mood or own:
        yield StateLine(kind="mood", subject=who, text=str(mood or ""))
    status = entity.get("status")
    if status and status != ALIVE and not entity.dead:
        yield StateLine(kind="condition", subject=who, text=str(status))
    for item, stack in state.belongings.get(who, {}).items():
        yield StateLine(kind="item", subject=who, other=item, text=state.name(item), number=stack.quantity)


def touched(event: Event) -> tuple[StateLineKey, ...]:
    """Return the keys of the statements that an event may have changed; empty for other events."""
    match event:
        case deltas.Moved(who=who):
            return ("place", who, ""), ("elsewhere", who, "")
        case deltas.HpChanged(who=who) | deltas.HpSet(who=who):
            return (("hp", who, ""),)
        case deltas.MoodChanged(who=who):
            return (("mood", who, ""),)
        case deltas.StatusChanged(who=who):
            return ("status", who, ""), ("condition", who, ""), ("present", who, "")
        case deltas.ItemGained(owner=owner, item=item) | deltas.ItemLost(owner=owner, item=item):
            return (("item", owner, item),)
        case deltas.ItemCounted(owner=owner, item=item):
            return (("item", owner, item),)
        case deltas.ItemTransferred(giver=giver, receiver=receiver, item=item):
            return ("item", giver, item), ("item", receiver, item)
        case deltas.Met(who=who) | deltas.Separated(who=who):
            return ("present", who, ""), ("elsewhere", who, "")
        case deltas.EventTriggered(event=name):
            return (("happening", name, ""),)
        case deltas.RelationChanged(source=source, target=target) | deltas.RelationEnded(source=source, target=target):
            return ("relation", source, target), ("debt", source, target)
        case deltas.AttributeSet(who=who, name=name):
            return (("hp" if name == "max_hp" else name, who, ""),)
        case deltas.Introduced(id=who, attributes=attributes):
            return tuple(("hp" if name == "max_hp" else name, who, "") for name in attributes)
        case (
            deltas.TrackerSet(tracker=name, subject=who, other=target)
            | deltas.TrackerChanged(tracker=name, subject=who, other=target)
        ):
            return ((f"tracker:{squash(name)}", who, target),)
        case deltas.EventScheduled(event=name) | deltas.EventAdvanced(event=name):
            return (("event", name, ""),)
        case deltas.EventClosed(event=name):
            return (("happening", name, ""),)
        case deltas.WorldSeen(facts=facts):
            return tuple(key for fact in facts for key in _touched(fact))
        case _:
            return ()


def _touched(fact: Fact) -> tuple[StateLineKey, ...]:
    match fact.what:
        case "place" | "left":
            return ("place", fact.subject, ""), ("present", fact.subject, "")
        case "held":
            return (("item", fact.subject, fact.other),)
        case "event":
            return (("happening", fact.subject, ""),)
        case "count":
            return ((f"tracker:{fact.other}", fact.subject, ""),)
        case "attribute" if fact.other == "status":
            return ("status", fact.subject, ""), ("condition", fact.subject, ""), ("present", fact.subject, "")
        case "attribute":
            return (("hp" if fact.other == "max_hp" else fact.other, fact.subject, ""),)
    return ()


_MOST_FACTS = 8
"""Facts that one line tells. The state has all of them."""


def elsewhere_lines(state: WorldState, events: Iterable[Event], language: str) -> tuple[str, ...]:
    """Return a line about what a story sees of its shared world now: ``[meanwhile, …] Kesh → harbour; gate: burnt``."""
    facts = [fact for event in events if isinstance(event, deltas.WorldSeen) for fact in event.facts]
    texts = fact_texts(state, facts, language)[-_MOST_FACTS:]
    return (f"[{language_of(language).texts.elsewhere}] {'; '.join(texts)}",) if texts else ()


def fact_texts(state: WorldState, facts: Iterable[Fact], language: str) -> list[str]:
    """Return facts as short texts with names."""
    return [text for fact in facts if (text := _fact_text(state, fact, language))]


def _fact_text(state: WorldState, fact: Fact, language: str) -> str:
    name = state.name(fact.subject)
    match fact.what:
        case "attribute" if fact.value is not None:
            value = ", ".join(map(str, fact.value)) if isinstance(fact.value, tuple) else str(fact.value)
            return f"{name}: {value}" if fact.other == "status" else f"{name}: {fact.other} {value}"
        case "place" if fact.value:
            return f"{name} → {state.name(str(fact.value))}"
        case "held":
            return f"{name}: {state.name(fact.other)} ×{fact.value}"
        case "link":
            return f"{name} – {state.name(fact.other)}"
        case "event":
            return str(fact.value)
        case "count":
            tracker = next((each for each in state.trackers if each.key == fact.other), None)
            if tracker is not None and tracker.told is not Telling.NEVER and not tracker.secret:
                said = f"{tracker.name} {shown_value(tracker, fact.value, language)}"
                return f"{name}: {said}" if fact.subject else said
    return ""


def due(state: WorldState) -> tuple[Scheduled, ...]:
    """Return the scheduled events that are due at the next turn and have not expired, the most urgent first."""
    found = [each for each in state.schedule.values() if _is_due(each, state)]
    return tuple(sorted(found, key=lambda each: (each.expires is None, each.expires or 0, each.due or 0, each.event)))


def due_lines(state: WorldState, language: str) -> tuple[str, ...]:
    """Return the due events as lines for the context."""
    words, lines = language_of(language).texts, []
    for each in due(state):
        text = f"{each.name}: {each.text}" if each.text else each.name
        if each.expires is not None:
            text += f" {words.turns_left.format(left=each.expires - state.depth)}"
        lines.append(f"[{words.due}] {text}")
    return (*lines, *thread_lines(state, language))


_NEAR, _OVERDUE, _FRESH, _MOST_THREADS = 3 * _DAY, 7 * _DAY, 24, 8
"""Minutes before its time from which a thread is told, minutes for which it is told as overdue, turns after its latest
news in which one without a time is told, and the threads that are told."""


def thread_lines(state: WorldState, language: str, *, near: bool = True) -> Iterator[str]:
    """Yield the open threads that are near, or all of them, the most urgent first: ``[plans, not yet happened; Day 6,
    …] festival``."""
    words, clock, now = language_of(language).texts, state.clock, state.minutes
    found: list[tuple[float, str]] = []
    for each in state.schedule.values():
        if not each.kind:
            continue
        mark, rank = each.kind, float(_NEAR)
        if each.at is not None and now is not None and clock is not None:
            shown, end = told_time(state, each, language), overdue_from(each.at, each.when)
            if near and now >= end + _OVERDUE:
                continue
            mark += f", {shown if now >= end else words.to_come.format(when=shown)}"
            rank = max(0, each.at - now)
        elif near and state.depth - max(each.advanced, each.since) > _FRESH and _counts_from_then(each, state):
            continue
        elif each.when:
            # Without a clock, "tomorrow" may be past: it counts from the turn that said it.
            since = language_of(language).labels.turn.format(depth=each.since)
            late = _counts_from_then(each, state)
            mark += f", {f'{each.when} {since}' if late else words.to_come.format(when=each.when)}"
        if rank <= _NEAR or not near:
            told = f" ({each.between})" if each.between else ""
            found.append((rank, f"[{mark}] {each.name}{told}{f': {each.text}' if each.text else ''}"))
    found.sort(key=lambda each: each[0])
    return (line for _, line in (found[:_MOST_THREADS] if near else found))


def _counts_from_then(each: Scheduled, state: WorldState) -> bool:
    """Whether a thread has no time, or one that says how far ahead of an earlier turn it is."""
    return not each.when or (each.since < state.depth and is_relative(each.when))


def _is_due(each: Scheduled, state: WorldState) -> bool:
    turn = state.depth + 1
    if each.kind:
        return False  # see ``thread_lines``
    if each.due is not None and turn < each.due:
        return False
    if each.expires is not None and turn > each.expires:
        return False
    if each.at is not None and (state.minutes is None or state.minutes < each.at):
        return False
    if each.place and each.place != state.location:
        return False
    return not each.who or each.who in state.present


# -- plain data ------------------------------------------------------------------------------------------------


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
    return {_as_key(name): value for name, value in view.items()}


_LONGEST_KEY = 512
"""Bytes of a name in a store's key, of which 1,024 are allowed in all."""


def _as_key(name: str) -> str:
    """Return a name as a part of a key: a long one as its beginning and a digest."""
    if len(name) * 4 <= _LONGEST_KEY or len(data := name.encode()) <= _LONGEST_KEY:
        return name
    return f"{name[:80]}… {sha256(data).hexdigest()[:16]}"


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
                "type": part.type,
                "strength": part.strength,
            }
            for (source, target), relation in state.relations.items()
            for part in relation.parts
        ],
        "events": [{"name": event.name, "turn": event.depth} for event in state.happenings],
        "notes": [{"turn": depth, "text": text} for depth, text in state.remarks],
        **describe_counts(state, language),
        "habits": [habit for habit in HABITS if player.get(habit)],
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
