"""WorldState: what is true at one turn of one path. It is immutable, and equal parts are kept only once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from attrs import evolve, field, frozen

from saga_core.errors import BadInput
from saga_core.model.entities import (
    Entity,
    Finding,
    Happening,
    Kind,
    MemoryBlock,
    MemoryRecord,
    Placement,
    Problem,
    Relation,
    Scheduled,
    Stack,
    StoryPart,
)
from saga_core.model.knowledge import Audience
from saga_core.trackers import NO_TRACKERS, Count, Tracker, TrackerKind, Trackers, Whose, pair, start_value, time_in
from saga_core.values import Value

MAX_HAPPENINGS = 64
MAX_PROBLEMS = 32
MAX_NOTES = 16
MAX_SECRETS = 16
MAX_UNTRUE = 32
MAX_FINDINGS = 64
MAX_SCHEDULED = 32
MAX_LORE = 32
MAX_STORY = 24
"""Parts of the story summary. Beyond this limit the two oldest are merged."""
MAX_OBSERVED = 24
MAX_STORY_CHARS = 700
"""Characters of one part."""


@frozen
class Observation:
    """A key that reports have and nothing declares."""

    value: str
    times: int = 1
    since: int = 0
    """The turn (depth) of the latest report."""


@frozen(kw_only=True)
class WorldState:
    """The fold of a path's deltas over the opening state. Its maps are never changed in place.

    Only the latest happenings (64), notes (16), older notes with a secret (16), untrue statements (32), problems (32),
    findings (64), scheduled events (32), learned lore (32), observations (24) and story parts (24) are kept, so that a
    state does not grow with the number of turns. The journal keeps all of them.
    """

    world: str = ""
    """The digest of the world that the session began with."""
    turn: str = ""
    depth: int = 0
    player: str = ""
    """The id of the player's character. It is always set after opening."""
    entities: Mapping[str, Entity] = field(factory=dict)
    whereabouts: Mapping[str, Placement] = field(factory=dict)
    belongings: Mapping[str, Mapping[str, Stack]] = field(factory=dict)
    """Owner id -> item id -> stack."""
    relations: Mapping[tuple[str, str], Relation] = field(factory=dict)
    """(source id, target id) -> relation."""
    links: frozenset[tuple[str, str, str]] = frozenset()
    """Other edges, as (source id, edge type, target id): ADJACENT, INVOLVED_IN, CAUSED."""
    met: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    happenings: tuple[Happening, ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    """(depth, text) of the latest notes."""
    secrets: tuple[tuple[int, str], ...] = ()
    """(depth, text) of the latest notes before them that tell a secret, which is guarded as long as it is one."""
    untrue: tuple[tuple[int, str], ...] = ()
    """(depth, text) of the latest notes and happenings that were taken back."""
    mentioned: Mapping[str, int] = field(factory=dict)
    """Lore entry name -> depth of its last mention."""
    values: Mapping[str, str] = field(factory=dict)
    """``world_state`` entries set by hand or by a module."""
    problems: tuple[Problem, ...] = ()
    merged: Mapping[str, str] = field(factory=dict)
    """Id of a merged entity -> id of the entity it was merged into."""
    findings: tuple[Finding, ...] = ()
    """The findings of curators, oldest first."""
    story: tuple[StoryPart, ...] = ()
    """Summaries of the story, ordered by turn."""
    learned: Mapping[str, str] = field(factory=dict)
    """Lore entry name -> text that play added."""
    schedule: Mapping[str, Scheduled] = field(factory=dict)
    """Event id -> scheduled event."""
    blocks: Mapping[str, MemoryBlock] = field(factory=dict)
    """The memory blocks of a curator, by name."""
    memories: Mapping[str, MemoryRecord] = field(factory=dict)
    """The records of memory strategies, by id."""
    trackers: Trackers = NO_TRACKERS
    """What the story counts."""
    counts: Mapping[str, Mapping[str, Count]] = field(factory=dict)
    """Key of a tracker -> subject (see ``trackers.pair``) -> its value. A value that never changed is its start."""
    audiences: Mapping[int, Audience] = field(factory=dict)
    """Turn (depth) -> who knows what happened there, if that is not just those who were there."""
    observed: Mapping[str, Observation] = field(factory=dict)
    """Key that reports had and nothing declares -> its latest value, oldest first."""

    seen: Mapping[str, int] = field(factory=dict)
    """Shared world -> the number of the latest publication in it that the story has seen."""

    modules: Mapping[str, int] = field(factory=dict)
    """Module whose rules were used -> its version."""

    def name(self, entity: str) -> str:
        """Return the name of an entity, also by an id from before a merge, or the id itself if it is unknown."""
        found = self.entities.get(self.merged.get(entity, entity))
        return found.name if found else entity

    @property
    def location(self) -> str | None:
        """The id of the player's place."""
        placement = self.whereabouts.get(self.player)
        return placement.place if placement else None

    def count(self, tracker: Tracker, subject: str = "", other: str = "") -> Count | None:
        """A tracker's value, by default its start; None if it is unknown.

        ``subject`` is whose value it is, which may be left out for the player's. Raises ``BadInput`` for one that the
        tracker cannot have.
        """
        subject = subject or (self.player if tracker.whose is Whose.PLAYER else "")
        if not tracker.is_of(subject, other):
            given = " and ".join(filter(None, (subject, other))) or "nobody"
            raise BadInput(f"{tracker.name}: is for {tracker.whose.value}, and has no value of {given}")
        found = self.counts.get(tracker.key, {}).get(pair(subject, other))
        if found is not None:
            return found
        value = start_value(tracker)
        return None if value is None else Count(value)

    def counted(self, name: str, subject: str = "", other: str = "") -> Value:
        """The value of the tracker of that name; None if it is unknown, or not counted.

        ``subject`` is the id of the character or place whose value it is, and ``other`` that of the second of a pair.
        Both are left out for what is the world's or the player's. Raises ``BadInput`` for any other.
        """
        tracker = self.trackers.find(name)
        unknown = next((each for each in (subject, other) if each and each not in self.entities), None)
        if tracker is None:
            return None
        if unknown is not None:
            raise BadInput(f"{tracker.name}: {unknown!r} is no id; state.entities has each id with its name")
        found = self.count(tracker, subject, other)
        return found.value if found is not None else None

    @property
    def clock(self) -> Tracker | None:
        """The story's clock; None without one."""
        return next((each for each in self.trackers if each.kind is TrackerKind.CLOCK), None)

    @property
    def minutes(self) -> int | None:
        """The story's time, in minutes since the midnight of its first day; None if nobody knows."""
        count = self.count(self.clock) if self.clock is not None else None
        return count.value if count is not None and isinstance(count.value, int) else None

    def time_of(self, when: str, about: str) -> int | None:
        """The time that ``when`` names, in minutes of the story's clock; None if it cannot be known. ``about`` is what
        is planned for it."""
        clock = self.clock
        if clock is None or not when:
            return None
        return time_in(clock, when, self.minutes, about)

    def of_kind(self, kind: Kind) -> Iterator[Entity]:
        """Return the entities of one kind, in the order in which they entered."""
        return (entity for entity in self.entities.values() if entity.kind is kind)

    def at(self, place: str) -> list[str]:
        """Return the ids of the characters at a place, without the player, ordered by id."""
        return sorted(who for who, where in self.whereabouts.items() if where.place == place and who != self.player)

    @property
    def remarks(self) -> tuple[tuple[int, str], ...]:
        """(depth, text) of all notes that are kept: the secrets, then the latest."""
        return (*self.secrets, *self.notes)

    @property
    def event_names(self) -> frozenset[str]:
        """The names of the latest happenings."""
        return frozenset(each.name for each in self.happenings)

    def nearby(self) -> list[str]:
        """Return the characters present, then others at the player's place, without those who left it."""
        place = self.location
        rest = (who for who in self.at(place) if not self.whereabouts[who].left) if place else ()
        return list(dict.fromkeys((*self.present, *rest)))


_K = TypeVar("_K")
_V = TypeVar("_V")


def sharing(state: WorldState, other: WorldState) -> WorldState:
    """Return ``state`` with all parts that are equal in ``other`` taken from there.

    A state read from the journal shares nothing. The untouched parts, which are most of a large world, would be in
    memory once for each session, and building its graph would compare all of them.
    """
    return evolve(
        state,
        entities=_from(state.entities, other.entities),
        whereabouts=_from(state.whereabouts, other.whereabouts),
        belongings=_from(state.belongings, other.belongings),
        relations=_from(state.relations, other.relations),
        links=other.links if state.links == other.links else state.links,
    )


def _from(own: Mapping[_K, _V], others: Mapping[_K, _V]) -> Mapping[_K, _V]:
    shared = {key: others[key] if others.get(key) == value else value for key, value in own.items()}
    return others if shared == others and list(shared) == list(others) else shared
