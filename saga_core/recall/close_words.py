"""Closeness: whether a long text tells of several words of a query at one place, or of each somewhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log
from typing import TypeVar

from saga_core.language import match_text

D = TypeVar("D", int, str)


def closeness(texts: Mapping[D, str], words: Sequence[str], reach: int) -> dict[D, float]:
    """For each text the part of ``words``, 0 to 1, that stands within ``reach`` characters of each other at its best.

    A word that few of the texts have counts for more: what all of them have tells nothing apart, and counts 0.
    ``words`` are looked for as parts, in lower case (``tokens.content_words`` gives them).
    """
    places = {document: _places(matched(text), words) for document, text in texts.items()}
    having = [0] * len(words)
    for found in places.values():
        for number in {number for _, number in found}:
            having[number] += 1
    weights = [log(len(texts) / count) if count else 0.0 for count in having]
    whole = sum(weights)
    if not whole:
        return dict.fromkeys(texts, 0.0)
    return {document: _best(found, weights, reach) / whole for document, found in places.items()}


@lru_cache(maxsize=512)
def matched(text: str) -> str:
    """A turn's text as words are looked for in it. Mostly the same turns are found from one question to the next."""
    return match_text(text)


def _places(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """(where, which word) of every word in a text, from its beginning on."""
    found: list[tuple[int, int]] = []
    for number, word in enumerate(words):
        at = text.find(word)
        while at >= 0:
            found.append((at, number))
            at = text.find(word, at + len(word))
    found.sort()
    return found


def _best(found: Sequence[tuple[int, int]], weights: Sequence[float], reach: int) -> float:
    """The most that different words weigh whose places lie within ``reach``."""
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
