"""Profiles: what sort of story is told, and so what of it is asked, told and shown at all."""

from __future__ import annotations

from collections.abc import Mapping

from saga_core.errors import BadInput

ADVENTURE, ROMANCE, MYSTERY, PLAIN = "adventure", "romance", "mystery", "plain"
AUTO = "auto"
"""The profile is guessed from what the card of a new chat speaks of."""
HEALTH = "hp_change"
_FIGHTS = frozenset({HEALTH, "relationship_changes"})
_THINGS = frozenset("items_gained items_lost items_transferred money".split())
UNASKED: Mapping[str, frozenset[str]] = {
    ADVENTURE: frozenset(),
    ROMANCE: _FIGHTS,
    MYSTERY: frozenset({HEALTH}),
    PLAIN: _FIGHTS
    | _THINGS
    | {"status_changes", "location_moved", "npc_met", "npc_separated", "mood", "event_trigger"},
}
"""The fields of a state block that stories of each profile do not count."""
PROFILES = tuple(UNASKED)
UNTOLD = _THINGS | {"relationship_changes", "mood"}
"""Those of these fields that count for nothing if a report states them nevertheless."""


def checked_profile(name: str) -> str:
    """Return ``name`` in small letters. Raises ``BadInput`` if there is no such profile."""
    found = name.strip().casefold()
    if found not in UNASKED:
        raise BadInput(f"profile: {name[:40]!r} is not known; use one of {', '.join(PROFILES)}")
    return found
