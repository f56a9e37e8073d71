"""Deltas: the changes of one turn, as typed events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from attrs import evolve, field, frozen

from saga_core.model.entities import Kind
from saga_core.model.memories import MemoryRecord
from saga_core.values import Value


@frozen
class Introduced:
    """An entity enters the story. For a known id, only aliases and missing attributes are added."""

    id: str
    kind: Kind
    name: str
    aliases: tuple[str, ...] = ()
    attributes: Mapping[str, Value] = field(factory=dict)


@frozen
class Renamed:
    """An entity gets another name. The old one stays as an alias."""

    id: str
    name: str


@frozen
class Moved:
    """A character goes to a place. When the player moves, the characters present move along."""

    who: str
    to: str


@frozen
class HpChanged:
    """Hit points go up or down, clamped between 0 and the maximum."""

    who: str
    amount: int


@frozen
class HpSet:
    """Hit points are set to ``hp``, and the maximum to ``top`` if given."""

    who: str
    hp: int
    top: int | None = None


@frozen
class MoodChanged:
    """A character has another mood."""

    who: str
    mood: str


@frozen
class StatusChanged:
    """A character has another status, such as ``dead``."""

    who: str
    status: str


@frozen
class ItemGained:
    """A character has more of an item than before."""

    owner: str
    item: str
    quantity: int = 1


@frozen
class ItemLost:
    """A character has less of an item than before, and no other character has more."""

    owner: str
    item: str
    quantity: int = 1


@frozen
class ItemCounted:
    """The quantity of a character's item is set, whatever was known before."""

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
    """A character is no longer with the player. They stay where they parted, or, if ``away``, leave that place."""

    who: str
    away: bool = False


@frozen
class RelationChanged:
    """The relation of ``source`` to ``target`` changes by ``amount``. ``type`` is its new name; empty keeps the old."""

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
    """None in records of older versions, where every character present counts as a participant."""


@frozen
class Played:
    """The player takes over another character. The previous one stays in the story, in the player's company."""

    who: str


@frozen
class Noted:
    """The narrator's note about the turn."""

    text: str


@frozen
class Unnoted:
    """The note ``text`` about the turn at ``depth`` is wrong. It is removed, also from summaries that quote it."""

    depth: int
    text: str


@frozen
class Mentioned:
    """Lore entries that the turn's text named. Their decay starts again at this turn."""

    lore: tuple[str, ...]


@frozen
class AttributeSet:
    """A manual edit that sets an attribute of an entity, or removes it (None)."""

    who: str
    name: str
    value: Value


@frozen
class ValueSet:
    """Sets an entry of the ``world_state`` key-value view, or removes it (None)."""

    key: str
    value: str | None


@frozen
class Merged:
    """Merges two entities. ``into`` takes the names, belongings, relations and place of ``gone``."""

    gone: str
    into: str


@frozen
class Split:
    """A name that was recorded for ``id`` belongs to another entity: ``fresh``, whose only name it becomes."""

    id: str
    name: str
    fresh: str


@frozen
class Forgotten:
    """Removes an entity and everything that the state says about it."""

    id: str


@frozen
class Found:
    """A curator noticed a contradiction. The same finding always has the same ``key``."""

    key: str
    rule: str
    text: str
    turns: tuple[str, ...] = ()
    """Ids of the turns that are its evidence."""


@frozen
class Settled:
    """A finding has been decided. ``verdict`` is ``deliberate``, ``error``, or another word."""

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
    """Lore that play revealed. An empty text removes the entry."""

    entry: str
    text: str


@frozen
class EventScheduled:
    """Schedules an event. It is due when all given conditions hold."""

    event: str
    name: str
    text: str = ""
    due: int | None = None
    """The depth from which it is due. None: as soon as the other conditions hold."""
    expires: int | None = None
    """The last depth at which it may still happen."""
    place: str = ""
    """The id of the place where the player must be."""
    who: str = ""
    """The id of the character who must be present."""


@frozen
class EventClosed:
    """A scheduled event has happened or has been cancelled."""

    event: str


@frozen
class BlockWritten:
    """A curator's memory block has a new text. Its version grows by one."""

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


class Source(StrEnum):
    """The source of a change."""

    BLOCK = "block"
    """The narrator's own state block."""
    EXTRACTION = "extraction"
    """A small model that reads the reply."""
    EDIT = "edit"
    """A manual edit."""
    CURATION = "curation"
    NONE = "none"
    """No source. No change is known."""


class Status(StrEnum):
    """How completely the changes of a turn could be read."""

    OK = "ok"
    PARTIAL = "partial"
    CUT = "cut"
    """The block was cut off. An extractor should be asked for the rest."""
    FALLBACK = "fallback"
    """There is no usable block. An extractor should be asked."""
    NONE = "none"
    """No report was requested: a side request, or a turn that was adopted without a block."""


@frozen
class Delta:
    """The changes of one turn. An empty delta is valid and means that nothing changed."""

    events: tuple[Event, ...] = ()
    source: Source = Source.NONE
    status: Status = Status.NONE
    problems: tuple[str, ...] = ()
    """Descriptions of what could not be read."""
    id: str = ""
    """The name by which a later delta can be undone."""
    undoes: str = ""
    """The ``id`` of a later delta of the same turn that this one undoes."""
    cut: str = ""
    """With the status ``cut``: the body of the block as far as it was received."""

    def then(self, other: Delta) -> Delta:
        """Return this delta followed by ``other``, as one delta. A continued reply is one turn."""
        if not other.events and other.source is Source.NONE and other.status is not Status.FALLBACK:
            return self
        source = other.source if other.source is not Source.NONE else self.source
        problems = self.problems + other.problems
        return Delta(self.events + other.events, source, other.status, problems, cut=other.cut)

    def amended(self, later: Sequence[Delta]) -> Delta:
        """Return this delta with the ``later`` ones of its turn in order, except those that were undone.

        The latest extraction replaces what this delta and earlier extractions report, because all of them read the same
        text. Edits and curation are added; they do not change the status.
        """
        found = self
        counting = _counting(later)
        for delta in counting:
            if delta.source is Source.EXTRACTION:
                found = delta
        for delta in counting:
            if delta.source is not Source.EXTRACTION and delta.status is Status.NONE:
                source = delta.source if found.source is Source.NONE else found.source
                found = evolve(
                    found, events=found.events + delta.events, source=source, problems=found.problems + delta.problems
                )
            elif delta.source is not Source.EXTRACTION:
                found = found.then(delta)
        return found


def undoings(later: Sequence[Delta]) -> dict[str, str]:
    """Return the ids of undone later deltas, each with the id of the undoing delta, which may itself be undone."""
    gone: dict[str, str] = {}
    for delta in reversed(later):
        if delta.undoes and delta.id not in gone:
            gone.setdefault(delta.undoes, delta.id)
    return gone


def _counting(later: Sequence[Delta]) -> list[Delta]:
    gone = undoings(later)
    return [delta for delta in later if not delta.undoes and (not delta.id or delta.id not in gone)]
