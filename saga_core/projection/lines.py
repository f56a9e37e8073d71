"""The known facts line by line. Each line is one statement that a user can check, correct and trace to a turn."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from saga_core.language import DEFAULT, language_of
from saga_core.model import Event, Kind, Scheduled, WorldState, deltas
from saga_core.projection.counts import counted_values
from saga_core.trackers import shown_value, spelling

StateLineKey = tuple[str, str, str]
"""Kind, subject and other. Statements about the same thing have the same key, whatever their content."""


@frozen(kw_only=True)
class StateLine:
    """A statement.

    ``kind`` is ``place``, ``hp``, ``mood``, ``status``, ``present``, ``item``, ``relation``, ``note``,
    ``event``, or ``tracker:`` with the key of a tracker.
    """

    kind: str
    subject: str = ""
    """The id of the entity; of a note its turn and its number there; of an event the event's id."""
    other: str = ""
    """The id of the item, or of the target of a relation."""
    text: str = ""
    number: int | None = None
    """Hit points, quantity, strength, or the turn when an event is due."""
    top: int | None = None
    """The maximum of the hit points."""
    since: int | None = None
    """The turn (depth) of a note or of the scheduling of an event."""

    @property
    def key(self) -> StateLineKey:
        """The key of the statement."""
        return self.kind, self.subject, self.other


def state_lines(state: WorldState) -> list[StateLine]:
    """Return the statements of a state: the player, company, relations, the dead, notes and scheduled events."""
    return list(_lines(state))


def _lines(state: WorldState) -> Iterator[StateLine]:
    place = state.location
    yield StateLine(kind="place", subject=state.player, text=state.name(place) if place else "")
    yield from _person(state, state.player, own=True)
    for item, stack in state.belongings.get(state.player, {}).items():
        yield StateLine(kind="item", subject=state.player, other=item, text=state.name(item), number=stack.quantity)
    for who in state.present:
        yield StateLine(kind="present", subject=who, text=state.name(who))
        yield from _person(state, who)
    for (source, target), relation in state.relations.items():
        yield StateLine(kind="relation", subject=source, other=target, text=relation.type, number=relation.strength)
    for value in counted_values(state):
        number = value.count.value if value.tracker.numeric and isinstance(value.count.value, int) else None
        yield StateLine(
            kind=f"tracker:{value.tracker.key}",
            subject=value.subject,
            other=value.other,
            text=value.told(DEFAULT),
            number=number,
            top=value.tracker.limits[1] if number is not None else None,
        )
    for entity in state.of_kind(Kind.CHARACTER):
        if entity.dead:
            yield StateLine(kind="status", subject=entity.id, text=str(entity.get("status")))
    seen: dict[int, int] = {}
    for depth, text in state.notes:
        seen[depth] = seen.get(depth, 0) + 1
        yield StateLine(kind="note", subject=f"{depth}.{seen[depth]}", text=text, since=depth)
    for event in state.schedule.values():
        text = f"{event.name}: {event.text}" if event.text else event.name
        yield StateLine(kind="event", subject=event.event, text=text, number=event.due, since=event.since)


def _person(state: WorldState, who: str, *, own: bool = False) -> Iterator[StateLine]:
    entity = state.entities.get(who)
    if entity is None:
        return
    hp, top, mood = entity.get("hp"), entity.get("max_hp"), entity.get("mood")
    if isinstance(hp, int):
        yield StateLine(kind="hp", subject=who, number=hp, top=top if isinstance(top, int) else None)
    if mood or own:
        yield StateLine(kind="mood", subject=who, text=str(mood or ""))


def touched(event: Event) -> tuple[StateLineKey, ...]:
    """Return the keys of the statements that an event may have changed; empty for other events."""
    match event:
        case deltas.Moved(who=who):
            return (("place", who, ""),)
        case deltas.HpChanged(who=who) | deltas.HpSet(who=who):
            return (("hp", who, ""),)
        case deltas.MoodChanged(who=who):
            return (("mood", who, ""),)
        case deltas.StatusChanged(who=who):
            return ("status", who, ""), ("present", who, "")
        case deltas.ItemGained(owner=owner, item=item) | deltas.ItemLost(owner=owner, item=item):
            return (("item", owner, item),)
        case deltas.ItemCounted(owner=owner, item=item):
            return (("item", owner, item),)
        case deltas.ItemTransferred(giver=giver, receiver=receiver, item=item):
            return ("item", giver, item), ("item", receiver, item)
        case deltas.Met(who=who) | deltas.Separated(who=who):
            return (("present", who, ""),)
        case deltas.RelationChanged(source=source, target=target):
            return (("relation", source, target),)
        case deltas.AttributeSet(who=who, name=name):
            return (("hp" if name == "max_hp" else name, who, ""),)
        case deltas.Introduced(id=who, attributes=attributes):
            return tuple(("hp" if name == "max_hp" else name, who, "") for name in attributes)
        case (
            deltas.TrackerSet(tracker=name, subject=who, other=target)
            | deltas.TrackerChanged(tracker=name, subject=who, other=target)
        ):
            return ((f"tracker:{spelling(name)}", who, target),)
        case deltas.EventScheduled(event=name) | deltas.EventAdvanced(event=name):
            return (("event", name, ""),)
        case _:
            return ()


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


_DAY = 24 * 60
_NEAR, _FRESH, _MOST_THREADS = 3 * _DAY, 24, 8
"""Minutes before its time from which a thread is told, turns after its latest news in which one without a time is, and
the threads that are told."""


def thread_lines(state: WorldState, language: str) -> Iterator[str]:
    """Yield the open threads that are near, the most urgent first: ``[plans, not yet happened; Day 6, …] festival``."""
    words, clock = language_of(language).texts, state.clock
    count = state.count(clock) if clock is not None else None
    now = count.value if count is not None and isinstance(count.value, int) else None
    found: list[tuple[float, str]] = []
    for each in state.schedule.values():
        if not each.kind:
            continue
        mark, rank = each.kind, float(_NEAR)
        if each.at is not None and now is not None and clock is not None:
            shown = shown_value(clock, each.at, language)
            mark += f", {(words.overdue if now >= each.at + _DAY else words.to_come).format(when=shown)}"
            rank = abs(each.at - now)
        elif each.when:
            mark += f", {words.to_come.format(when=each.when)}"
        elif state.depth - max(each.advanced, each.since) > _FRESH:
            continue
        if rank <= _NEAR:
            told = f" ({each.between})" if each.between else ""
            found.append((rank, f"[{mark}] {each.name}{told}{f': {each.text}' if each.text else ''}"))
    found.sort(key=lambda each: each[0])
    return (line for _, line in found[:_MOST_THREADS])


def _is_due(each: Scheduled, state: WorldState) -> bool:
    turn = state.depth + 1
    if each.kind:
        return False  # see ``thread_lines``
    if each.due is not None and turn < each.due:
        return False
    if each.expires is not None and turn > each.expires:
        return False
    if each.place and each.place != state.location:
        return False
    return not each.who or each.who in state.present
