"""The history of a request, indexed by its replies and the player's words before them.

The index is built once, however many turns are compared with it: a history may have thousands of equal messages, and
each of them may match as many known turns.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from attrs import define, field

from saga_core.transcript.alignment import matchable
from saga_core.transcript.dialogue import Utterance, identity_keys
from saga_core.transcript.identities import fingerprint


def words_key(utterances: Sequence[Utterance]) -> str:
    """Return the fingerprint of the player's words in one turn, in one or several messages."""
    return fingerprint("\0".join(utterance.key for utterance in utterances))


NO_WORDS = words_key(())


@define(eq=False)
class History:
    """The utterances before the player's words that a request answers."""

    past: tuple[Utterance, ...]
    _words: dict[int, str] = field(factory=dict, init=False)
    _matchable: dict[int, int] = field(factory=dict, init=False)

    @cached_property
    def replies(self) -> list[int]:
        """The positions of the replies, ascending."""
        return [at for at, said in enumerate(self.past) if said.role == "assistant"]

    @cached_property
    def greeting(self) -> int:
        """The number of replies before the player's first words, 0 if the player speaks first."""
        first = next((at for at, said in enumerate(self.past) if said.role == "user"), len(self.past))
        return bisect_left(self.replies, first)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The positions of each reply, ascending, by the reply's key."""
        found: dict[str, list[int]] = {}
        for at, key in zip(self.replies, identity_keys([self.past[at] for at in self.replies]), strict=True):
            found.setdefault(key, []).append(at)
        return found

    def matchable(self, place: int) -> int:
        """Return the number of replies before ``place`` that are compared with the turns of a path."""
        if len(self.places) == len(self.replies):
            return bisect_left(self.replies, place)
        if place not in self._matchable:
            self._matchable[place] = matchable(self.places, place)
        return self._matchable[place]

    def replies_above(self, place: int, count: int) -> list[int]:
        """Return the positions of the last ``count`` replies before ``place``, the nearest first."""
        end = bisect_left(self.replies, place)
        return self.replies[max(0, end - count) : end][::-1]

    def words_start(self, place: int) -> int:
        """Return the position at which the player's words directly before ``place`` begin."""
        start = place
        while start and self.past[start - 1].role == "user":
            start -= 1
        return start

    def words_before(self, place: int) -> str:
        """Return the key of the player's words directly before ``place``."""
        found = self._words.get(place)
        if found is None:
            found = self._words[place] = words_key(self.past[self.words_start(place) : place])
        return found
