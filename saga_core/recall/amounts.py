"""Amounts: the player asks how many or when, and a turn tells some number or time. Which one, nobody says."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from saga_core.language import Language, languages_in

_LOOKED_AT = 4_000
"""Characters of the player's words that are looked through."""


@cache
def _patterns(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], ...]:
    """What asks when, what asks how many, and what answers either. Made when they are first needed."""
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
    """What a turn must tell that answers ``words``, if they ask for a number or a time: a pattern for ``tells``.

    Expected in NFC, in any case.
    """
    folded = words[:_LOOKED_AT].casefold()
    when, many, moment, amount = _patterns(languages_in(folded))
    if when.search(folded) is not None:
        return moment
    return amount if many.search(folded) is not None else None


@lru_cache(maxsize=2_048)
def tells(episode: str, asked: re.Pattern[str]) -> bool:
    """Whether what was said in an episode has what ``amount_asked`` gave. Of a talk, the same turns are looked at
    again and again."""
    return asked.search(episode.casefold(), episode.find("\n") + 1) is not None
