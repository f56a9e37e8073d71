"""Bearing: finds the turns related to the player's words when the player does not ask for anything."""

from __future__ import annotations

from collections import Counter

from saga_core.language import particular_terms
from saga_core.recall.episodes import Episodes
from saga_core.recall.particular import few

_ENOUGH = 2
"""Number of uncommon terms that count as much as one rare term."""


def bearing(words: str, episodes: Episodes) -> frozenset[str]:
    """Return the turns that share one rare term or two uncommon terms with ``words``.

    For example, "the silver seal" finds turns and "I walk on" does not. ``words`` must be in NFC and lower case.
    """
    rare, seldom = few(episodes.last)
    times: Counter[str] = Counter()
    for term in dict.fromkeys(particular_terms(words)):
        if len(term) == 1 and not term.isdigit():  # a single syllable or letter is too ambiguous
            continue
        turns = episodes.having(term, seldom)
        part = _ENOUGH if len(turns) <= rare else 1
        for turn in turns:
            times[turn] += part
    return frozenset(turn for turn, count in times.items() if count >= _ENOUGH)
