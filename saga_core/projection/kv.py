"""The ``world_state`` key-value view of a state: a few facts that other tools look up by name."""

from __future__ import annotations

from saga_core.model import WorldState


def render_kv(state: WorldState) -> dict[str, str]:
    """Return the view as text: facts about the turn and the player, and the manual entries.

    The keys are ``turn``, ``player``, ``player_location``, ``player_mood``, ``player_hp`` and ``player_max_hp``.
    """
    player = state.entities.get(state.player)
    view: dict[str, str] = {"turn": str(state.depth)}
    if state.location:
        view["player_location"] = state.name(state.location)
    if player is not None:
        view["player"] = player.name
        for name in ("mood", "hp", "max_hp"):
            value = player.get(name)
            if value is not None:
                view[f"player_{name}"] = str(value)
    view.update(state.values)
    return view
