"""The state block: how the narrator is asked for it, and the words that a model may use in it.

A block is read alike whatever language the story is told in: models mix them. Texts with several words have spaces
between them; keys and words are given as ``squash`` makes them, without spaces and signs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

NEVER = "(?!)"
"""A pattern that nothing fits."""


@frozen(kw_only=True, eq=False, repr=False)
class Request:
    """How the narrator is asked for a block: a text, and what stands in the form's place holders."""

    lead: str
    place: str
    item: str
    name: str
    mood: str
    notes: str
    tools: str = ""
    """What is said besides where the narrator may call tools."""


@frozen(kw_only=True, eq=False, repr=False)
class BlockWords:
    """What a language does not have is left out."""

    request: Request
    openers: tuple[str, ...] = ()
    """Words that make a fence the opener of a block, besides "state"."""
    headers: str = ""
    """What may name the block as a whole, above its fields."""
    fields: Mapping[str, str] = field(factory=dict)
    """Other names of the fields."""
    templates: Mapping[str, str] = field(factory=dict)
    """Words that stand in a template where a field's value should be."""
    fillers: str = ""
    """Words that stand beside those of a field in a placeholder: [name of the NPC]."""
    enumerators: str = ""
    """Characters other than digits and Latin letters that number placeholders."""
    keys: Mapping[str, str] = field(factory=dict)
    """Other names of the keys inside records. ``whom``: more of those for the name of a person."""
    levels: str = ""
    """Of the names of ``hp_change`` those that name hit points as such, and not a change of them."""

    nothing: str = ""
    """What says that there is nothing to say; between commas."""
    nothing_said: str = NEVER
    """A pattern of an element of a list that says that there is none."""
    nothing_ends: str = ""
    """Such a word at the end of a text: the text is whole."""
    unknown: str = ""
    """What says, where a person should be, that it is not known who; between commas."""
    nobody: str = ""
    """What says, where a list of names should be, that nobody is there; between commas."""
    unchanged: str = ""
    """What a small model says instead of an empty block."""

    yes: str = ""
    no: str = ""
    true: str = ""
    """What else than ``yes`` says that somebody moved."""
    false: str = ""

    minus: str = ""
    plus: str = ""
    loss: str = NEVER
    gain: str = NEVER
    negation: str = NEVER
    units: str = NEVER
    """What says that a number is of hit points, and nothing of its sign."""
    hit_points: str = NEVER
    """Before or behind a level."""
    becomes: str = NEVER
    """Between two levels."""
    became: str = NEVER
    """Behind the second of them."""

    counters: str = NEVER
    """What stands behind a number of things."""
    money: str = NEVER
    """What is counted and never numbered: a bare number behind it is how many."""
    numbers: Mapping[str, int] = field(factory=dict)
    """Numbers in words, before a counter. Longer words first."""
    spelled: str = NEVER
    """A pattern of numbers that are put together of words, before a counter."""
    value: Callable[[str], int | None] = field(default=lambda written: None)
    """The number that such a text says; None for a text of any other language."""
    joined: str = NEVER
    """Such a pattern of numbers that may stand right behind a name, in languages that write no spaces."""
    named: str = NEVER
    """A pattern of names that begin like a count and are none: 三件套, 千円札."""
    currency: str = NEVER
    """What counts money, and is what is counted where nothing else is named: 200만 원, 二百块."""
    counted: str = NEVER
    """What stands between a counter and the name of what is counted."""
    countable: str = NEVER
    """A pattern of a whole name behind which a bare number is how many, and no number that belongs to it."""
    numbered: str = NEVER
    """A pattern of what has a number in its name: a chapter."""
    plurals: Mapping[str, int] = field(factory=dict)
    """Numbers in words, before a name in the plural."""

    labels: str = NEVER
    """The names of keys where a relation is written in one line."""
    debt: str = NEVER
    """A pattern of a kind of relation that is a debt."""
    paid: str = NEVER
    """A pattern of what says of a debt that it is settled, in a kind of relation or beside it."""
    over: str = NEVER
    """A pattern of what says of any relation that there is none any more."""
    settled: str = ""
    """The kind of a relation that was a debt."""
    gives: tuple[str, ...] = ()
    """Sentences with the groups ``giver``, ``receiver`` and ``item``."""
    tells_giving: str = NEVER
    """A pattern of what tells that something was given, in a sentence that none of ``gives`` reads."""
    statuses: str = NEVER
    """What may have become of somebody, at the end of a sentence."""
    subject: str = NEVER
    """Between a name and a status, where no space does. A range of thousands of letters stands in ``(?-i:...)``: one
    whose case does not count takes long to make."""
    dead: str = ""
    """What a status says of somebody who died."""
    well: str = ""
    """What a status says of somebody who has recovered."""
    gone: str = NEVER
    """A pattern of a status that says that a thing is no more."""
    broken: str = NEVER
    """The same, of what is hardly ever said of a person: whatever was nobody before is a thing or a place then."""
    dead_ends: tuple[str, ...] = ()
    """Such words at the end of a longer status, in languages that write no spaces: 坠楼身亡."""
    alive: str = ""
