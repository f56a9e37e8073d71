"""What comes from elsewhere: memories of strategies, and turns of the player's other stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import field, frozen

from saga_core.context.model import OtherStory, Piece, Section
from saga_core.context.packing import Labels, labels, one_field, one_line
from saga_core.context.recollection import Remembering
from saga_core.context.scene import Scene
from saga_core.context.source import NOTHING_GIVEN, Given
from saga_core.language import content_words
from saga_core.model import MemoryRecord
from saga_core.recall import Sought, without_other_story

# -- memories --------------------------------------------------------------------------------------------------

_TOUCH = 2.0
"""Maximum score for words that a record shares with the scene. A record gets all of it if the scene has all its words.
"""
_LEAST = 0.2
"""Minimum part of a record's words that the scene must have for the record to be included."""
_BY_HAND = (6.0, True)


@frozen
class Memories:
    """The request's memory records. Records of some kinds are included only if the last two messages share their words.

    ``worth`` maps (strategy, kind) to the base score, and to whether such records are always included. Records that a
    user added are always included.
    """

    worth: Mapping[tuple[str, str], tuple[float, bool]] = field(factory=dict)
    name: str = "memories"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return a line for each record."""
        request = scene.request
        if not request.memories:
            return []
        words = labels(request.language)
        said = frozenset(content_words("\n".join((request.player_words, *request.recent))))
        pieces = []
        for record in request.memories:
            worth, always = self.worth.get((record.strategy, record.kind), _BY_HAND)
            own = content_words(" ".join((record.text, *record.details.values())))
            touch = sum(word in said for word in own) / max(1, len(own))
            if not always and touch < _LEAST:
                continue
            pieces.append(
                Piece(
                    self.name,
                    f"memory:{record.id}",
                    Section.REMEMBERED,
                    one_line(_told(record, words)),
                    worth + _TOUCH * touch,
                    why={"kind": worth, "touch": _TOUCH * touch},
                    order=record.depth,
                )
            )
        return pieces


def _told(record: MemoryRecord, words: Labels) -> str:
    if record.kind == "preference":
        return f"{words.limit if record.details.get('category') == 'limit' else words.wish}: {record.text}"
    topic = record.details.get("topic", "")
    return f"{topic}: {record.text}" if topic else record.text


# -- other stories ---------------------------------------------------------------------------------------------

_FOUND = 6
"""Maximum turns of a story that are found by the words of the question."""
_ENDING = 2
"""Last turns of the most recently played story that are always offered, because "remember our last story?" has no words
to search for."""
_BEST, _STORY_STEP, _WORST = 4.0, 0.2, 2.0


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
                max(_WORST, _BEST - _STORY_STEP * rank - number / 10),
                why={"words": found[turn]} if found[turn] else {"ending": 1.0},
                order=number + episodes.depth(turn) / (episodes.last + 1),
                under=under,
                bare=line,
            )
        )
    return pieces
