"""Structure sharing: equal parts of states are kept in memory only once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from attrs import evolve

from saga_core.model.world_state import WorldState

_K = TypeVar("_K")
_V = TypeVar("_V")


def sharing(state: WorldState, other: WorldState) -> WorldState:
    """Return ``state`` with all parts that are equal in ``other`` taken from there.

    A state read from the journal shares nothing. The untouched parts, which are most of a large world, would be in
    memory once for each session, and building its graph would compare all of them.
    """
    return evolve(
        state,
        entities=_from(state.entities, other.entities),
        whereabouts=_from(state.whereabouts, other.whereabouts),
        belongings=_from(state.belongings, other.belongings),
        relations=_from(state.relations, other.relations),
        links=other.links if state.links == other.links else state.links,
    )


def _from(own: Mapping[_K, _V], others: Mapping[_K, _V]) -> Mapping[_K, _V]:
    shared = {key: others[key] if others.get(key) == value else value for key, value in own.items()}
    return others if shared == others and list(shared) == list(others) else shared
