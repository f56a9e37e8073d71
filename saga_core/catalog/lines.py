"""Lines: what is known as plain data, with names instead of ids, and the turn and change that each comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import define, field, frozen
from cachetools import LRUCache

from saga_core.codec import to_plain
from saga_core.language import DEFAULT
from saga_core.model import Delta, Event, Turn, WorldState, deltas, undoings
from saga_core.projection import CountedValue, StateLine, StateLineKey, person_lines, state_lines, touched
from saga_core.sessions import LiveSession
from saga_core.trackers import Count, TrackerKind, shown_value

_SESSIONS = 8


@frozen
class LineOrigin:
    """The turn that last changed a line."""

    turn: str
    depth: int
    by: str
    """A ``Source``: the narrator's block, an extraction, an edit or a curator. ``none`` for the world's opening."""
    change: str | None = None
    """The id of the change that made the line; None if the turn itself reported it."""


@define
class _Known:
    """The origins known for one path up to a turn."""

    turn: str
    revision: int
    origins: dict[StateLineKey, LineOrigin] = field(factory=dict)
    notes: dict[tuple[int, str], LineOrigin] = field(factory=dict)
    changes: dict[str, LineOrigin] = field(factory=dict)
    """The first turn that each change amends."""


@define(eq=False)
class LineOrigins:
    """Finds the origins of lines. A session's path is read once and then extended turn by turn."""

    _known: LRUCache[str, _Known] = field(factory=lambda: LRUCache(_SESSIONS), init=False)

    async def of(self, live: LiveSession, turn: str, lines: list[StateLine]) -> list[LineOrigin]:
        """Return the origin of each line of the state at ``turn``."""
        known = await self._follow(live, turn)
        state = await live.state(turn)
        gone: dict[str, list[str]] = {}
        for former, into in state.merged.items():
            gone.setdefault(into, []).append(former)
        opening = LineOrigin(live.tree.root, 0, "none")

        def found(line: StateLine) -> LineOrigin:
            if line.kind == "note":
                depth = line.since or 0
                at = LineOrigin(live.tree.ancestor_at(turn, depth).id, depth, "none")
                return known.notes.get((depth, line.text), at)
            names = [
                (line.kind, subject, other)
                for subject in (line.subject, *gone.get(line.subject, ()))
                for other in (line.other, *gone.get(line.other, ()))
            ]
            rows = [known.origins[name] for name in names if name in known.origins]
            if not rows and (declared := known.origins.get((line.kind, "", ""))):
                rows = [declared]
            if not rows and line.kind == "item":  # it came to somebody of whom its owner was split off
                rows = [each for (kind, _, item), each in known.origins.items() if (kind, item) == ("item", line.other)]
            return max(rows, key=lambda each: each.depth, default=opening)

        return [found(line) for line in lines]

    async def _follow(self, live: LiveSession, turn: str) -> _Known:
        known = self._known.get(live.session.id)
        revision = live.revision
        if known is None or known.revision != revision or not live.tree.is_ancestor(known.turn, turn):
            known = _Known("", revision)
        after = live.tree.get(known.turn).depth + 1 if known.turn else 0
        ids = [node.id for node in live.tree.path(turn) if node.depth >= after]
        fresh = _Known(turn, revision, dict(known.origins), dict(known.notes), dict(known.changes))
        async for each in live.each_turn(ids):
            _read(live, each, fresh)
        self._known[live.session.id] = fresh
        return fresh


def _read(live: LiveSession, turn: Turn, known: _Known) -> None:
    """Record what a turn changed, and the sources of the changes."""
    later = live.amendments.get(turn.id, ())
    undone = undoings(later)
    whole = live.effective(turn)
    _take(turn, whole.events, known, whole.source.value, None)
    for delta in later:
        if delta.id and not delta.undoes and delta.id not in undone:
            _take(turn, delta.events, known, delta.source.value, delta.id)


def _take(turn: Turn, events: tuple[Event, ...], known: _Known, by: str, change: str | None) -> None:
    origin = LineOrigin(turn.id, turn.depth, by, change)
    if change is not None:  # a correction of two turns is of the first
        origin = known.changes.setdefault(change, origin)
    for event in events:
        for key in touched(event):
            known.origins[key] = origin
        if isinstance(event, deltas.TrackersDeclared) and change is not None:  # with the values at their start
            known.origins.update({(f"tracker:{each.key}", "", ""): origin for each in event.trackers})
        if isinstance(event, deltas.Noted):
            known.notes[turn.depth, event.text] = origin


def shown_line(state: WorldState, line: StateLine, origin: LineOrigin | None = None) -> dict[str, Any]:
    """Return a line with names, and with the turn that it comes from if ``origin`` is given."""
    note = line.kind in ("note", "event", "happening")
    found = {
        "kind": line.kind,
        "subject": None if note else state.name(line.subject),
        "subject_id": line.subject,
        "other": state.name(line.other) if line.other else None,
        "other_id": line.other or None,
        "text": line.text,
        "number": line.number,
        "top": line.top,
        "scheduled": _scheduled(state, line) if line.kind == "event" else None,
    }
    if origin is None:
        return found
    return {**found, "turn": origin.depth, "turn_id": origin.turn, "by": origin.by, "change": origin.change}


def _scheduled(state: WorldState, line: StateLine) -> dict[str, Any]:
    """Return a scheduled event, with the field names that a correction of the kind ``event`` takes.

    ``thread`` is None but for a thread: the tracker that it belongs to, and who owes it to whom.
    """
    found = state.schedule[line.subject]
    return {
        "name": found.name,
        "text": found.text,
        "due": found.due,
        "expires": found.expires,
        "when": line.when or None,
        "told": line.told or None,
        "place": state.name(found.place) if found.place else None,
        "who": state.name(found.who) if found.who else None,
        "thread": {"tracker": found.kind, "between": found.between} if found.kind else None,
    }


def plain_events(events: Iterable[Event], state: WorldState, language: str) -> list[dict[str, Any]]:
    """Return events as plain data. What a tracker was set to, and by how much a clock or money moved, is ``shown``."""
    whole = Delta(tuple(events))
    rows: list[dict[str, Any]] = to_plain(whole).get("events", [])
    for row, event in zip(rows, whole.events, strict=True):
        if isinstance(event, deltas.TrackerSet | deltas.TrackerChanged):
            tracker = state.trackers.find(event.tracker)
            if tracker is not None and isinstance(event, deltas.TrackerSet):
                row["shown"] = CountedValue(tracker, "", "", Count(event.value)).text(language)
            elif tracker is not None and tracker.kind is TrackerKind.CLOCK and isinstance(event, deltas.TrackerChanged):
                hours, minutes = divmod(abs(event.by), 60)
                row["shown"] = f"{'-' if event.by < 0 else '+'}{hours}:{minutes:02d}"
            elif tracker is not None and tracker.kind is TrackerKind.MONEY and isinstance(event, deltas.TrackerChanged):
                row["shown"] = f"{'+' if event.by > 0 else ''}{shown_value(tracker, event.by)}"
    return rows


_PERSONAL = frozenset({"hp", "mood", "condition", "item"})


def effect(
    before: WorldState, after: WorldState, language: str = DEFAULT, events: Iterable[Event] | None = None
) -> list[dict[str, Any]]:
    """Return the lines in which two states differ, with the values of trackers in ``language``.

    Whoever leaves or dies keeps what they have, and that they are elsewhere goes without saying. With ``events``, which
    led from one state to the other, a note is gone only if they took it back: others just make room for newer ones.
    """
    was, will = ({_key(line): line for line in state_lines(state, language)} for state in (before, after))
    for who in {line.subject for line in was.values() if line.kind in _PERSONAL}:
        will |= {_key(line): line for line in person_lines(after, who)}
    for one, there in ((was, after), (will, before)):
        for who in there.present:
            one.pop(("elsewhere", who, ""), None)
    if events is not None:
        taken = {("note", str(each.depth), each.text) for each in events if isinstance(each, deltas.Unnoted)}
        was = {key: line for key, line in was.items() if key[0] != "note" or key in will or key in taken}
    rows = []
    renamed = {id_ for id_, each in after.entities.items() if id_ in before.entities and before.name(id_) != each.name}
    for key in dict.fromkeys((*was, *will)):
        if key[0] != "event" and was.get(key) == will.get(key) and not renamed.intersection(key):
            continue  # of an event, the state tells more than its line
        old = shown_line(before, was[key]) if key in was else None
        new = shown_line(after, will[key]) if key in will else None
        if old != new:
            rows.append({"was": old, "is": new})
    return rows


def _key(line: StateLine) -> StateLineKey:
    """The key of a line. That of a note stays the same if notes before it are gone."""
    return (line.kind, str(line.since), line.text) if line.kind == "note" else line.key
