"""Dead characters that are relevant now, so that the reply does not bring them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from saga_core.context.model import MUST_DEAD, Piece, Section, Slot
from saga_core.context.render import labels, one_field
from saga_core.context.scene import Scene
from saga_core.context.sources.source import NOTHING_GIVEN, Given
from saga_core.model import Entity

_MOST = 12


@frozen
class Deaths:
    """Lists each dead character that is near, was mentioned in the last two messages, or died after the pinned pages.
    Includes the player.

    The turn of the death is included if the entity has an integer ``status_since``.
    """

    name: str = "deaths"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return a piece for each, at most 12: the player, nearby, named and newly dead characters, in this order."""
        request, words = scene.request, labels(scene.request.language)
        dead = scene.dead
        if not dead:
            return []
        pinned = request.pinned.entities if request.pinned is not None else scene.state.entities
        new = [id_ for id_ in dead if not (id_ in pinned and pinned[id_].dead)]
        near = (scene.state.player, *scene.near)
        matter = dict.fromkeys(id_ for id_ in (*near, *sorted(scene.named), *sorted(new)) if id_ in dead)
        return [
            Piece(self.name, f"dead:{id_}", Section.NOW, _line(dead[id_], words.since_turn), MUST_DEAD, order=Slot.DEAD)
            for id_ in list(matter)[:_MOST]
        ]


def _line(entity: Entity, since_turn: str) -> str:
    name, since = one_field(entity.name), entity.get("status_since")
    if isinstance(since, int) and not isinstance(since, bool):
        return since_turn.format(name=name, depth=since)
    return name
