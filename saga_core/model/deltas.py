"""Deltas: what one turn changed, as typed events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from attrs import field, frozen

from saga_core.model.entities import Kind
from saga_core.stores.graph import Value


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
    """Hit points go up or down, held between 0 and the maximum."""

    who: str
    amount: int


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
class ItemTransferred:
    """An item goes from hand to hand."""

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
    """A character is no longer with the player, and stays where they parted."""

    who: str


@frozen
class RelationChanged:
    """What ``source`` feels for ``target`` changes by ``amount``; ``type`` is the new word for it, empty: the old."""

    source: str
    target: str
    type: str
    amount: int = 0


@frozen
class EventTriggered:
    """An event of the story happens."""

    event: str
    name: str


@frozen
class Noted:
    """The narrator's remark about the turn."""

    text: str


@frozen
class Mentioned:
    """Lore entries that the turn's words named; decay counts from here."""

    lore: tuple[str, ...]


@frozen
class AttributeSet:
    """A human edit: an entity's attribute becomes a value, or goes (None)."""

    who: str
    name: str
    value: Value


@frozen
class ValueSet:
    """An entry of the world_state key-value view becomes a value, or goes (None)."""

    key: str
    value: str | None


Event = (
    Introduced
    | Renamed
    | Moved
    | HpChanged
    | MoodChanged
    | StatusChanged
    | ItemGained
    | ItemLost
    | ItemTransferred
    | Met
    | Separated
    | RelationChanged
    | EventTriggered
    | Noted
    | Mentioned
    | AttributeSet
    | ValueSet
)


class Source(StrEnum):
    """Who said what changed."""

    BLOCK = "block"
    """The narrator's own state block."""
    EXTRACTION = "extraction"
    """A small model that read the reply."""
    EDIT = "edit"
    """A person."""
    CURATION = "curation"
    NONE = "none"
    """Nobody: nothing is known to have changed."""


class Status(StrEnum):
    """How well the change could be read."""

    OK = "ok"
    PARTIAL = "partial"
    FALLBACK = "fallback"
    """No usable block: an extractor should be asked."""
    NONE = "none"
    """Not asked for: a side request, or a turn that was adopted without one."""


@frozen
class Delta:
    """What one turn changed. The empty delta is a valid one: nothing did."""

    events: tuple[Event, ...] = ()
    source: Source = Source.NONE
    status: Status = Status.NONE
    problems: tuple[str, ...] = ()
    """What could not be read, in words."""

    def then(self, other: Delta) -> Delta:
        """This delta followed by ``other``, as one (a continued reply is one turn)."""
        if not other.events and other.source is Source.NONE and other.status is not Status.FALLBACK:
            return self
        source = other.source if other.source is not Source.NONE else self.source
        return Delta(self.events + other.events, source, other.status, self.problems + other.problems)

    def amended(self, later: Sequence[Delta]) -> Delta:
        """This delta with the ``later`` ones of its turn, in their order.

        The latest extraction takes the place of what this one and earlier extractions report, for it read the same
        text; edits and curation are added.
        """
        found = self
        for delta in later:
            if delta.source is Source.EXTRACTION:
                found = delta
        for delta in later:
            if delta.source is not Source.EXTRACTION:
                found = found.then(delta)
        return found
