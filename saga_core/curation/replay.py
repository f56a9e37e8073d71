"""Replay: the turns of a curator's view, each with the state before and after it."""

from __future__ import annotations

from attrs import evolve, frozen

from saga_core.model import Entity, Turn, TurnKind, WorldState, fold
from saga_core.stores import CurationView

_LEARNED_IN_PLAY = ("status", "status_since", "hp")


@frozen
class Step:
    """One turn of the view."""

    turn: Turn
    before: WorldState
    after: WorldState


def replay(view: CurationView) -> tuple[Step, ...]:
    """Return the view's turns in order, folded from the state before them, without side requests."""
    state = view.before if view.before is not None else _unknown(view.state)
    steps = []
    for turn in view.turns:
        if turn.kind in (TurnKind.ROOT, TurnKind.SIDE):
            continue
        after = fold(state, turn.delta, turn=turn.id, depth=turn.depth)
        steps.append(Step(turn, state, after))
        state = after
    return tuple(steps)


def _unknown(state: WorldState) -> WorldState:
    """Return a bare initial state with the known entities and adjacent places, without status and hit points."""
    return WorldState(
        world=state.world,
        player=state.player,
        entities={id_: _bare(entity) for id_, entity in state.entities.items()},
        links=frozenset(link for link in state.links if link[1] == "ADJACENT"),
    )


def _bare(entity: Entity) -> Entity:
    kept = {name: value for name, value in entity.attributes.items() if name not in _LEARNED_IN_PLAY}
    return evolve(entity, attributes=kept)
