"""Words for time and for remembering. The patterns are searched in case-folded text."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

NEVER = "(?!)"
"""A pattern that never matches."""


@frozen(kw_only=True, eq=False, repr=False)
class PastWords:
    """Phrases of players about the past, and of stories in which days pass. Fields that a language does not need keep
    their defaults."""

    asking: str = NEVER
    """A word that asks for something or refers to the past."""
    asking_unmarked: str = NEVER
    """A question or a request for information without a question mark."""
    ago: str = NEVER
    """A length of time before now, with the groups ``number`` and ``unit``, or ``days``."""
    numbers: Mapping[str, int] = field(factory=dict)
    """The values of the group ``number``, if it is not in digits."""
    units: Mapping[str, int] = field(factory=dict)
    """The number of days in each unit."""
    days: Mapping[str, int] = field(factory=dict)
    """The values of the group ``days``: words that mean a number of days by themselves."""
    named_days: tuple[tuple[str, int], ...] = ()
    """Patterns of words such as "yesterday", with the number of days ago, longest word first."""
    meeting: str = NEVER
    """A reference to the first meeting with a character."""
    beginning: str = NEVER
    """A reference to the beginning of the story."""
    latest: str = NEVER
    """A reference to the last time that something happened."""
    date: str = NEVER
    """A calendar date in digits, possibly with the month in letters. It has the groups ``month1``, ``day1`` and
    optionally ``year1``. If there is a second notation, its groups are ``month2`` and so on."""
    months: Mapping[str, int] = field(factory=dict)
    """The number of a month in letters, by its first three letters."""
    asks_amount: str = NEVER
    """A question about how much or how many. ``asks_when`` is a question about time."""
    asks_when: str = NEVER
    amount: str = NEVER
    """A number in a sentence, in digits or in words."""
    moment: str = NEVER
    """A day, a month or a time without a number."""
    other_story: str = NEVER
    """A reference to a story that was played in another chat."""
    hints: tuple[str, ...] = ()
    """Parts of words without which none of the patterns above can match. Searching for them costs a tenth."""
    later: str = NEVER
    """The beginning of a sentence that says that a day has passed; with the groups of ``ago``, several days."""
    turn: tuple[str, ...] = ()
    """The words before the turn number at the beginning of an episode's line of facts: that of ``Texts.episode``,
    unless another language has it, and those of earlier versions."""
    dated: str = NEVER
    """A date as formatted by ``Texts.day``, with the groups ``rest`` and ``year``. Every language needs it."""
