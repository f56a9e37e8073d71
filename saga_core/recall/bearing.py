"""Bearing: which turns have to do with what the player says, where nothing is asked for."""

from __future__ import annotations

from collections import Counter

from saga_core.language import particular_terms
from saga_core.recall.episodes import Episodes
from saga_core.recall.particular import few

_ENOUGH = 2
"""Seldom terms that tell as much as a rare one."""


def bearing(words: str, episodes: Episodes) -> frozenset[str]:
    """The turns that share a rare term with ``words``, or two seldom ones: "the silver seal", but not "I walk on".

    ``words``: in NFC, in lower case.
    """
    rare, seldom = few(episodes.last)
    times: Counter[str] = Counter()
    for term in dict.fromkeys(particular_terms(words)):
        if len(term) == 1 and not term.isdigit():  # a single syllable or letter is a part of too much else
            continue
        turns = episodes.having(term, seldom)
        part = _ENOUGH if len(turns) <= rare else 1
        for turn in turns:
            times[turn] += part
    return frozenset(turn for turn, count in times.items() if count >= _ENOUGH)
