"""A state that was read from the journal shares with its world's opening what play did not touch."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saga_core import codec
from saga_core.model.folding import fold
from saga_core.model.world_state import WorldState, sharing
from saga_core.world.opening import opening_state
from tests.core.context.reading_stage import KO_WORLD
from tests.core.model.generated import delta_values

OPENING = opening_state(KO_WORLD, "")


def _read_again(state: WorldState) -> WorldState:
    return codec.decode(codec.encode(state), WorldState)


@given(st.lists(delta_values, max_size=4))
def test_it_is_the_same_state_in_the_same_order(deltas: list[Any]) -> None:
    state = opening_state(KO_WORLD, "t0")
    for number, delta in enumerate(deltas, 1):
        state = fold(state, delta, turn=f"t{number}", depth=number)
    shared = sharing(_read_again(state), OPENING)
    assert shared == state
    for name in ("entities", "whereabouts", "belongings", "relations"):
        assert list(getattr(shared, name)) == list(getattr(state, name))
    for id_, entity in OPENING.entities.items():
        assert state.entities.get(id_) != entity or shared.entities[id_] is entity


def test_what_play_did_not_touch_is_in_memory_once() -> None:
    shared = sharing(_read_again(opening_state(KO_WORLD, "t0")), OPENING)
    for name in ("entities", "whereabouts", "belongings", "relations", "links"):
        assert getattr(shared, name) is getattr(OPENING, name)
