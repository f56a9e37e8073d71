"""The story in fewer words: turns become scenes, scenes chapters; and what of it fits into a prompt."""

from __future__ import annotations

from collections.abc import Callable

from saga_core.curation.facts import clauses, condensed, facts_in, facts_of, weight
from saga_core.curation.replay import replay
from saga_core.model.curated import CHAPTER, SCENE
from saga_core.model.entities import StoryPart
from saga_core.model.world_state import WorldState
from saga_core.stores.curator import CurationView, Proposal

SCENE_TURNS = 10
SCENE_CHARS = 320
CHAPTER_SCENES = 5
CHAPTER_CHARS = 560
_LATEST = 3
"""Remarks that a prompt shows whatever they weigh."""


def condense(view: CurationView, compress_after: int) -> tuple[Proposal, ...]:
    """A scene for every ten of the view's turns that brought anything, and chapters of scenes that are long past.

    ``compress_after``: turns behind which scenes become chapters. Nothing is invented: each clause is a recorded fact.
    """
    steps = replay(view)
    proposals = []
    parts = list(view.state.story)
    for start in range(0, len(steps), SCENE_TURNS):
        run = steps[start : start + SCENE_TURNS]
        text = condensed(facts_of(run, view.language), SCENE_CHARS)
        first, last = run[0].turn.depth, run[-1].turn.depth
        if text and not any(part.first <= first and last <= part.last for part in parts):
            parts.append(StoryPart(SCENE, first, last, text))
            proposals.append(told(SCENE, first, last, text, tuple(step.turn.id for step in run)))
    old = [part for part in parts if part.level == SCENE and part.last <= view.state.depth - compress_after]
    old.sort(key=lambda part: part.first)
    for start in range(0, len(old) - CHAPTER_SCENES + 1, CHAPTER_SCENES):
        scenes = old[start : start + CHAPTER_SCENES]
        text = condensed(facts_in(scenes), CHAPTER_CHARS)
        proposals.append(told(CHAPTER, scenes[0].first, scenes[-1].last, text, ()))
    return tuple(proposals)


def told(level: str, first: int, last: int, text: str, turns: tuple[str, ...]) -> Proposal:
    """The proposal to tell some turns so."""
    summary = f"{level} {first}-{last}: {text}"[:200]
    return Proposal(
        "compress", summary, turns, (), {"level": level, "first": str(first), "last": str(last), "text": text}
    )


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
