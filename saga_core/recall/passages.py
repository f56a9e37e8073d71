"""The text of an episode as recall reads it: the day it was on, and the passage that an embedder is given."""

from __future__ import annotations

import re

_DAY = re.compile(
    r"(?P<rest>\d{1,2} [A-Z][a-z]+) (?P<year>\d+)|(?P<ko_year>\d+)년 (?P<ko_rest>\d{1,2}월 \d{1,2}일)", re.ASCII
)
_STAMP = re.compile(r"(?:Turn|턴) \d+(?: \| |$)")


def year_of(day: str) -> tuple[str, str]:
    """The year of a day that ``spoken_day`` gave, and the day without it; twice "" for any other text."""
    found = _DAY.fullmatch(day)
    if found is None:
        return "", ""
    return found["year"] or found["ko_year"], found["rest"] or found["ko_rest"]


PASSAGES = 2
"""The form of what ``passage_of`` gives: goes up whenever that is another text of the same episode. Vectors of two
forms say nothing of each other, so that those of an older one are made anew, as after a change of the embedder."""


def passage_of(episode: str) -> str:
    """What an embedder is given of an episode: all but the turn's number and the day. They are alike in texts that have
    nothing else in common, and weigh most where turns are short. Who changes this counts ``PASSAGES`` up."""
    facts, _, said = episode.partition("\n")
    stamp = _STAMP.match(facts)
    facts = facts[stamp.end() :] if stamp is not None else "" if _DAY.fullmatch(facts) else facts
    return "\n".join(filter(None, (facts, said))) or episode
