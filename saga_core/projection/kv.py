"""The world_state key-value view of a state: the few facts that other tools ask for by name."""

from __future__ import annotations

from saga_core.model import WorldState


def render_kv(state: WorldState) -> dict[str, str]:
    """``player_location``, ``player_mood``, ``player_hp``, ``turn``, and what was set by hand, as text."""
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
