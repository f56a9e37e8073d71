"""Deltas: what one turn changed, as typed events."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from saga_core.model.entities import Kind
from saga_core.model.memories import MemoryRecord
from saga_core.values import Value


@frozen
class Introduced:
    """An entity enters the story. Introducing a known id adds aliases and missing attributes only."""

    id: str
    kind: Kind
    name: str
    aliases: tuple[str, ...] = ()
    attributes: Mapping[str, Value] = field(factory=dict)


@frozen
class Renamed:
    """An entity's name becomes another; the old one stays as an alias."""

    id: str
    name: str


@frozen
class Moved:
    """A character goes to a place. Those present with the player go along."""

    who: str
    to: str


@frozen
class HpChanged:
    """Hit points go up or down, clamped between 0 and the maximum."""

    who: str
    amount: int


@frozen
class HpSet:
    """Hit points are so many, of ``top`` if that is said."""

    who: str
    hp: int
    top: int | None = None


@frozen
class MoodChanged:
    """A character's mood becomes another."""

    who: str
    mood: str


@frozen
class StatusChanged:
    """A character's status becomes another, such as ``dead``."""

    who: str
    status: str


@frozen
class ItemGained:
    """Somebody has more of an item than before."""

    owner: str
    item: str
    quantity: int = 1


@frozen
class ItemLost:
    """Somebody has less of an item than before, and nobody else has more."""

    owner: str
    item: str
    quantity: int = 1


@frozen
class ItemCounted:
    """Somebody has so many of an item now, whatever was known before."""

    owner: str
    item: str
    quantity: int


@frozen
class ItemTransferred:
    """An item passes from one holder to another."""

    giver: str
    receiver: str
    item: str
    quantity: int = 1


@frozen
class Met:
    """The player meets a character, who is present from now on."""

    who: str


@frozen
class Separated:
    """A character is no longer with the player, and stays where they parted; or, ``away``, leaves the player there."""

    who: str
    away: bool = False


@frozen
class RelationChanged:
    """What ``source`` feels for ``target`` changes by ``amount``; ``type`` is the new word for it, empty: the old."""

    source: str
    target: str
    type: str
    amount: int = 0


@frozen
class EventTriggered:
    """An event of the story happens. ``who`` took part in it."""

    event: str
    name: str
    who: tuple[str, ...] | None = None
    """None in records of versions that did not know it: everybody present counts as a participant."""


@frozen
class Played:
    """Another character is the player's from now on; the one before stays in the story, in the company."""

    who: str


@frozen
class Noted:
    """The narrator's remark about the turn."""

    text: str


@frozen
class Unnoted:
    """The remark ``text`` about the turn at ``depth`` is wrong: it counts no more, nor where it was told again."""

    depth: int
    text: str


@frozen
class Mentioned:
    """Lore entries that the turn's words named; decay is counted from here."""

    lore: tuple[str, ...]


@frozen
class AttributeSet:
    """A human edit: sets an entity's attribute, or removes it (None)."""

    who: str
    name: str
    value: Value


@frozen
class ValueSet:
    """Sets an entry of the world_state key-value view, or removes it (None)."""

    key: str
    value: str | None


@frozen
class Merged:
    """Merges two entities: ``into`` takes the names, belongings, relations and place of ``gone``."""

    gone: str
    into: str


@frozen
class Split:
    """A name that was taken for ``id`` belongs to somebody else: the new entity ``fresh``, known by that name alone."""

    id: str
    name: str
    fresh: str


@frozen
class Forgotten:
    """Removes an entity, and all that the state says of it."""

    id: str


@frozen
class Found:
    """A curator noticed a contradiction. ``key`` is the same for the same finding."""

    key: str
    rule: str
    text: str
    turns: tuple[str, ...] = ()
    """Ids of the turns that prove it."""


@frozen
class Settled:
    """A finding is decided once and for all: ``deliberate``, ``error`` or whatever word the decider has for it."""

    key: str
    verdict: str
    note: str = ""


@frozen
class StoryTold:
    """A summary of the turns at the depths ``first`` to ``last``. It replaces earlier summaries of them."""

    level: str
    """``scene`` or ``chapter``."""
    first: int
    last: int
    text: str


@frozen
class LoreLearned:
    """Something about the world that play revealed. An empty text takes it back."""

    entry: str
    text: str


@frozen
class EventScheduled:
    """Schedules an event. It is due when all given conditions hold."""

    event: str
    name: str
    text: str = ""
    due: int | None = None
    """The depth from which it is due; None: whenever the other conditions hold."""
    expires: int | None = None
    """The last depth at which it may still happen."""
    place: str = ""
    """The id of the place where the player has to be."""
    who: str = ""
    """The id of the character who has to be present."""


@frozen
class EventClosed:
    """A scheduled event happened, or no longer will."""

    event: str


@frozen
class BlockWritten:
    """A curator's memory block has a new text; its version grows by one."""

    name: str
    text: str


@frozen
class Remembered:
    """A memory record is learned, or has a new version."""

    record: MemoryRecord


@frozen
class Unremembered:
    """Removes a memory record. ``record`` is its id."""

    record: str


Event = (
    Introduced
    | Renamed
    | Moved
    | HpChanged
    | HpSet
    | MoodChanged
    | StatusChanged
    | ItemGained
    | ItemLost
    | ItemCounted
    | ItemTransferred
    | Met
    | Separated
    | RelationChanged
    | EventTriggered
    | Played
    | Noted
    | Unnoted
    | Mentioned
    | AttributeSet
    | ValueSet
    | Merged
    | Split
    | Forgotten
    | Found
    | Settled
    | StoryTold
    | LoreLearned
    | EventScheduled
    | EventClosed
    | BlockWritten
    | Remembered
    | Unremembered
)
