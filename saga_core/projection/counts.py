"""The values of a story's trackers: whose they are, and which of them the narrator is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import frozen

from saga_core.language import language_of
from saga_core.model import Scheduled, WorldState
from saga_core.trackers import ADVENTURE, Count, Secrecy, Telling, Tracker, Whose, ends, shown_value

_NEAR = 10
"""The part of a range that is near a limit: a tenth."""


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
            near = max(1, ((most or 0) - (least or 0)) // _NEAR) if least is not None and most is not None else 1
            return (least is not None and value - least <= near) or (most is not None and most - value <= near)
        return tracker.told is Telling.ALWAYS


def counted_values(state: WorldState) -> list[CountedValue]:
    """All known values, in the order of the trackers. What nobody knows is left out."""
    found = []
    for tracker in state.trackers:
        for subject in dict.fromkeys((*_subjects(state, tracker), *state.counts.get(tracker.key, ()))):
            count = state.count(tracker, *ends(subject))
            if count is not None:
                found.append(CountedValue(tracker, *ends(subject), count))
    return found


def counts_of(state: WorldState, values: Iterable[CountedValue], *whose: tuple[str, str]) -> Iterator[CountedValue]:
    """Those of ``values`` that the narrator is told of these subjects and pairs."""
    return (each for each in values if (each.subject, each.other) in whose and each.is_told(state.depth))


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


def _time(state: WorldState, thread: Scheduled, language: str) -> str:
    clock = state.clock
    return shown_value(clock, thread.at, language) if clock is not None and thread.at is not None else thread.when


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
                    {"turn": depth, "value": list(value) if isinstance(value, tuple) else value}
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
                "when": _time(state, each, language) or None,
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
