"""How trackers move in the fold: declarations, changes within limits, decay, and what happens at a limit."""

from __future__ import annotations

from attrs import evolve

from saga_core.model import deltas
from saga_core.model.draft import Draft
from saga_core.model.entities import Entity, Happening, Kind
from saga_core.model.world_state import MAX_HAPPENINGS, MAX_OBSERVED, Observation, WorldState
from saga_core.trackers import HEALTH, Count, Secrecy, Tracker, TrackerKind, Trackers, Whose, ends, pair, start_value
from saga_core.values import Value

_EARLIER = 12
"""Earlier values that are kept of each value."""
_HIT_POINTS = frozenset({"hp", "max_hp"})
_HOUR = 60
_MOST_ITEMS = 32
_AT_LIMIT = "limit:"
"""The beginning of the ids of events that a limit causes."""


def declared(draft: Draft, event: deltas.TrackersDeclared) -> None:
    before: Trackers = draft.view("trackers")
    draft.changed["trackers"] = before.with_more(event.trackers)
    known = draft.view("observed")
    if any(draft.changed["trackers"].find(key) for key in known):
        draft.changed["observed"] = {
            key: each for key, each in known.items() if draft.changed["trackers"].find(key) is None
        }


def profile_chosen(draft: Draft, event: deltas.ProfileChosen) -> None:
    draft.changed["trackers"] = draft.view("trackers").in_profile(event.profile, event.trackers)
    if not draft.changed["trackers"].asks(HEALTH):
        for entity in list(draft.view("entities").values()):
            if not entity.attributes.keys().isdisjoint(_HIT_POINTS):
                rest = {name: value for name, value in entity.attributes.items() if name not in _HIT_POINTS}
                draft.put(evolve(entity, attributes=rest))


def removed(draft: Draft, event: deltas.TrackerRemoved) -> None:
    tracker = draft.view("trackers").find(event.tracker)
    if tracker is None:
        draft.problem(f"{event.tracker!r} is not counted in this story")
        return
    draft.changed["trackers"] = draft.view("trackers").without(tracker.name)
    draft.map("counts").pop(tracker.key, None)


def is_set(draft: Draft, event: deltas.TrackerSet) -> None:
    tracker = _tracker(draft, event.tracker)
    if tracker is None or not _has_subject(draft, tracker, event.subject, event.other):
        return
    value = event.value
    if not fits(tracker, value):
        draft.problem(f"{tracker.name}: {value!r} is no value of a {tracker.kind.value}")
        return
    if tracker.kind is TrackerKind.CLOCK:
        _pass_hours(draft, tracker, value)
    _put(draft, tracker, event.subject, event.other, value)


def see(draft: Draft, key: str, subject: str, value: Value) -> None:
    """Take over a value from a shared world. What this story does not count, or counts otherwise, is left out.

    Hours that pass for others let nothing decay here: what is shared comes with its own value.
    """
    tracker = next((each for each in draft.view("trackers") if each.key == key), None)
    if tracker is None or not fits(tracker, value):
        return
    if tracker.kind is TrackerKind.CLOCK:
        before = _value(draft, tracker, "", "")
        if isinstance(before, int) and isinstance(value, int) and before >= value:
            return  # time does not run back
    _put(draft, tracker, subject, "", value)


def changed(draft: Draft, event: deltas.TrackerChanged) -> None:
    tracker = _tracker(draft, event.tracker)
    if tracker is None or not _has_subject(draft, tracker, event.subject, event.other):
        return
    before = _value(draft, tracker, event.subject, event.other)
    if tracker.kind is TrackerKind.LIST:
        items = before if isinstance(before, tuple) else ()
        kept = [item for item in items if item not in event.removed]
        _put(draft, tracker, event.subject, event.other, tuple(dict.fromkeys((*kept, *event.added)))[-_MOST_ITEMS:])
    elif tracker.kind is TrackerKind.CLOCK and before is None:
        return  # how much time passed says nothing of an hour that nobody knows
    elif not tracker.numeric:
        draft.problem(f"{tracker.name}: a {tracker.kind.value} cannot change by {event.by:+d}")
    else:
        # Nobody has said what there was: a change of an unknown amount counts from zero.
        after = (before if isinstance(before, int) else 0) + event.by
        if tracker.kind is TrackerKind.CLOCK:
            _pass_hours(draft, tracker, after)
        _put(draft, tracker, event.subject, event.other, after)


def observed(draft: Draft, event: deltas.Observed) -> None:
    known = dict(draft.view("observed"))
    old = known.pop(event.key, None)
    known[event.key] = Observation(event.value, old.times + 1 if old else 1, draft.depth)
    draft.changed["observed"] = dict(list(known.items())[-MAX_OBSERVED:])


def pass_turns(draft: Draft, turns: int) -> None:
    """Let what decays by turns decay."""
    for tracker in draft.view("trackers"):
        if tracker.decay and not tracker.hourly:
            _decay(draft, tracker, turns)


def _pass_hours(draft: Draft, clock: Tracker, now: Value) -> None:
    before = _value(draft, clock, "", "")
    hours = (now // _HOUR - before // _HOUR) if isinstance(now, int) and isinstance(before, int) else 0
    if hours > 0:
        for tracker in draft.view("trackers"):
            if tracker.decay and tracker.hourly:
                _decay(draft, tracker, hours)


def _decay(draft: Draft, tracker: Tracker, times: int) -> None:
    subjects = set(draft.view("counts").get(tracker.key, {}))
    if tracker.whose is Whose.PLAYER:
        subjects.add(draft.view("player"))
    elif tracker.whose is Whose.WORLD:
        subjects.add("")
    for subject in sorted(subjects):
        value = _value(draft, tracker, *ends(subject))
        if isinstance(value, int):
            _put(draft, tracker, *ends(subject), value + tracker.decay * times)


def _put(draft: Draft, tracker: Tracker, subject: str, other: str, value: Value) -> None:
    before = _count(draft, tracker, subject, other)
    if isinstance(value, int) and tracker.numeric:
        value = tracker.clamped(value)
    if before is not None and before.value == value:
        return
    earlier = (*before.earlier, (before.since, before.value))[-_EARLIER:] if before is not None else ()
    counts = draft.map("counts")
    counts[tracker.key] = {**counts.get(tracker.key, {}), pair(subject, other): Count(value, draft.depth, earlier)}
    if tracker.event and tracker.numeric and value in tracker.limits:
        name = _name(draft, subject)
        text = f"{name}: {tracker.event}" if name and tracker.whose is not Whose.PLAYER else tracker.event
        happening = Happening(f"{_AT_LIMIT}{tracker.key}:{pair(subject, other)}", text, draft.depth)
        draft.changed["happenings"] = (*draft.view("happenings"), happening)[-MAX_HAPPENINGS:]


def without_secrets(happenings: tuple[Happening, ...], trackers: Trackers) -> tuple[Happening, ...]:
    """``happenings`` without the limits of trackers that are secret to the characters."""
    secret = tuple(f"{_AT_LIMIT}{each.key}:" for each in trackers if each.secret is Secrecy.CHARACTERS)
    return tuple(each for each in happenings if not each.event.startswith(secret)) if secret else happenings


def fits(tracker: Tracker, value: Value) -> bool:
    """Whether a value is of the tracker's kind."""
    if tracker.numeric:
        return isinstance(value, int) and not isinstance(value, bool)
    if tracker.kind is TrackerKind.FLAG:
        return isinstance(value, bool)
    if tracker.kind is TrackerKind.LIST:
        return isinstance(value, tuple)
    if tracker.kind is TrackerKind.THREADS or not isinstance(value, str):
        return False
    return tracker.kind is not TrackerKind.CHOICE or value in [name for _, name in tracker.steps]


def _tracker(draft: Draft, name: str) -> Tracker | None:
    trackers: Trackers = draft.view("trackers")
    found = trackers.find(name)
    if found is None and not trackers.profile:  # what another sort of story counts is no problem
        draft.problem(f"{name!r} is not counted in this story")
    return found


def _has_subject(draft: Draft, tracker: Tracker, subject: str, other: str) -> bool:
    entities = draft.view("entities")
    wanted = {Whose.PLACE: Kind.LOCATION}.get(tracker.whose, Kind.CHARACTER)
    given = [each for each in (subject, other) if each]
    if tracker.is_of(subject, other) and all(each in entities and entities[each].kind is wanted for each in given):
        return not other or subject != other
    draft.problem(f"{tracker.name}: nobody is known of whom this is told ({' → '.join(given) or 'no name'})")
    return False


def _count(draft: Draft, tracker: Tracker, subject: str, other: str) -> Count | None:
    found: Count | None = draft.view("counts").get(tracker.key, {}).get(pair(subject, other))
    if found is not None:
        return found
    value = start_value(tracker)
    return None if value is None else Count(value)


def _value(draft: Draft, tracker: Tracker, subject: str, other: str) -> Value:
    found = _count(draft, tracker, subject, other)
    return found.value if found is not None else None


def _name(draft: Draft, id_: str) -> str:
    found: Entity | None = draft.view("entities").get(id_)
    return found.name if found else ""


def with_subject(state: WorldState, gone: str, into: str = "") -> dict[str, dict[str, Count]]:
    """The values of a state in which ``into`` takes those of ``gone``; without ``into`` they are dropped."""
    found: dict[str, dict[str, Count]] = {}
    for key, subjects in state.counts.items():
        own = found.setdefault(key, {})
        for subject, count in subjects.items():
            parts = ends(subject)
            if gone not in parts:
                own[subject] = count
            elif into:
                one, other = (into if each == gone else each for each in parts)
                if one != other:
                    moved = pair(one, other)
                    if moved not in subjects or subjects[moved].since < count.since:
                        own[moved] = count
    return found
