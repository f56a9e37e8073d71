"""Structure sharing: states keep their common parts in memory once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from attrs import evolve

from saga_core.model.world_state import WorldState

_K = TypeVar("_K")
_V = TypeVar("_V")


def sharing(state: WorldState, other: WorldState) -> WorldState:
    """``state``, with what is equal in ``other`` taken from there.

    A state that was read from the journal has all of its own: what play never touched, most of a large world, would be
    in memory once for every session, and drawing its graph would compare all of it.
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
