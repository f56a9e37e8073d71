"""Parses the text of an episode for recall: its day, and the passage that is embedded."""

from __future__ import annotations

import re
from functools import lru_cache

from saga_core.language import every

_DAYS = tuple(re.compile(each.past.dated, re.ASCII) for each in every())
STAMP = re.compile(rf"(?:{'|'.join(word for each in every() for word in each.past.turn)}) \d+(?: \| |$)")
"""The turn number at the start of an episode's line of facts."""

PLAYER = "> "
"""The prefix of the player's words in an episode."""


_LONGEST_DAY = 40
"""Maximum characters of a day as ``spoken_day`` formats it, such as "30 September 2026"."""


def year_of(day: str) -> tuple[str, str]:
    """Return the year of a day formatted by ``spoken_day``, and the day without the year; two empty strings for any
    other text."""
    return _year_of(day) if len(day) <= _LONGEST_DAY else ("", "")


@lru_cache(maxsize=2_048)
def _year_of(day: str) -> tuple[str, str]:
    found = next(filter(None, (dated.fullmatch(day) for dated in _DAYS)), None)
    return (found["year"], found["rest"]) if found is not None else ("", "")


PASSAGES = 2
"""Version of ``passage_of``. Increment it whenever ``passage_of`` returns a different text for the same episode.
Vectors of different versions cannot be compared, so older ones are recomputed, as after a change of the embedder."""


def passage_of(episode: str) -> str:
    """Return the text of an episode to embed: all but the turn number and the day.

    These resemble each other in unrelated episodes, most of all in short ones. Increment ``PASSAGES`` with any change.
    """
    facts, _, said = episode.partition("\n")
    stamp = STAMP.match(facts)
    facts = facts[stamp.end() :] if stamp is not None else "" if year_of(facts)[0] else facts
    return "\n".join(filter(None, (facts, said))) or episode
