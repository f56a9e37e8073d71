"""What a story counts, as values: a tracker is one thing that is counted, such as gold, affection or the hour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache, cached_property
from itertools import islice

from attrs import evolve, field, frozen

from saga_core.language import clean_name, every, normalized, squash
from saga_core.trackers.profiles import UNASKED
from saga_core.values import Value

MOST_TRACKERS = 32
"""The trackers of one story."""
LONGEST_NAME, LONGEST_TEXT = 40, 240
MOST_STEPS, LONGEST_STEPS = 64, 1_000
"""The steps of a tracker, and the characters of all their names."""
_FARTHEST = 1_000_000_000
RESERVED = frozenset(
    """location location_moved present hp_change items_gained items_lost items_transferred money npc_met npc_separated
    relationship_changes status_changes event_trigger notes informed""".split()
)
"""The fields that every state block has. No tracker can have their names."""


class TrackerKind(StrEnum):
    """What a tracker's values are, and how they move."""

    NUMBER = "number"
    """A whole number between its limits."""
    COUNTER = "counter"
    """A whole number of things that were done or happened, from 0."""
    MONEY = "money"
    """An amount in the smallest of its denominations, from 0."""
    CHOICE = "choice"
    """One of the steps."""
    TEXT = "text"
    FLAG = "flag"
    LIST = "list"
    CLOCK = "clock"
    """Minutes since the first day's midnight."""
    THREADS = "threads"
    """What is open in the story and will end: quests, promises, plans. Each is an event to come."""
    METER = "meter"
    """What one character feels for another: -100 to 100, unless it has other limits."""


class Whose(StrEnum):
    """What has a value of its own."""

    PLAYER = "player"
    CHARACTER = "character"
    PAIR = "pair"
    """Each character towards each other one."""
    PLACE = "place"
    WORLD = "world"


class Telling(StrEnum):
    """When the narrator is told a value."""

    ALWAYS = "always"
    CHANGED = "changed"
    """In the turn after it changed."""
    NEAR_LIMIT = "near-limit"
    """Within a tenth of its range from a limit."""
    NEVER = "never"


class Secrecy(StrEnum):
    """From whom a value is kept. The narrator always knows it."""

    NO = ""
    PLAYER = "player"
    CHARACTERS = "characters"


NUMERIC = frozenset({TrackerKind.NUMBER, TrackerKind.COUNTER, TrackerKind.MONEY, TrackerKind.CLOCK, TrackerKind.METER})
_LIMITS: Mapping[TrackerKind, tuple[int | None, int | None]] = {
    TrackerKind.COUNTER: (0, None),
    TrackerKind.MONEY: (0, None),
    TrackerKind.CLOCK: (0, None),
    TrackerKind.METER: (-100, 100),
}


def _told(text: str) -> str:
    return text[:LONGEST_TEXT]


def _few(steps: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    return tuple((number, name[:LONGEST_NAME]) for number, name in islice(steps, MOST_STEPS))


@frozen(kw_only=True)
class Tracker:
    """One thing that is counted. ``tracker_of`` makes and validates it from the texts of a declaration.

    Records that are older than the limits, and files of others, may hold longer texts and more steps. Each prompt
    tells them, so the rest is left out.
    """

    name: str = field(converter=clean_name)
    kind: TrackerKind = TrackerKind.NUMBER
    whose: Whose = Whose.PLAYER
    description: str = field(default="", converter=_told)
    """What it means and when it moves, for the narrator."""
    start: str = field(default="", converter=_told)
    """The value at the beginning as text; empty if it is unknown."""
    least: int | None = None
    most: int | None = None
    unit: str = field(default="", converter=_told)
    steps: tuple[tuple[int, str], ...] = field(default=(), converter=_few)
    """Numbers with names, ascending: the options of a choice, the denominations of money with their worth, the named
    steps of a meter or number, the days of a clock's week."""
    told: Telling = Telling.ALWAYS
    secret: Secrecy = Secrecy.NO
    decay: int = 0
    """The change in each turn or hour, towards the lower limit if negative."""
    hourly: bool = False
    """Whether it decays by the story's hours and not by turns."""
    event: str = field(default="", converter=_told)
    """What happens when a limit is reached."""
    of_profile: bool = False
    """Whether the story's profile declares it, and not the author or the player."""
    derived: bool = False
    """Whether it follows from something else, so that the narrator is not asked for it and cannot move it."""

    @property
    def key(self) -> str:
        """The name in the form used for comparison."""
        return squash(self.name)

    @property
    def limits(self) -> tuple[int | None, int | None]:
        """The lowest and the highest value; None for none."""
        least, most = _LIMITS.get(self.kind, (None, None))
        return self.least if self.least is not None else least, self.most if self.most is not None else most

    def is_of(self, subject: str, other: str = "") -> bool:
        """Whether it can have a value for these: the world has no subject, and a pair two."""
        return bool(subject) + bool(other) == {Whose.WORLD: 0, Whose.PAIR: 2}.get(self.whose, 1)

    @property
    def numeric(self) -> bool:
        """Whether its values are whole numbers."""
        return self.kind in NUMERIC

    def clamped(self, value: int) -> int:
        """``value`` within the limits."""
        least, most = self.limits
        value = max(-_FARTHEST, min(_FARTHEST, value))
        if least is not None:
            value = max(least, value)
        return value if most is None else min(most, value)

    def step(self, value: int) -> str:
        """The name of the step that ``value`` has reached; empty if steps have no names or none is reached."""
        if self.kind in (TrackerKind.MONEY, TrackerKind.CLOCK):
            return ""
        if self.kind is TrackerKind.METER and value < 0:  # what is below zero is reached from above
            return next((name for number, name in self.steps if value <= number <= 0), "")
        return next((name for number, name in reversed(self.steps) if number <= value), "")


@cache
def _in_every_language() -> Mapping[str, frozenset[str]]:
    """The keys of what is often counted, each with the keys of the same in all languages: what profiles count by
    themselves, and the words for other trackers, options and coins."""
    found: dict[str, frozenset[str]] = {}
    profiles = ([each.profiles.romance for each in every()], [each.profiles.mystery for each in every()])
    rows = [[row.partition("|")[0] for row in same] for lists in profiles for same in zip(*lists, strict=True)]
    words: dict[str, list[str]] = {}
    for language in every():
        for concept, names in language.counted:
            if concept not in ("endings", "owners"):
                words.setdefault(concept, []).extend(names)
    for same in (*rows, *words.values()):
        keys = frozenset(map(squash, same))
        found |= {key: found.get(key, keys) | keys for key in keys}
    return found


def same_words(word: str) -> frozenset[str]:
    """The keys of what means the same as ``word``, if it is a name of what is often counted."""
    return _in_every_language().get(squash(word), frozenset())


@frozen
class Trackers:
    """The trackers of a story in the order of their declaration. Names are found in any spelling, and those of what is
    often counted in every language."""

    declared: tuple[Tracker, ...] = ()
    gone: tuple[str, ...] = ()
    """The keys of trackers that were removed, which a configuration or a marker does not declare again."""
    profile: str = ""
    """What sort of story it is; empty for an adventure that nobody has chosen."""

    @cached_property
    def in_text(self) -> re.Pattern[str]:
        """Finds the names in a text in NFKC, in any spelling, as the group ``name``. In scripts without spaces, a
        particle or a suffix may follow, and any letter may precede."""
        spaced: list[str] = []
        joined: list[str] = []
        for name in sorted({normalized("NFKC", name) for name, _ in self.names()}, key=len, reverse=True):
            spelled = r"[\s_-]?".join(map(re.escape, re.split(r"[\W_]+", name)))
            (spaced if name.isascii() else joined).append(spelled)
        latin, others = (f"(?:{'|'.join(spelled) or '(?!)'})" for spelled in (spaced, joined))
        ends = r"(?![^\W\d_])"
        return re.compile(
            rf"(?P<name>(?<![^\W_]){latin}{ends}|{others})(?:(?<=[^\x00-\x7f])[^\W\d_\x00-\x7f]{{0,2}})?{ends}", re.I
        )

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The decomposed letters with which a name may begin, up to the whole name."""
        whole = ("".join(filter(str.isalnum, normalized("NFKD", name.casefold()))) for name, _ in self.names())
        return frozenset(name[:length] for name in whole for length in range(len(name) + 1))

    @cached_property
    def _by_key(self) -> dict[str, Tracker]:
        return {each.key: each for each in self.declared}

    def find(self, name: str) -> Tracker | None:
        """The tracker of that name, in any spelling and with or without a remark in parentheses."""
        if not self.declared:
            return None
        if (found := self._by_key.get(squash(name))) is not None:
            return found
        head = squash(normalized("NFKC", name).partition("(")[0])
        same = _in_every_language().get(head, frozenset())
        return self._by_key.get(head) or next((each for each in self.declared if each.key in same), None)

    def names(self) -> Iterator[tuple[str, Tracker]]:
        """Every name by which a tracker is found, with the tracker; its own names come first."""
        yield from ((each.name, each) for each in self.declared)
        for each in self.declared:
            same = _in_every_language().get(each.key, frozenset()) - self._by_key.keys()
            yield from ((key, each) for key in sorted(same))

    def with_more(self, more: Iterable[Tracker]) -> Trackers:
        """These trackers and ``more``. One of a known name replaces the earlier one in its place."""
        found = {each.key: each for each in self.declared}
        found |= {each.key: each for each in more}
        gone = tuple(key for key in self.gone if key not in found)
        return evolve(self, declared=tuple(found.values())[:MOST_TRACKERS], gone=gone)

    def without(self, name: str) -> Trackers:
        """These trackers but the one of that name."""
        key = squash(name)
        gone = tuple(dict.fromkeys((*self.gone, key)))[-MOST_TRACKERS:]
        return evolve(self, declared=tuple(each for each in self.declared if each.key != key), gone=gone)

    @property
    def asked(self) -> tuple[Tracker, ...]:
        """Those that the narrator, or a model that reads the replies, is asked for."""
        return tuple(each for each in self.declared if not each.derived)

    def for_members(self) -> Trackers:
        """These trackers without those that are secret to the characters."""
        return evolve(self, declared=tuple(each for each in self.declared if each.secret is not Secrecy.CHARACTERS))

    def asks(self, field: str) -> bool:
        """Whether the story counts what a field of the state block reports."""
        return field not in UNASKED.get(self.profile, ())

    def missing(self, wanted: Iterable[Tracker]) -> tuple[Tracker, ...]:
        """Those of ``wanted`` that are not declared and were not removed."""
        return tuple(each for each in wanted if each.key not in self._by_key and each.key not in self.gone)

    def in_profile(self, profile: str, own: Iterable[Tracker]) -> Trackers:
        """These trackers in a story of another profile, with ``own`` instead of those of the profile before."""
        kept = evolve(self, declared=tuple(each for each in self.declared if not each.of_profile), profile=profile)
        return kept.with_more(evolve(each, of_profile=True) for each in kept.missing(own))

    def __iter__(self) -> Iterator[Tracker]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)


NO_TRACKERS = Trackers()


@frozen
class Count:
    """A tracker's value for one subject, since which turn (depth), and its latest earlier values."""

    value: Value
    since: int = 0
    earlier: tuple[tuple[int, Value], ...] = ()
    """(depth, value) before each of the latest changes, oldest first."""


def pair(subject: str, other: str = "") -> str:
    """The subject of a value: one entity, or what one feels for another."""
    return f"{subject}>{other}" if other else subject


def ends(subject: str) -> tuple[str, str]:
    """The inverse of ``pair``."""
    one, _, other = subject.partition(">")
    return one, other
