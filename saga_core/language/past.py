"""Words of time and of remembering. Patterns are searched in case-folded text."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

NEVER = "(?!)"
"""A pattern that nothing fits."""


@frozen(kw_only=True, eq=False, repr=False)
class PastWords:
    """What players say of the past, and how stories tell that days pass. What a language does not have is left out."""

    asking: str = NEVER
    """What asks for something or speaks of the past."""
    asking_unmarked: str = NEVER
    """A question, or words that ask to be told, without a question mark."""
    ago: str = NEVER
    """So long ago. With the groups ``number`` and ``unit``, or ``days``."""
    numbers: Mapping[str, int] = field(factory=dict)
    """Of the group ``number``, where it is not in digits."""
    units: Mapping[str, int] = field(factory=dict)
    """Days of a unit."""
    days: Mapping[str, int] = field(factory=dict)
    """Of the group ``days``: words that are so many days by themselves."""
    named_days: tuple[tuple[str, int], ...] = ()
    """Patterns of words such as "yesterday", and how many days ago that is, the longest word first."""
    meeting: str = NEVER
    """When somebody was met first."""
    beginning: str = NEVER
    """When the story began."""
    latest: str = NEVER
    """When it happened last."""
    date: str = NEVER
    """A day of the calendar in digits, its month perhaps in letters, with the groups ``month1``, ``day1`` and perhaps
    ``year1``; where there are two ways to write it, the other with ``month2`` and so on."""
    months: Mapping[str, int] = field(factory=dict)
    """Of a month in letters, by its first three."""
    asks_amount: str = NEVER
    """What asks how much or how many; what asks when is ``asks_when``."""
    asks_when: str = NEVER
    amount: str = NEVER
    """A number in digits or in words, as a sentence tells it."""
    moment: str = NEVER
    """A day, a month or a time without a number."""
    other_story: str = NEVER
    """A story that was played in another chat."""
    hints: tuple[str, ...] = ()
    """Parts of words without which nothing of the above is found: looking for these costs a tenth."""
    later: str = NEVER
    """The beginning of a sentence that tells that a day has passed, or, with the groups of ``ago``, several."""
    turn: tuple[str, ...] = ()
    """What an episode's line of facts begins with, before the number of its turn."""
    dated: str = NEVER
    """A day as ``Texts.day`` gives it, with the groups ``rest`` and ``year``."""
