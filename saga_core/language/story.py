"""Case-insensitive patterns for events in prose: actions, deaths, important facts.

They prefer precision to completeness: a wrong finding costs a player's trust, a missed one costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

NEVER = "(?!)"
"""A pattern that never matches."""


def _none(*_: object) -> str:
    return NEVER


def _no(sentence: str, names: Sequence[str]) -> bool:
    return False


@frozen(kw_only=True, eq=False, repr=False)
class StoryWords:
    """The patterns of one language. A pattern that is left out never matches.

    Functions take ``named``, a pattern of a character's names, and return a pattern to search in a sentence.
    """

    died: str = NEVER
    """A clause about a death."""
    bonds: str = NEVER
    """A clause about something that binds people: promises, debts, wounds, secrets."""
    owed: str = NEVER
    """A sentence about a debt."""
    settled: str = NEVER
    """A sentence that says that a debt is settled."""
    partly: str = NEVER
    """Words in such a sentence that say that a part of the debt is left, or that it is not settled yet."""
    still_owed: str = NEVER
    """A sentence that says how much of a debt is left."""
    negation: str = NEVER
    """Words that negate a statement."""

    stacked: str = NEVER
    """Things that exist in identical copies."""
    hostile: str = NEVER
    """Hostile relation types."""
    friendly: str = NEVER
    reasons: str = NEVER
    """Possible reasons for a change of heart."""
    travel: str = NEVER
    """Ways in which a character may have come along."""

    unreal: str = NEVER
    """Dreams, memories, ghosts and the like."""
    body: str = NEVER
    """A corpse or a grave."""
    revived: str = NEVER
    """Explanations for a dead character being alive."""
    helpless: str = NEVER
    """A character is unconscious or down, or recovers."""
    untrue: str = NEVER
    """A sentence about something that does not happen: a negation, a condition, or a comparison."""
    untrue_of_death: str = NEVER
    """The same for a sentence about a death."""

    acting: Callable[[str, bool], str] = _none
    """Takes ``named`` and whether to search for fighting; the character does something, by a list of verbs."""
    does: Callable[[str, Sequence[str]], bool] = _no
    """Takes a sentence and names, and returns whether such a character does something, judging by the grammar."""
    saying: Callable[[str], str] = _none
    """Takes ``named``; the character said the quotation before the name."""
    dying: Callable[[str], str] = _none
    staying: Callable[[str, str], str] = _none
    """Takes ``named`` and a pattern of a place; the character is at that place."""
    you_fighting: Callable[[str], str] = _none
    """Takes ``named``; the player's character fights."""
    fights: str = NEVER
    """Words for fighting in the player's message."""
    fights_alone: str = NEVER
    """A sentence about fighting with any subject, in languages whose sentences need no subject."""
    subject: str = NEVER
    """Any subject of a sentence, in languages whose sentences need no subject."""
