"""Memories: records of memory strategies that are relevant to the scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import field, frozen

from saga_core.context.model import Piece, Section
from saga_core.context.render import Labels, labels, one_line
from saga_core.context.scene import Scene
from saga_core.context.sources.source import NOTHING_GIVEN, Given
from saga_core.language import content_words
from saga_core.model import MemoryRecord

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
