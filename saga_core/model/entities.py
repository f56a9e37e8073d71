"""The entities of a story, and the records that strategies learned, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from attrs import evolve, field, frozen

from saga_core.language import is_debt, is_settled
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
    debt: Relation | None = None
    """What is owed beside what is felt. A debt that is all there is has the relation's own type and strength."""

    def __str__(self) -> str:
        return ", ".join(f"{each.type} ({each.strength:+d})" for each in self.parts) or self.type

    @property
    def over(self) -> bool:
        """Whether it is only that a debt was settled. SAGA tells it where the debt was told, and nowhere else."""
        return not self.strength and self.debt is None and is_settled(self.type)

    @property
    def felt(self) -> Relation | None:
        """The relation without what is owed."""
        return None if is_debt(self.type) else evolve(self, debt=None)

    @property
    def owed(self) -> Relation | None:
        """The debt that is not settled."""
        return self if is_debt(self.type) else self.debt

    @property
    def parts(self) -> tuple[Relation, ...]:
        """What is felt and what is owed, each if there is any."""
        return tuple(each for each in (self.felt, self.owed) if each is not None and not each.over)

    def part(self, kind: str) -> Relation | None:
        """The part that a change to ``kind`` changes: a debt, or its settlement, is apart from what is felt."""
        owed = self.owed
        return owed if is_debt(kind) or (owed is not None and is_settled(kind)) else self.felt


HABITS = ("gains_listed", "gains_totalled", "player_listed", "losses_repeated")
"""The player's attributes that count how often the narrator's gains were a whole inventory, and totals, and that say
with whom it listed the player's character as company."""
MOMENT = "moment"
"""The attribute that says how somebody present is until the next report that lists her without it: asleep."""

CONDITION = "condition"
"""The attribute that says how a thing is that is not as it should be: cracked."""


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
    by_hand: bool = False
    """Whether a person wrote it. Then it stays as it is."""

    def overlaps(self, first: int, last: int) -> bool:
        """Whether it is about one of the turns ``first`` to ``last``."""
        return self.first <= last and first <= self.last


@frozen
class Scheduled:
    """A future event and its conditions, or a thread of the story: a quest, a promise, a plan."""

    event: str
    name: str
    text: str = ""
    due: int | None = None
    expires: int | None = None
    place: str = ""
    who: str = ""
    since: int = 0
    """The turn (depth) at which it was scheduled."""
    kind: str = ""
    """The tracker of a thread; empty for an event that a curator or a user scheduled."""
    at: int | None = None
    """When a thread is due, in minutes of the story's clock."""
    when: str = ""
    """The same as it was said."""
    between: str = ""
    """Who owes it to whom: ``Mina → Joon``."""
    advanced: int = 0
    """The turn (depth) of its latest news, which is ``text``."""


@frozen
class MemoryBlock:
    """A curator's notes to itself."""

    text: str
    version: int = 1
    since: int = 0


MAX_MEMORIES = 512
"""The records that one state keeps. Beyond this limit the oldest are dropped. Strategies have lower limits."""


@frozen
class MemoryRecord:
    """A fact that was learned, with the turns that are its evidence."""

    id: str
    strategy: str
    """The name of the strategy in the configuration; empty for records added by hand."""
    kind: str
    """``fact``, ``preference``, ``summary``, ``episode``, ``reflection``, or a plugin's own kind."""
    namespace: str
    """With unfilled ``{actor}`` and ``{session}``: the place of the record tells its actor and session."""
    text: str
    details: Mapping[str, str] = field(factory=dict)
    turns: tuple[str, ...] = ()
    """Ids of the turns that it was learned from, oldest first. An updated record has those of both versions."""
    sources: tuple[str, ...] = ()
    """Ids of the records that it was derived from."""
    at: float = 0.0
    """When this version was learned, in seconds since the epoch."""
    expires: float | None = None
    """The time from which it is no longer used. None: never."""
    version: int = 1
    depth: int = 0
    """The turn (depth) whose review added it."""

    def live(self, now: float) -> bool:
        """Whether the record has not expired."""
        return self.expires is None or now < self.expires


def remembered(memories: Mapping[str, MemoryRecord], record: MemoryRecord, depth: int) -> dict[str, MemoryRecord]:
    """Return the records with one more, or with a new version of one."""
    old = memories.get(record.id)
    found = {id_: each for id_, each in memories.items() if id_ != record.id}
    found[record.id] = evolve(record, version=max(record.version, old.version + 1 if old else 1), depth=depth)
    return dict(list(found.items())[-MAX_MEMORIES:])


def newest(*groups: Iterable[MemoryRecord]) -> dict[str, MemoryRecord]:
    """Return the records of several groups by id. The latest version of a record wins."""
    found: dict[str, MemoryRecord] = {}
    for group in groups:
        for record in group:
            known = found.get(record.id)
            if known is None or (known.at, known.version) < (record.at, record.version):
                found[record.id] = record
    return found
