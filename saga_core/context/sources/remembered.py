"""What is told of earlier turns: all of what was said, what is particular of it, or the part that is asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from attrs import define

from saga_core.language import language_of
from saga_core.recall import STAMP, Episodes, Particular, Sought, excerpt, resembling, telling, weigh_each

WEIGHED = 24
"""Turns among which a word of the query is rare or common: those found best."""
_ALSO = 0.25
"""What a word of the turns found first is worth beside one of the query."""
_COUNTED_FROM = 24
"""Turns from which on it says something that few of them have a word."""
_NEAREST = 3
"""Turns without anything particular that are told because they resemble the question: what is told again and again is
told often enough by a few of them."""
_BRIEFER = ((8, 0.5), (2, 0.7), (0, 1.0))
"""From which turn of the ranking on an excerpt is so much briefer: what answers is most often told by the first two, or
else by any of the next thirty."""


@define
class Remembered:  # not frozen, as ``Piece`` is not
    """A turn as it is told."""

    facts: str
    """Its first line, the number left out."""
    said: str
    stamped: bool
    """Whether it is told with its number."""


@define(slots=False)
class Remembering:
    """What is told of the turns of one read."""

    episodes: Episodes
    sought: Sought
    """The words of the query."""
    turns: Sequence[str]
    """The best ones, best first; ``WEIGHED`` of them are looked at."""
    language: str
    brief: bool
    """Whether it is a talk. Its turns are told without what anybody says anytime; of those that have nothing else, only
    a few that resemble the question are told."""

    also: Sequence[str] = ()
    """Words of what was found first: they say less than those of the query."""
    asked: bool = False
    """Whether the player asks for what was: then most turns are told briefly, for any of them may answer."""

    def __attrs_post_init__(self) -> None:
        episodes, sizes = self.episodes, language_of(self.language).texts.sizes
        counted = self.brief and episodes.last >= _COUNTED_FROM
        self._particular = Particular(episodes, episodes.last) if counted else None
        self._whole = sizes.brief if self.brief else sizes.whole
        self._facts, self._excerpt = sizes.whole, sizes.excerpt
        self._left, self._told = _NEAREST, 0
        self._nearest = set[str]()

    def of(self, turn: str) -> Remembered | None:
        """What is told of ``turn``; None for nothing. To be asked once for each, in their order."""
        facts, said, stamped = _parts(self.episodes.text(turn))
        at, self._told = self._told, self._told + 1
        if not said:
            return Remembered(excerpt(facts, self._weights[0], self._facts), "", stamped)
        if self._particular is not None:
            said = telling(said, self._particular) or self._resembling(said, turn)
            if not said:
                return None
        if len(said) > self._whole:
            part = next(part for first, part in _BRIEFER if at >= first) if self.asked else 1.0
            said = excerpt(said, self._words_of(turn), int(part * self._excerpt), sentence=self._excerpt)
        # What somebody said in a talk is told by its date, or by what stands around it.
        return Remembered(facts, said, stamped and bool(facts or not self.brief))

    def _words_of(self, turn: str) -> Mapping[str, float]:
        """The words that are looked for in a turn, and what they are worth."""
        whole, each = self._weights
        return each.get(turn, whole)

    def _resembling(self, said: str, turn: str) -> str:
        """What of ``said`` resembles the question, if anything does and few turns were told for that so far."""
        found = resembling(said, self._words_of(turn)) if self._left else ""
        if not found or found in self._nearest:
            return ""
        self._nearest.add(found)
        self._left -= 1
        return found

    @cached_property
    def _weights(self) -> tuple[Mapping[str, float], Mapping[str, Mapping[str, float]]]:
        # Most turns of a talk are told without being cut.
        turns = self.turns[:WEIGHED]
        whole = [self.episodes.text(turn) for turn in turns]
        texts = [text.partition("\n")[2] for text in whole]
        weights, each = weigh_each(self.sought.words, texts, [self.sought.possible(text) for text in whole])
        if self.also:
            others = weigh_each([word for word in self.also if word not in weights], texts)
            for own, other in zip((weights, *each), (others[0], *others[1]), strict=True):
                own.update({word: _ALSO * worth for word, worth in other.items()})
        return weights, dict(zip(turns, each, strict=True))


def parts_told(wanted: Sequence[str], language: str, texts: Sequence[str]) -> list[str]:
    """What would be told of the turns with these ``texts`` if they were the best ones."""
    said = [text.partition("\n")[2] for text in texts]
    weights, each = weigh_each(wanted, said)
    size = language_of(language).texts.sizes.excerpt
    return [excerpt(text, having or weights, size) for text, having in zip(said, each, strict=True)]


@lru_cache(maxsize=1_024)
def _parts(episode: str) -> tuple[str, str, bool]:
    """The facts of an episode without its number, what was said, and whether there was a number. A talk is told of a
    hundred turns at a time, most of them those of the question before."""
    facts, _, said = episode.partition("\n")
    stamp = STAMP.match(facts)
    return (facts, said, False) if stamp is None else (facts[stamp.end() :], said, True)
