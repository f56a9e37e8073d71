"""Who knows what happened at a turn, and what a character knows, as people read it."""

from __future__ import annotations

from typing import Any

from saga_core.errors import BadInput, NotFound
from saga_core.model import PRESENT, Audience, Hearing, Kind, WorldState
from saga_core.naming import Names
from saga_core.sessions import LiveSession, heard_of, knowers


def people_who_know(live: LiveSession, state: WorldState, depth: int) -> dict[str, Any]:
    """Return the audience of a turn, its remarks and events, and for each character since when it knows of it."""
    if not 0 < depth <= state.depth:
        raise BadInput(f"about: {depth} is no turn of this path; give a number from 1 to {state.depth}")
    audience = state.audiences.get(depth, Audience())
    node = live.tree.ancestor_at(state.turn, depth)
    return {
        "audience": audience.base,
        "recorded": audience.base != PRESENT or node.present is not None,
        "facts": [text for at, text in _facts(state) if at == depth],
        "people": [
            {"id": who, "name": state.name(who), "player": who == state.player, **_shown(state, known)}
            for who, known in knowers(live, state, depth).items()
        ],
    }


def what_is_known(live: LiveSession, state: WorldState, name: str) -> dict[str, Any]:
    """Return the remarks and events of the story, each with whether and since when a character knows it.

    ``name`` is the character's name or id, also one from before two people were joined. Raises ``NotFound`` if there is
    no such character.
    """
    former = state.merged.get(name, name)
    who = former if former in state.entities else Names(state).find(Kind.CHARACTER, name)
    if who is None or state.entities[who].kind is not Kind.CHARACTER:
        raise NotFound(f"session {live.session.id} has no character {name!r} at turn {state.depth}")
    found = []
    for depth, text in _facts(state):
        node = live.tree.ancestor_at(state.turn, depth)
        found.append({"about": depth, "text": text, **_shown(state, heard_of(state, node, who, text))})
    return {"id": who, "name": state.name(who), "facts": found}


def _facts(state: WorldState) -> list[tuple[int, str]]:
    """The latest remarks and events, by turn."""
    events = ((each.depth, each.name) for each in state.happenings)
    return sorted({each for each in (*state.remarks, *events) if 0 < each[0] <= state.depth})


def _shown(state: WorldState, known: Hearing | None) -> dict[str, Any]:
    if known is None:
        return {"knows": False, "since": None, "by": None}
    return {"knows": True, "since": known.since, "by": state.name(known.by) if known.by else None}
