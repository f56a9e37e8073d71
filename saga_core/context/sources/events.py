"""Events: relevant past events and due ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from attrs import frozen

from saga_core.context.model import CHANGED, Piece, Section
from saga_core.context.render import labels, one_line
from saga_core.context.scene import Scene
from saga_core.context.sources.source import NOTHING_GIVEN, Given
from saga_core.model import Happening

_RECENT = 8
_BASE = 1.0
_RECENCY = 1.5
_NEW = 1.0
_MENTION = 2.5


@frozen
class Events:
    """The latest eight events, older events that were mentioned, and events that the curator marked as due."""

    name: str = "events"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return a line for each event: ``[type] name (turn 12)``. Only the last time of a repeated event is used."""
        request, state = scene.request, scene.state
        words = labels(request.language)
        pieces = [
            Piece(self.name, f"due:{text}", Section.EVENTS, one_line(text), CHANGED, order=float("inf"))
            for text in dict.fromkeys(request.due)
            if text.strip()
        ]
        since = request.pinned.depth if request.pinned is not None else state.depth
        for rank, happening in _newest(state.happenings, scene.named):
            mentioned = happening.event in scene.named
            parts = {
                "base": _BASE,
                "recency": max(0.0, _RECENCY * (1 - rank / _RECENT)),
                "new": _NEW if happening.depth > since else 0.0,
                "mention": _MENTION if mentioned else 0.0,
            }
            entity = scene.entity(happening.event)
            kind = entity.get("event_type") if entity else None
            text = f"{f'[{one_line(str(kind))}] ' if kind else ''}{one_line(happening.name)}"
            pieces.append(
                Piece(
                    self.name,
                    f"event:{happening.event}",
                    Section.EVENTS,
                    f"{text} {words.turn.format(depth=happening.depth)}",
                    sum(parts.values()),
                    why={part: worth for part, worth in parts.items() if worth},
                    order=happening.depth,
                )
            )
        return pieces


def _newest(happenings: Sequence[Happening], named: Collection[str]) -> list[tuple[int, Happening]]:
    """Return the last occurrence of each recent or named event with its rank, newest first."""
    found: dict[str, tuple[int, Happening]] = {}
    for happening in reversed(happenings):
        event = happening.event
        if event in found:
            continue
        if len(found) < _RECENT or event in named:
            found[event] = (len(found), happening)
    return list(found.values())
