"""The story for the page and for a prompt: summaries of the past, and the latest notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from saga_core.language import Language, fold_name, languages_in
from saga_core.model import WorldState
from saga_core.projection.settled import without_settled

DEATH, BOND, EVENT, MEETING, THING, REMARK = 6, 5, 4, 3, 2, 1
_LATEST = 3
"""The latest notes, which a prompt shows regardless of their weight."""
_REMARK = 16
"""The number of characters from which on a note that occurs in an earlier text counts as repeated."""
_CLAUSE = re.compile(r"[^;.!?。！？\n]+[.!?。！？]*")


@cache
def _weighty(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of clauses about deaths and about bonds between people. Compiled at the first use."""
    stories = [each.story for each in languages]
    return (
        re.compile("|".join(words.died for words in stories), re.I),
        re.compile("|".join(words.bonds for words in stories), re.I),
    )


@lru_cache(maxsize=8_192)
def weight(clause: str) -> int:
    """Return the importance of a clause, judging by its words."""
    died, bonds = _weighty(languages_in(clause))
    if died.search(clause):
        return DEATH
    if bonds.search(clause):
        return BOND
    if clause.strip().startswith("["):
        return EVENT
    return REMARK


def clauses(text: str) -> list[str]:
    """Return the clauses of a text."""
    return [clause for found in _CLAUSE.findall(text) if (clause := found.strip(" ;\t"))]


def story_lines(state: WorldState, recent: int) -> list[str]:
    """Return the story for the page, one line each: the summaries, then the ``recent`` latest notes and events.

    Repeated notes and debts that were settled later are left out.
    """
    past, lately = _past_and_lately(state, recent)
    return [*past, *lately]


def _past_and_lately(state: WorldState, recent: int) -> tuple[list[str], list[str]]:
    """Return the summaries that begin before the latest notes, and the notes and events they do not cover."""
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
    """Return ``texts`` with each text that occurs in an earlier one replaced by an empty text."""
    told: list[str] = []
    before = ""
    for text in texts:
        folded = fold_name(text)
        if len(folded) >= _REMARK and folded in before:
            told.append("")
            continue
        told.append(text)
        before += "\n" + folded  # a folded text has no white space, so none is found across two texts
    return told


def story_within(state: WorldState, recent: int, limit: int, count: Callable[[str], int]) -> list[str]:
    """Return the story in at most ``limit`` tokens: the latest notes, and the most important clauses of the rest."""
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
