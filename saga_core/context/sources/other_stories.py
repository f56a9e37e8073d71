"""Other stories: turns of other sessions, in a section of their own, when the player asks for another story."""

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
"""Maximum turns of a story that are found by the words of the question."""
_ENDING = 2
"""Last turns of the most recently played story that are always offered, because "remember our last story?" has no words
to search for."""
_MOST, _STEP, _LEAST = 4.0, 0.2, 2.0


@frozen
class OtherStories:
    """Turns of other stories by their words, and the end of the most recently played one.

    Each line starts with the story's name and the day on which it was last played. All pieces are in the section
    ``ELSEWHERE``, because they are not about this story.
    """

    name: str = "other_stories"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the pieces, ordered by story and turn."""
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
    """Return a line for each found turn. ``found`` has the scores by words; ``number`` orders the stories."""
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
