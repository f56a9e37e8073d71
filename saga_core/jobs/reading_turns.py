"""Unreported turns: finds them, and reads one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from saga_core.extraction import mention_event, read_delta
from saga_core.language import detect
from saga_core.model import (
    Delta,
    Event,
    Introduced,
    Mentioned,
    Node,
    Renamed,
    Source,
    Status,
    Turn,
    TurnKind,
    WorldState,
    deltas,
    fold,
)
from saga_core.sessions import LiveSession
from saga_core.state_block import StateReading, merged

if TYPE_CHECKING:
    from saga_core.extraction import Extractor
    from saga_core.model_calls import Paid


_NAMED_BY_BLOCK = (Mentioned, Renamed, Introduced, deltas.Played)


def unreported(node: Node) -> bool:
    """Whether the turn is part of the story, and its changes were not reported, or not completely."""
    return node.status in (Status.FALLBACK, Status.CUT) and node.kind not in (TurnKind.SIDE, TurnKind.ROOT)


def is_news(live: LiveSession, turn: str) -> bool:
    """Whether a turn was neither reported nor read, and was not imported. Imported turns are read on request.

    A turn also counts as read if the result waits for a person.
    """
    node = live.tree.get(turn)
    return unreported(node) and node.kind is not TurnKind.IMPORTED and not live.extracted(turn)


@frozen
class Scene:
    """A turn that is to be read, and what was known when it began."""

    turn: Turn
    before: WorldState
    later: WorldState | None
    """The state at the active head, if the turn is above it."""
    above: Delta
    """What the turn before it changed."""
    language: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names that the story uses later, so that a character who appears later keeps one identity."""
        if self.later is None:
            return ()
        return tuple(each.name for each in self.later.entities.values() if each.id not in self.before.entities)


async def scene_of(live: LiveSession, turn_id: str) -> Scene:
    """A turn with the state before it, as far as it is known now."""
    turn = await live.turn(turn_id)
    assert turn.parent is not None, "a root is never read"
    before = await live.state(turn.parent)
    behind = live.tree.is_ancestor(turn_id, live.head) and turn_id != live.head
    later = await live.state(live.head) if behind else None
    above = live.effective(await live.turn(turn.parent))
    return Scene(turn, before, later, above, detect(f"{turn.user}\n{turn.reply}", live.world.language))


async def read_turn(
    live: LiveSession, turn_id: str, extractor: Extractor, before_call: Callable[[], Awaitable[None]], paid: Paid
) -> Delta:
    """Ask what changed in a turn, and resolve the answer on the state before it. Raises the errors of ``extract``."""
    scene = await scene_of(live, turn_id)
    turn = scene.turn
    reading = await extractor.extract(
        turn.user, turn.reply, scene.before, scene.language, names=scene.names, before_call=before_call, paid=paid
    )
    return resolved(live, scene, reading)


def resolved(live: LiveSession, scene: Scene, reading: StateReading) -> Delta:
    """The delta of a turn from a model's report.

    It is for the whole turn, so it includes what the recorder itself found out. Names are also looked up at the active
    head, because turns may be read newest first.
    """
    turn, before = scene.turn, scene.before
    said = f"{turn.user}\n{turn.reply}"
    kept: list[Event] = [event for event in turn.delta.events if isinstance(event, Mentioned | Renamed)]
    if turn.delta.cut:
        # The player and the characters that the block introduced are known, and names in its rest refer to them.
        kept = [event for event in turn.delta.events if isinstance(event, _NAMED_BY_BLOCK)]
        before = fold(before, Delta(tuple(kept)), turn=before.turn, depth=before.depth)
        reading = evolve(reading, fields=merged(turn.delta.cut, reading.fields))
    told = read_delta(reading, before, source=Source.EXTRACTION, later=scene.later, told=said, above=scene.above)
    if not any(isinstance(event, Mentioned) for event in kept):
        kept += mention_event(live.lore.mentioned_in(said))
    if live.tree.children.get(turn.id):
        # Turns below may refer to entities that the replaced delta introduced.
        kept += [event for event in live.effective(turn).events if isinstance(event, Introduced)]
    return evolve(told, events=(*kept, *told.events))
