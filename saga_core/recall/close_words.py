"""Closeness: measures whether a long text has several words of a query close together or far apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import TypeVar

from saga_core.language import match_text

D = TypeVar("D", int, str)


class Sought:
    """The words that one read searches its texts for, as lower-case substrings (from ``content_words``).

    Each text is searched once.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        self._standing: dict[str, list[str]] = {}

    def standing(self, text: str) -> list[str]:
        """Return the words that occur in ``text``, in the order of ``words``."""
        found = self._standing.get(text)
        if found is None:
            folded = matched(text)
            found = self._standing[text] = [word for word in self.words if word in folded]
        return found

    def possible(self, text: str) -> Sequence[str]:
        """Return the words that may occur in ``text`` or a part of it: all words until ``text`` was searched."""
        return self._standing.get(text, self.words)


def closeness(texts: Mapping[D, str], sought: Sought, reach: int) -> dict[D, float]:
    """Return for each text the largest share of the words, 0 to 1, that occurs within ``reach`` characters.

    A word counts more when fewer of the texts have it. A word that all texts have counts 0.
    """
    standing = {document: sought.standing(text) for document, text in texts.items()}
    having = Counter(word for words in standing.values() for word in words)
    weights = {word: log(len(texts) / having[word]) for word in sought.words if having[word]}
    whole = sum(weights.values())
    if not whole:
        return dict.fromkeys(texts, 0.0)
    close: dict[D, float] = {}
    for document, words in standing.items():
        telling = [word for word in words if weights[word]]
        if len(telling) > 1:
            own = [weights[word] for word in telling]
            best = _best(_places(matched(texts[document]), telling), own, reach)
        else:
            best = weights[telling[0]] if telling else 0.0
        close[document] = best / whole
    return close


@lru_cache(maxsize=512)
def matched(text: str) -> str:
    """Return a turn's text normalized for word search. Cached: successive questions find mostly the same turns."""
    return match_text(text)


def _places(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return (offset, word number) for every occurrence of a word in ``text``, ordered by offset."""
    found: list[tuple[int, int]] = []
    find = text.find
    for number, word in enumerate(words):
        at, size = find(word), len(word)
        while at >= 0:
            found.append((at, number))
            at = find(word, at + size)
    found.sort()
    return found


def _best(found: Sequence[tuple[int, int]], weights: Sequence[float], reach: int) -> float:
    """Return the largest total weight of different words that occur within ``reach`` characters."""
    best = 0.0
    total = 0.0
    inside = [0] * len(weights)
    first = 0
    for at, number in found:
        if not inside[number]:
            total += weights[number]
        inside[number] += 1
        while at - found[first][0] > reach:
            gone = found[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                total -= weights[gone]
            first += 1
        best = max(best, total)
    return best
