"""The state block: the request to the narrator, and the words that a model may use in it.

A block is read in the same way in every story, because models mix languages. A text with several words separates them
with spaces. Keys and words are given in the form returned by ``squash``, without spaces and punctuation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

NEVER = "(?!)"
"""A pattern that never matches."""


@frozen(kw_only=True, eq=False, repr=False)
class Request:
    """The request for a block: its text, and the words for the placeholders of the form."""

    lead: str
    place: str
    item: str
    name: str
    mood: str
    notes: str
    tools: str = ""
    """An additional text for a narrator that may call tools."""


@frozen(kw_only=True, eq=False, repr=False)
class BlockWords:
    """The words of a state block in one language. Fields that a language does not need keep their defaults."""

    request: Request
    openers: tuple[str, ...] = ()
    """Words besides "state" that make a fence the opener of a block."""
    headers: str = ""
    """Names for the block as a whole, in a line above its fields."""
    fields: Mapping[str, str] = field(factory=dict)
    """Other names of the fields."""
    templates: Mapping[str, str] = field(factory=dict)
    """Words that a template contains in place of a field's value, by field."""
    fillers: str = ""
    """Filler words in a placeholder, beside the words of its field: [name of the NPC]."""
    enumerators: str = ""
    """Characters other than digits and Latin letters that number placeholders."""
    keys: Mapping[str, str] = field(factory=dict)
    """Other names of the keys inside records. ``whom`` lists further names of the key for a person."""
    levels: str = ""
    """The names of ``hp_change`` that mean the hit points themselves and not a change of them."""

    nothing: str = ""
    """Words for a missing value, separated by commas."""
    nothing_said: str = NEVER
    """A pattern of a list element that says that there are no elements."""
    nothing_ends: str = ""
    """A pattern of a word for "nothing" at the end of a text. Such a text is complete."""
    unknown: str = ""
    """Words for an unknown person, separated by commas."""
    nobody: str = ""
    """Words for an empty list of names, separated by commas."""
    unchanged: str = ""
    """The answers that small models give instead of an empty block."""

    yes: str = ""
    no: str = ""
    true: str = ""
    """Further words for a true flag, besides ``yes``."""
    false: str = ""

    minus: str = ""
    plus: str = ""
    loss: str = NEVER
    gain: str = NEVER
    negation: str = NEVER
    units: str = NEVER
    """A pattern of words that mark a number as hit points, but say nothing about its sign."""
    hit_points: str = NEVER
    """A pattern of words for hit points before a level."""
    becomes: str = NEVER
    """A pattern of words between two levels."""
    became: str = NEVER
    """A pattern of words behind the second of two levels."""

    counters: str = NEVER
    """A pattern of counter words behind a number of things."""
    counters_behind: str = NEVER
    """The same for counter words that are read only behind a name. Before one they mostly belong to it: 三节棍."""
    money: str = NEVER
    """A pattern of things that are counted but never numbered. A bare number behind them is a quantity."""
    numbers: Mapping[str, int] = field(factory=dict)
    """Numbers in words before a counter, longer words first."""
    spelled: str = NEVER
    """A pattern of numbers composed of several words, before a counter."""
    value: Callable[[str], int | None] = field(default=lambda written: None)
    """Returns the number that such a text means; None for a text in any other language."""
    joined: str = NEVER
    """The same pattern for numbers directly behind a name, in languages without spaces."""
    named: str = NEVER
    """A pattern of names that begin like a count, but are names: 三件套, 千円札."""
    currency: str = NEVER
    """A pattern of currency words. They count money and also name it if nothing else is named: 200만 원, 二百块."""
    counted: str = NEVER
    """A pattern of words between a counter and the name of the thing counted."""
    countable: str = NEVER
    """A pattern of a whole name after which a bare number is a quantity and not a part of the name."""
    numbered: str = NEVER
    """A pattern of names that contain a number, such as those of chapters."""
    plurals: Mapping[str, int] = field(factory=dict)
    """Numbers in words before a plural name."""

    labels: str = NEVER
    """A pattern of the keys in a relation that is written on one line."""
    debt: str = NEVER
    """A pattern of relation types that are debts."""
    paid: str = NEVER
    """A pattern of words that say that a debt is settled, in a relation type or beside it."""
    over: str = NEVER
    """A pattern of words that say that a relation of any type has ended."""
    settled: str = ""
    """The relation type that replaces a debt when it is settled."""
    gives: tuple[str, ...] = ()
    """Patterns of sentences with the groups ``giver``, ``receiver`` and ``item``."""
    tells_giving: str = NEVER
    """A pattern of words for giving, to detect sentences that none of ``gives`` matches."""
    statuses: str = NEVER
    """A pattern of statuses at the end of a sentence."""
    subject: str = NEVER
    """A pattern of particles between a name and a status without a space. Put ranges of thousands of letters into
    ``(?-i:...)``, because compiling them case-insensitively takes long."""
    unreal: str = NEVER
    """A pattern of a whole remark behind a place or a person: it is a dream, a memory or a vision."""
    remote: str = NEVER
    """A pattern of a whole remark behind a person who is not there: ``over the radio``."""
    calling: str = NEVER
    """The same for remarks that also fit somebody who is there and makes a call: ``on the phone``."""
    dead: str = ""
    """Statuses of a character who died."""
    well: str = ""
    """Statuses of a character who has recovered."""
    gone: str = NEVER
    """A pattern of statuses that say that a thing no longer exists."""
    broken: str = NEVER
    """The same for statuses that hardly ever describe a person. An unknown name with one is a thing or a place."""
    dead_ends: tuple[str, ...] = ()
    """Words for dead at the end of a longer status, in languages without spaces: 坠楼身亡."""
    supposed: str = NEVER
    """A pattern of words before a word for dead. They say that the death is a rumour or a guess: 传闻已死, presumed
    dead."""
    averted: str = NEVER
    """The same for words that say that somebody did not die, or feigned to: 险些身亡, left for dead."""
    alive: str = ""
