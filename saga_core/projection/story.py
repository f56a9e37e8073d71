"""The story for the page and for a prompt: what was told of the past, and the latest remarks."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from saga_core.language import Language, languages_in
from saga_core.model import StoryPart, WorldState

DEATH, BOND, EVENT, MEETING, THING, REMARK = 6, 5, 4, 3, 2, 1
_LATEST = 3
"""Remarks that a prompt shows whatever they weigh."""
_CLAUSE = re.compile(r"[^;.!?。！？\n]+[.!?。！？]*")


@cache
def _weighty(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Clauses that tell of a death, and of what binds people. Made when they are first needed."""
    stories = [each.story for each in languages]
    return (
        re.compile("|".join(words.died for words in stories), re.I),
        re.compile("|".join(words.bonds for words in stories), re.I),
    )


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
    events, a line each."""
    past, lately = _past_and_lately(state, recent)
    return [*(part.text for part in past), *(text for _, text in lately)]


def _past_and_lately(state: WorldState, recent: int) -> tuple[list[StoryPart], list[tuple[int, str]]]:
    """The told parts that begin before the latest remarks, and the remarks and events that none of them tells."""
    happened = [(event.depth, f"[{event.name}]") for event in state.happenings]
    lately = sorted([*state.notes, *happened])[-recent:]
    if not state.story:
        return [], lately
    noted = [depth for depth, _ in state.notes[-recent:]]
    begins = noted[0] if noted else state.story[-1].last + 1
    past = [part for part in state.story if part.first < begins]
    return past, [
        (depth, text)
        for depth, text in lately
        if depth >= begins or not any(part.first <= depth <= part.last for part in past)
    ]


def story_within(state: WorldState, recent: int, limit: int, count: Callable[[str], int]) -> list[str]:
    """The story in at most ``limit`` tokens: the latest few remarks, and of the past the clauses that weigh most."""
    past, lately = _past_and_lately(state, recent)
    lines = [*(part.text for part in past), *(text for _, text in lately)]
    if sum(count(line) + 1 for line in lines) <= limit:
        return lines
    pieces = [*(clause for part in past for clause in clauses(part.text)), *(text for _, text in lately)]
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
