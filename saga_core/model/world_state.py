"""WorldState: what is true at one turn of one path. An immutable value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import field, frozen

from saga_core.model.entities import (
    Entity,
    Finding,
    Happening,
    Kind,
    MemoryBlock,
    Placement,
    Problem,
    Relation,
    Scheduled,
    Stack,
    StoryPart,
)
from saga_core.model.memories import MemoryRecord

MAX_HAPPENINGS = 64
MAX_PROBLEMS = 32
MAX_NOTES = 16
MAX_FINDINGS = 64
MAX_SCHEDULED = 32
MAX_LORE = 32
MAX_STORY = 24
"""Parts of the told story; beyond them the oldest chapters are told as one."""
MAX_STORY_CHARS = 700
"""Characters of one part."""


@frozen(kw_only=True)
class WorldState:
    """The fold of a path's deltas over the opening state. Its maps are never changed in place.

    Happenings, notes and problems keep the latest few (64, 16 and 32), so that a state does not grow with the
    number of turns; the journal keeps all of them. So do findings (64), scheduled events (32), learned lore (32) and
    parts of the told story (24).
    """

    world: str = ""
    """The digest of the world that it began with."""
    turn: str = ""
    depth: int = 0
    player: str = ""
    """The id of the player's character; there always is one after opening."""
    entities: Mapping[str, Entity] = field(factory=dict)
    whereabouts: Mapping[str, Placement] = field(factory=dict)
    belongings: Mapping[str, Mapping[str, Stack]] = field(factory=dict)
    """Owner id to item id to how many."""
    relations: Mapping[tuple[str, str], Relation] = field(factory=dict)
    """(source id, target id) to what the one is to the other."""
    links: frozenset[tuple[str, str, str]] = frozenset()
    """Other edges, as (source id, edge type, target id): ADJACENT, INVOLVED_IN, CAUSED."""
    met: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    happenings: tuple[Happening, ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    """(depth, text) of the latest remarks."""
    mentioned: Mapping[str, int] = field(factory=dict)
    """Lore entry name to the depth of its last mention."""
    values: Mapping[str, str] = field(factory=dict)
    """World_state entries that were set by hand or by a module."""
    problems: tuple[Problem, ...] = ()
    merged: Mapping[str, str] = field(factory=dict)
    """Id of an entity that turned out to be another one -> that one."""
    findings: tuple[Finding, ...] = ()
    """What curators noticed, oldest first."""
    story: tuple[StoryPart, ...] = ()
    """What was told in fewer words, by its turns."""
    learned: Mapping[str, str] = field(factory=dict)
    """Lore entry name to what play added to it."""
    schedule: Mapping[str, Scheduled] = field(factory=dict)
    """Event id to when it is to come."""
    blocks: Mapping[str, MemoryBlock] = field(factory=dict)
    """A curator's memory, by name."""
    memories: Mapping[str, MemoryRecord] = field(factory=dict)
    """What memory strategies learned, by the records' ids."""

    def name(self, entity: str) -> str:
        """The name of an entity id; the id itself when it is unknown."""
        found = self.entities.get(entity)
        return found.name if found else entity

    @property
    def location(self) -> str | None:
        """The id of the place where the player is."""
        placement = self.whereabouts.get(self.player)
        return placement.place if placement else None

    def of_kind(self, kind: Kind) -> Iterator[Entity]:
        """The entities of one kind, in the order in which they entered."""
        return (entity for entity in self.entities.values() if entity.kind is kind)

    def at(self, place: str) -> list[str]:
        """The ids of the characters at a place, the player left out, ordered by id."""
        return sorted(who for who, where in self.whereabouts.items() if where.place == place and who != self.player)

    def nearby(self) -> list[str]:
        """The characters present, then those known to be at the player's place: who left it is not."""
        place = self.location
        rest = (who for who in self.at(place) if not self.whereabouts[who].left) if place else ()
        return list(dict.fromkeys((*self.present, *rest)))
