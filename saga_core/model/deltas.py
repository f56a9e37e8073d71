"""Deltas: the changes of one turn, as typed events."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, fields, frozen

from saga_core.model.entities import Kind, MemoryRecord
from saga_core.trackers import Tracker
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
    """An item passes from one holder to another. A place holds what lies there."""

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
    """A character is no longer with the player. They stay where they parted, or, if ``away``, leave that place.

    ``gone``: the character has left the place where it was, whether or not that is the player's.
    """

    who: str
    away: bool = False
    gone: bool = False


@frozen
class RelationChanged:
    """The relation of ``source`` to ``target`` changes by ``amount``. ``type`` is its new name; empty keeps the old.

    A debt and its settlement change only what is owed, other types only what is felt.
    """

    source: str
    target: str
    type: str
    amount: int = 0


@frozen
class RelationEnded:
    """What ``source`` feels for ``target`` is no more; or what is owed, if ``type`` is a debt."""

    source: str
    target: str
    type: str


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
    """A name that was recorded for ``id`` belongs to another entity: ``fresh``, whose only name it becomes,
    or who bears it already."""

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
    by_hand: bool = False
    """Whether a person wrote it. Only a person replaces it."""


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
    kind: str = ""
    """The tracker of which it is a thread."""
    at: int | None = None
    """When it is due, in minutes of the story's clock."""
    when: str = ""
    between: str = ""
    """Who owes it to whom, in names."""


@frozen
class EventAdvanced:
    """There are news of a scheduled event."""

    event: str
    text: str


@frozen
class EventClosed:
    """A scheduled event has happened or has been cancelled. The story keeps how a thread ended."""

    event: str
    how: str = ""
    outcome: str = ""
    """``HAPPENED``, or ``CANCELLED``: then the story does not keep it as something that happened."""


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


@frozen
class TrackersDeclared:
    """These trackers count from now on. One of a known name replaces the earlier one, and its values stay."""

    trackers: tuple[Tracker, ...]


@frozen
class ProfileChosen:
    """The story is of another sort from now on, and counts ``trackers`` instead of those of the sort before.

    Hit points that it does not count are unknown from then on.
    """

    profile: str
    trackers: tuple[Tracker, ...] = ()


@frozen
class TrackerRemoved:
    """The tracker of that name (in any spelling) and its values count no more."""

    tracker: str


@frozen
class TrackerSet:
    """A tracker has a value, within its limits. ``other`` is the target of a pair."""

    tracker: str
    value: Value
    subject: str = ""
    other: str = ""


@frozen
class TrackerChanged:
    """A tracker's number goes up or down within its limits, or its list gains and loses items."""

    tracker: str
    by: int = 0
    subject: str = ""
    other: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@frozen
class ModuleUsed:
    """The rules of a module made events of this turn, and do so from now on in this version."""

    module: str
    version: int


@frozen
class Linked:
    """Two entities are connected: ``ADJACENT``, ``INVOLVED_IN`` or ``CAUSED``."""

    source: str
    type: str
    target: str


@frozen
class Observed:
    """A report has a key that nothing declares. It is kept, and offered as a tracker."""

    key: str
    value: str


@frozen
class AudienceSet:
    """Who can know what happened at a turn. ``audience`` is ``also`` (``who`` too, from this turn on), ``except``
    (``who`` not by being there), ``only`` (``who`` and nobody else; with nobody, the narrator alone), ``everybody``, or
    ``present`` (those who were there)."""

    turn: int = 0
    """The depth of that turn; 0 is the turn of this event."""
    audience: str = "also"
    who: tuple[str, ...] = ()
    by: str = ""
    """The id of the character who told it; empty if nobody did."""


FactKey = tuple[str, str, str]


@frozen
class Fact:
    """One thing that is so in a shared world. The module ``facts`` makes and applies it.

    ``what`` says what ``value`` is: the ``name`` of ``subject``, its ``attribute`` named ``other``, the ``place`` of a
    person, whether the person ``left`` it for an unknown one, how many of the thing ``other`` it ``held``, whether
    there is a ``link`` to the place ``other``, the ``count`` of the tracker with the key ``other``, or the name of an
    ``event``.
    """

    scope: str
    what: str
    subject: str
    """The id of an entity; empty for a tracker of the world."""
    other: str = ""
    value: Value = None

    @property
    def key(self) -> FactKey:
        """What it is about. Of several facts about the same, the latest counts."""
        return self.what, self.subject, self.other

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the entities that it names."""
        more = (self.other,) if self.what in ("link", "held") else (self.value,) if self.what == "place" else ()
        return tuple(each for each in (self.subject, *more) if isinstance(each, str) and each)


@frozen
class WorldSeen:
    """What a story sees of its shared world from this turn on, up to the publication ``number`` of the world ``share``.

    The facts are those that others published since it last looked.
    """

    share: str
    number: int
    introduced: tuple[Introduced, ...] = ()
    """The entities that the facts are about."""
    facts: tuple[Fact, ...] = ()


@frozen
class TextEdited:
    """The chat shows other words in this turn than were recorded. None stands for what was recorded.

    It counts as a later delta only, and changes no state.
    """

    user: str | None = None
    reply: str | None = None


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
    | RelationEnded
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
    | EventAdvanced
    | EventClosed
    | BlockWritten
    | Remembered
    | Unremembered
    | TrackersDeclared
    | ProfileChosen
    | TrackerRemoved
    | TrackerSet
    | TrackerChanged
    | ModuleUsed
    | Linked
    | Observed
    | AudienceSet
    | WorldSeen
    | TextEdited
)


def ids_in(event: Event) -> set[str]:
    """Return the texts in the fields of an event, the ids of entities among them."""
    values = [getattr(event, each.name) for each in fields(type(event))]
    return {text for value in values for text in (value if isinstance(value, tuple) else (value,)) if type(text) is str}
