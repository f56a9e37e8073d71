"""The story for the page and for a prompt: what was told of the past, and the latest remarks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from saga_core.language import Language, fold_name, languages_in
from saga_core.model import WorldState
from saga_core.projection.settled import without_settled

DEATH, BOND, EVENT, MEETING, THING, REMARK = 6, 5, 4, 3, 2, 1
_LATEST = 3
"""Remarks that a prompt shows whatever they weigh."""
_REMARK = 16
"""Characters from which on two remarks are alike because they tell the same."""
_CLAUSE = re.compile(r"[^;.!?。！？\n]+[.!?。！？]*")


@cache
def _weighty(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Clauses that tell of a death, and of what binds people. Made when they are first needed."""
    stories = [each.story for each in languages]
    return (
        re.compile("|".join(words.died for words in stories), re.I),
        re.compile("|".join(words.bonds for words in stories), re.I),
    )


@lru_cache(maxsize=8_192)
def weight(clause: str) -> int:
    """How much would be lost with a clause, told by its words."""
    died, bonds = _weighty(languages_in(clause))
    if died.search(clause):
        return DEATH
    if bonds.search(clause):
        return BOND
    if clause.strip().startswith("["):
        return EVENT
    return REMARK


def clauses(text: str) -> list[str]:
    """The clauses of a told part."""
    return [clause for found in _CLAUSE.findall(text) if (clause := found.strip(" ;\t"))]


def story_lines(state: WorldState, recent: int) -> list[str]:
    """The story for the page: what was told of the past, a line each part, then the latest ``recent`` remarks and
    events, a line each. Nothing is told twice, and no debt as open that was settled later."""
    past, lately = _past_and_lately(state, recent)
    return [*past, *lately]


def _past_and_lately(state: WorldState, recent: int) -> tuple[list[str], list[str]]:
    """The told parts that begin before the latest remarks, and the remarks and events that none of them tells."""
    happened = [(event.depth, f"[{event.name}]") for event in state.happenings]
    latest = sorted([*state.notes, *happened])[-recent:]
    noted = [depth for depth, _ in state.notes[-recent:]]
    begins = noted[0] if noted else state.story[-1].last + 1 if state.story else 0
    past = [part for part in state.story if part.first < begins]
    spans = [(part.first, part.last) for part in past]
    lately = [text for depth, text in latest if not any(first <= depth <= last for first, last in spans)]
    texts = _told_once(without_settled([*(part.text for part in past), *lately], state))
    return [text for text in texts[: len(past)] if text], [text for text in texts[len(past) :] if text]


def _told_once(texts: Sequence[str]) -> list[str]:
    """A remark that stands in an earlier text is empty."""
    told: list[str] = []
    before: list[str] = []
    for text in texts:
        folded = fold_name(text)
        again = len(folded) >= _REMARK and any(folded in each for each in before)
        told.append("" if again else text)
        before.append("" if again else folded)
    return told


def story_within(state: WorldState, recent: int, limit: int, count: Callable[[str], int]) -> list[str]:
    """The story in at most ``limit`` tokens: the latest few remarks, and of the past the clauses that weigh most."""
    past, lately = _past_and_lately(state, recent)
    if sum(count(line) + 1 for line in (*past, *lately)) <= limit:
        return [*past, *lately]
    pieces = [*(clause for text in past for clause in clauses(text)), *lately]
    latest = len(pieces) - _LATEST
    ranked = sorted(enumerate(pieces), key=lambda each: (each[0] < latest, -weight(each[1]), -each[0]))
    chosen: dict[int, str] = {}
    spent = 0
    seen: set[str] = set()
    for at, text in ranked:
        cost = count(text) + 1
        if text not in seen and spent + cost <= limit:
            seen.add(text)
            chosen[at] = text
            spent += cost
    return [chosen[at] for at in sorted(chosen)]
