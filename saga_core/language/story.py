"""What prose tells: who acts, who dies, what weighs. Patterns in which case counts for nothing.

Careful rather than complete: a finding that is wrong costs a player's trust, one that is missed costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

NEVER = "(?!)"
"""A pattern that nothing fits."""


def _none(*_: object) -> str:
    return NEVER


def _no(sentence: str, names: Sequence[str]) -> bool:
    return False


@frozen(kw_only=True, eq=False, repr=False)
class StoryWords:
    """The words of a language, and how its sentences are built. What is left out is not looked for.

    Functions take ``named``, a pattern of the names of somebody, and give a pattern that is searched in a sentence.
    """

    died: str = NEVER
    """A clause that tells of a death."""
    bonds: str = NEVER
    """A clause that tells of what binds people: promises, debts, wounds, secrets."""
    owed: str = NEVER
    """A sentence that tells of a debt."""
    settled: str = NEVER
    """A sentence that tells that a debt is settled."""
    partly: str = NEVER
    """What tells in such a sentence that some of the debt is left, or that nothing is settled yet."""
    still_owed: str = NEVER
    """A sentence that tells how much of a debt is left."""
    negation: str = NEVER
    """What makes a statement say the opposite."""

    stacked: str = NEVER
    """Things of which there are several alike."""
    hostile: str = NEVER
    """A kind of relation that is enmity."""
    friendly: str = NEVER
    reasons: str = NEVER
    """What may be the reason of a change of heart."""
    travel: str = NEVER
    """How somebody may have come along."""

    unreal: str = NEVER
    """Dreams, memories, ghosts and the like."""
    body: str = NEVER
    """A corpse or a grave."""
    revived: str = NEVER
    """How the dead may be alive."""
    helpless: str = NEVER
    """Somebody is down, or gets up again."""
    untrue: str = NEVER
    """A sentence that tells what does not happen, would, or is like something."""
    untrue_of_death: str = NEVER
    """The same, of a sentence that tells of a death."""

    acting: Callable[[str, bool], str] = _none
    """(``named``, ``fighting``): somebody does something, by a list of verbs."""
    does: Callable[[str, Sequence[str]], bool] = _no
    """(sentence, names): somebody does something, by how the sentence is built."""
    saying: Callable[[str], str] = _none
    """``named``: who said what stands in quotation marks before it."""
    dying: Callable[[str], str] = _none
    staying: Callable[[str, str], str] = _none
    """(``named``, a pattern of a place): somebody is there."""
    you_fighting: Callable[[str], str] = _none
    """``named``: the player's character fights."""
    fights: str = NEVER
    """Words of the player that tell of fighting."""
    fights_alone: str = NEVER
    """A sentence that tells of fighting, whoever does it; where sentences need no subject."""
    subject: str = NEVER
    """Any subject of a sentence; where sentences need none."""
