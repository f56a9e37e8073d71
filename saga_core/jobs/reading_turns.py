"""Unreported turns: finds them, and reads one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from attrs import evolve

from saga_core.extraction import mention_event, read_delta
from saga_core.language import detect
from saga_core.model import Delta, Event, Introduced, Mentioned, Node, Renamed, Source, Status, TurnKind, deltas, fold
from saga_core.sessions import LiveSession
from saga_core.state_block import merged

if TYPE_CHECKING:
    from saga_core.extraction import Extractor
    from saga_core.model_calls import Paid


_NAMED_BY_BLOCK = (Mentioned, Renamed, Introduced, deltas.Played)


def unreported(node: Node) -> bool:
    """Whether nobody reported what changed in a turn that is part of the story, or nobody reported all of it."""
    return node.status in (Status.FALLBACK, Status.CUT) and node.kind not in (TurnKind.SIDE, TurnKind.ROOT)


async def read_turn(
    live: LiveSession, turn_id: str, extractor: Extractor, before_call: Callable[[], Awaitable[None]], paid: Paid
) -> Delta:
    """Ask what changed in a turn, and resolve the answer on the state before it. Raises as ``extract`` does.

    The delta stands for the whole turn: what the recorder itself found out is in it. Names are also those of the
    active head, for turns are read newest first: who comes later in the story keeps one identity.
    """
    turn = await live.turn(turn_id)
    assert turn.parent is not None, "a root is never read"
    said = f"{turn.user}\n{turn.reply}"
    before = await live.state(turn.parent)
    behind = live.tree.is_ancestor(turn_id, live.head) and turn_id != live.head
    later = await live.state(live.head) if behind else None
    names = [each.name for each in later.entities.values() if each.id not in before.entities] if later else []
    language = detect(said, live.world.language)
    reading = await extractor.extract(
        turn.user, turn.reply, before, language, names=tuple(names), before_call=before_call, paid=paid
    )
    kept: list[Event] = [event for event in turn.delta.events if isinstance(event, Mentioned | Renamed)]
    if turn.delta.cut:
        # Who plays, and whom the block introduced, was read with the block: its names mean them once more.
        kept = [event for event in turn.delta.events if isinstance(event, _NAMED_BY_BLOCK)]
        before = fold(before, Delta(tuple(kept)), turn=before.turn, depth=before.depth)
        reading = evolve(reading, fields=merged(turn.delta.cut, reading.fields))
    told = read_delta(reading, before, source=Source.EXTRACTION, later=later, told=said)
    if not any(isinstance(event, Mentioned) for event in kept):
        kept += mention_event(live.lore.mentioned_in(said))
    if live.tree.children.get(turn_id):
        # Turns below may speak of what a delta introduced that this one replaces.
        kept += [event for event in live.effective(turn).events if isinstance(event, Introduced)]
    return evolve(told, events=(*kept, *told.events))
