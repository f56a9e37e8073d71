"""The text of an episode as recall reads it: the day it was on, and the passage that an embedder is given."""

from __future__ import annotations

import re
from functools import lru_cache

from saga_core.language import every

_DAYS = tuple(re.compile(each.past.dated, re.ASCII) for each in every())
STAMP = re.compile(rf"(?:{'|'.join(word for each in every() for word in each.past.turn)}) \d+(?: \| |$)")
"""The number of a turn, with which an episode's line of facts begins."""

PLAYER = "> "
"""What stands before the player's words in an episode."""


_LONGEST_DAY = 40
"""Characters of a day as ``spoken_day`` gives it; "30 September 2026"."""


def year_of(day: str) -> tuple[str, str]:
    """The year of a day that ``spoken_day`` gave, and the day without it; twice "" for any other text."""
    return _year_of(day) if len(day) <= _LONGEST_DAY else ("", "")


@lru_cache(maxsize=2_048)
def _year_of(day: str) -> tuple[str, str]:
    found = next(filter(None, (dated.fullmatch(day) for dated in _DAYS)), None)
    return (found["year"], found["rest"]) if found is not None else ("", "")


PASSAGES = 2
"""The form of what ``passage_of`` gives: goes up whenever that is another text of the same episode. Vectors of two
forms say nothing of each other, so that those of an older one are made anew, as after a change of the embedder."""


def passage_of(episode: str) -> str:
    """What an embedder is given of an episode: all but the turn's number and the day. They are alike in texts that have
    nothing else in common, and weigh most where turns are short. Who changes this counts ``PASSAGES`` up."""
    facts, _, said = episode.partition("\n")
    stamp = STAMP.match(facts)
    facts = facts[stamp.end() :] if stamp is not None else "" if year_of(facts)[0] else facts
    return "\n".join(filter(None, (facts, said))) or episode
