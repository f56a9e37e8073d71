"""Other stories: turns of other sessions, told apart from this one when the player asks for another story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import frozen

from saga_core.context.model import OtherStory, Piece, Section
from saga_core.context.render import one_field, one_line
from saga_core.context.scene import Scene
from saga_core.context.sources.remembered import Remembering
from saga_core.context.sources.source import NOTHING_GIVEN, Given
from saga_core.language import content_words
from saga_core.recall import Sought, without_other_story

_FOUND = 6
"""Turns of a story that are offered for the words of the question."""
_ENDING = 2
"""Turns at the end of the story played last that are offered besides: "remember our last story?" names nothing."""
_MOST, _STEP, _LEAST = 4.0, 0.2, 2.0


@frozen
class OtherStories:
    """Turns of other stories by their words, and how the one that was played last ended.

    Each is marked with the name of its story and the day on which that was played last. Nothing of it is about this
    story: no piece is for another section.
    """

    name: str = "other_stories"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """The pieces, story by story, each in the order of its turns."""
        request = scene.request
        asked = without_other_story(request.player_words) if request.elsewhere else None
        if asked is None:
            return []
        wanted = content_words(asked)
        pieces: list[Piece] = []
        for number, story in enumerate(request.elsewhere):
            found = story.episodes.search(" ".join(wanted), _FOUND, frozenset()) if wanted else {}
            if not number:
                ending = range(max(1, story.episodes.last + 1 - _ENDING), story.episodes.last + 1)
                last = (turn for depth in ending if (turn := story.episodes.at(depth)) is not None)
                found = {**dict.fromkeys(last, 0.0), **found}
            pieces += _pieces(self.name, story, number, found, wanted, request.language)
        return pieces


def _pieces(
    source: str, story: OtherStory, number: int, found: Mapping[str, float], wanted: Sequence[str], language: str
) -> list[Piece]:
    """A line for each turn that was found, with its score by words; ``number`` orders the stories."""
    episodes = story.episodes
    best = sorted(found, key=lambda turn: (-found[turn], episodes.depth(turn)))
    remembering = Remembering(episodes, Sought(wanted), best, language, brief=False)
    under = " · ".join(filter(None, (one_field(story.name), story.day)))
    pieces: list[Piece] = []
    for rank, turn in enumerate(best):
        told = remembering.of(turn)
        if told is None:
            continue
        line = one_line(" — ".join(filter(None, (told.facts, told.said))))
        pieces.append(
            Piece(
                source,
                f"story:{story.session}:{turn}",
                Section.ELSEWHERE,
                f"{under} — {line}" if under else line,
                max(_LEAST, _MOST - _STEP * rank - number / 10),
                why={"words": found[turn]} if found[turn] else {"ending": 1.0},
                order=number + episodes.depth(turn) / (episodes.last + 1),
                under=under,
                bare=line,
            )
        )
    return pieces
