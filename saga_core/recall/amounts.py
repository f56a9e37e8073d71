"""Amounts: detects questions about a number or a time, and turns that state any number or time."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from saga_core.language import Language, languages_in

_LOOKED_AT = 4_000
"""Characters of the player's words that are searched."""


@cache
def _patterns(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of "when" questions, "how many" questions, and of their answers. Compiled on first use."""
    words = [each.past for each in languages]
    return tuple(
        re.compile("|".join(parts))
        for parts in (
            [each.asks_when for each in words],
            [each.asks_amount for each in words],
            [part for each in words for part in (each.amount, each.moment)],
            [each.amount for each in words],
        )
    )


def amount_asked(words: str) -> re.Pattern[str] | None:
    """Return the pattern that a turn must match to answer ``words``, for use with ``tells``.

    Returns None unless ``words`` ask for a number or a time. ``words`` must be in NFC; case does not matter.
    """
    folded = words[:_LOOKED_AT].casefold()
    when, many, moment, amount = _patterns(languages_in(folded))
    if when.search(folded) is not None:
        return moment
    return amount if many.search(folded) is not None else None


@lru_cache(maxsize=2_048)
def tells(episode: str, asked: re.Pattern[str]) -> bool:
    """Whether the spoken part of an episode matches ``asked``, the result of ``amount_asked``.

    Results are cached because successive reads check the same turns.
    """
    return asked.search(episode.casefold(), episode.find("\n") + 1) is not None
