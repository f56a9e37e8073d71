"""What is told of earlier turns: all of what was said, what is particular of it, or the part that is asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from attrs import define, frozen

from saga_core.language import language_of
from saga_core.recall import STAMP, Episodes, Particular, excerpt, resembling, telling, weigh

_WEIGHED = 24
"""Turns among which a word of the query is rare or common: those found best."""
_COUNTED_FROM = 24
"""Turns from which on it says something that few of them have a word."""
_NEAREST = 3
"""Turns without anything particular that are told because they resemble the question: what is told again and again is
told often enough by a few of them."""


@frozen
class Remembered:
    """A turn as it is told."""

    facts: str
    """Its first line, the number left out."""
    said: str
    stamped: bool
    """Whether there was a number."""


@define(slots=False)
class Remembering:
    """The turns of one read, the best first."""

    episodes: Episodes
    wanted: Sequence[str]
    """The words of the query."""
    turns: Sequence[str]
    language: str
    brief: bool
    """Whether it is a talk. Its turns are told without what anybody says anytime; of those that have nothing else, only
    a few that resemble the question are told."""

    def __attrs_post_init__(self) -> None:
        episodes, sizes = self.episodes, language_of(self.language).texts.sizes
        counted = self.brief and episodes.last >= _COUNTED_FROM
        self._particular = Particular(episodes, episodes.last) if counted else None
        self._whole = sizes.brief if self.brief else sizes.whole
        self._facts, self._excerpt = sizes.whole, sizes.excerpt
        self._left = _NEAREST
        self._nearest = set[str]()

    def of(self, turn: str) -> Remembered | None:
        """What is told of ``turn``; None for nothing. To be asked once for each, in their order."""
        facts, _, said = self.episodes.text(turn).partition("\n")
        stamp = STAMP.match(facts)
        if stamp is not None:
            facts = facts[stamp.end() :]
        if not said:
            return Remembered(excerpt(facts, self._weights, self._facts), "", stamp is not None)
        if self._particular is not None:
            said = telling(said, self._particular) or self._resembling(said)
            if not said:
                return None
        if len(said) > self._whole:
            said = excerpt(said, self._weights, self._excerpt)
        return Remembered(facts, said, stamp is not None)

    def _resembling(self, said: str) -> str:
        """What of ``said`` resembles the question, if anything does and few turns were told for that so far."""
        found = resembling(said, self._weights) if self._left else ""
        if not found or found in self._nearest:
            return ""
        self._nearest.add(found)
        self._left -= 1
        return found

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        # Most turns of a talk are told without being cut.
        texts = [self.episodes.text(turn).partition("\n")[2] for turn in self.turns[:_WEIGHED]]
        return weigh(self.wanted, texts)
