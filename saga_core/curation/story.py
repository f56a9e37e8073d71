"""Condenses a story: turns become scenes, and scenes become chapters."""

from __future__ import annotations

from saga_core.curation.facts import condensed, facts_in, facts_of
from saga_core.curation.replay import replay
from saga_core.model import CHAPTER, SCENE, StoryPart
from saga_core.stores import CurationView
from saga_core.values import Proposal

SCENE_TURNS = 10
SCENE_CHARS = 320
CHAPTER_SCENES = 5
CHAPTER_CHARS = 560


def condense(view: CurationView, compress_after: int) -> tuple[Proposal, ...]:
    """Return a scene for every ten turns of the view that have facts, and chapters of old scenes.

    Scenes become chapters after ``compress_after`` turns. Nothing is invented: each clause is a recorded fact.
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
    """Return the proposal to summarize some turns with ``text``."""
    summary = f"{level} {first}-{last}: {text}"[:200]
    return Proposal(
        "compress", summary, turns, (), {"level": level, "first": str(first), "last": str(last), "text": text}
    )
