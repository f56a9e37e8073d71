"""Entities: the characters, places, items and events of a story."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen

from saga_core.values import Value


class Kind(StrEnum):
    """What sort of thing an entity is."""

    CHARACTER = "character"
    LOCATION = "location"
    ITEM = "item"
    EVENT = "event"


DEAD = "dead"
ALIVE = "alive"


@frozen
class Entity:
    """A thing with an identity. ``id`` never changes, but the name may."""

    id: str
    kind: Kind
    name: str
    aliases: tuple[str, ...] = ()
    attributes: Mapping[str, Value] = field(factory=dict)

    def get(self, name: str) -> Value:
        """An attribute, or None."""
        return self.attributes.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The name and every alias."""
        return (self.name, *self.aliases)

    @property
    def dead(self) -> bool:
        """Whether this is a character that died."""
        return self.attributes.get("status") == DEAD


@frozen
class Placement:
    """Where a character is, and since which turn (depth).

    ``along``: the character travels, with the player or to the player, and does not belong to one place. ``left``: the
    character was last seen there and has gone since, to an unknown place.
    """

    place: str
    since: int = 0
    along: bool = False
    left: bool = False


@frozen
class Stack:
    """A quantity of one item in one character's possession."""

    quantity: int = 1
    equipped: bool = False


@frozen
class Relation:
    """The relation of one character to another: its latest name, and the sum of all changes."""

    type: str
    strength: int = 0
    since: int = 0


@frozen
class Happening:
    """An event of the story, at the turn (depth) where it was triggered."""

    event: str
    name: str
    depth: int


@frozen
class Problem:
    """A reported change that is impossible. It is recorded, never raised."""

    depth: int
    turn: str
    text: str


@frozen
class Finding:
    """A contradiction that a curator noticed. It is only recorded and changes nothing else."""

    key: str
    rule: str
    text: str
    depth: int
    """The turn (depth) of the review."""
    turns: tuple[str, ...] = ()
    verdict: str = ""
    """The decision about it; empty until it is decided."""
    note: str = ""


@frozen
class StoryPart:
    """A summary of some turns of the story."""

    level: str
    first: int
    last: int
    text: str


@frozen
class Scheduled:
    """A future event and its conditions."""

    event: str
    name: str
    text: str = ""
    due: int | None = None
    expires: int | None = None
    place: str = ""
    who: str = ""
    since: int = 0
    """The turn (depth) at which it was scheduled."""


@frozen
class MemoryBlock:
    """A curator's notes to itself."""

    text: str
    version: int = 1
    since: int = 0
