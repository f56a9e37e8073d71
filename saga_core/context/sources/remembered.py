"""Selects the text of recalled turns: the whole text, its particular sentences, or an excerpt for the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from attrs import define

from saga_core.language import language_of
from saga_core.recall import STAMP, Episodes, Particular, Sought, excerpt, resembling, telling, weigh_each

WEIGHED = 24
"""Number of best turns by which the weights of the query's words are computed."""
_ALSO = 0.25
"""Weight of a word from feedback relative to a word of the query."""
_COUNTED_FROM = 24
"""Minimum turns of a path for the rarity of a word to be significant."""
_NEAREST = 3
"""Maximum turns without particular sentences that are included because they resemble the question. More would repeat
the same things."""
_BRIEFER = ((8, 0.5), (2, 0.7), (0, 1.0))
"""(rank, factor of the excerpt length from that rank on). The answer is usually in the first two turns, or otherwise in
any of the next thirty."""


@define
class Remembered:  # not frozen, as ``Piece`` is not
    """The text of a recalled turn."""

    facts: str
    """The line of facts without the turn number."""
    said: str
    stamped: bool
    """Whether the turn number is included."""


@define(slots=False)
class Remembering:
    """Selects the texts of the turns of one read."""

    episodes: Episodes
    sought: Sought
    """The words of the query."""
    turns: Sequence[str]
    """The best turns, best first. The first ``WEIGHED`` determine the weights of words."""
    language: str
    brief: bool
    """Whether the turns are utterances of a conversation. Only their particular sentences are used. Of turns without
    any, only a few that resemble the question are included."""

    also: Sequence[str] = ()
    """Words from feedback, with less weight than words of the query."""
    asked: bool = False
    """Whether the player asks about the past. Most excerpts are then shorter, so that more turns fit."""

    def __attrs_post_init__(self) -> None:
        episodes, sizes = self.episodes, language_of(self.language).texts.sizes
        counted = self.brief and episodes.last >= _COUNTED_FROM
        self._particular = Particular(episodes, episodes.last) if counted else None
        self._whole = sizes.brief if self.brief else sizes.whole
        self._facts, self._excerpt = sizes.whole, sizes.excerpt
        self._left, self._told = _NEAREST, 0
        self._nearest = set[str]()

    def of(self, turn: str) -> Remembered | None:
        """Return the text of ``turn``, or None to leave it out. Call it once per turn, in the order of the ranking."""
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
        # Utterances in a conversation are identified by date or context, not by turn number.
        return Remembered(facts, said, stamped and bool(facts or not self.brief))

    def _words_of(self, turn: str) -> Mapping[str, float]:
        """Return the words to search for in a turn, with their weights."""
        whole, each = self._weights
        return each.get(turn, whole)

    def _resembling(self, said: str, turn: str) -> str:
        """Return the sentence of ``said`` that resembles the question, or "" after the first three turns."""
        found = resembling(said, self._words_of(turn)) if self._left else ""
        if not found or found in self._nearest:
            return ""
        self._nearest.add(found)
        self._left -= 1
        return found

    @cached_property
    def _weights(self) -> tuple[Mapping[str, float], Mapping[str, Mapping[str, float]]]:
        # Computed lazily: most turns of a conversation need no excerpt.
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
    """Return the excerpts that turns with these ``texts`` would have if they were the best ones."""
    said = [text.partition("\n")[2] for text in texts]
    weights, each = weigh_each(wanted, said)
    size = language_of(language).texts.sizes.excerpt
    return [excerpt(text, having or weights, size) for text, having in zip(said, each, strict=True)]


@lru_cache(maxsize=1_024)
def _parts(episode: str) -> tuple[str, str, bool]:
    """Return an episode's facts without the turn number, its spoken part, and whether it has a number. Cached: a read
    of a conversation uses about a hundred turns, most of them the same as in the read before."""
    facts, _, said = episode.partition("\n")
    stamp = STAMP.match(facts)
    return (facts, said, False) if stamp is None else (facts[stamp.end() :], said, True)
