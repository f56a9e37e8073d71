"""The title of a story, from the card and the persona: "Hana · Dez"."""

from __future__ import annotations

from functools import cache

from saga_core.language import every, fold_name
from saga_core.model import WorldState
from saga_core.world import EMPTY_WORLD, World

_LONGEST = 80
BETWEEN = " · "
"""Stands between the character and the player in a title."""


def story_title(state: WorldState, world: World, card: str = "", named: str = "") -> str:
    """Return a title of at most 163 characters; "" as long as neither a character nor the player has a name.

    ``card`` is the client's description of the character, ``named`` the name that the client gives it.
    """
    subject, player = subject_of(state, world, card, named), player_name(state)
    if fold_name(player) == fold_name(subject):
        player = ""
    return BETWEEN.join(name[:_LONGEST] for name in (subject, player) if name)


def subject_of(state: WorldState, world: World, card: str = "", named: str = "") -> str:
    """Return whom or what the story is about; "" if that is not known.

    The character is that of the world's only sheet beside the player's; a world with several gives its own title. A
    story without a world has the name that was ``named``, who may be a narrator that nobody meets, or that of the
    character whom the ``card`` names first, or who was met first.
    """
    sheets = [sheet for sheet in world.characters if not sheet.player]
    if len(sheets) == 1:
        return sheets[0].name
    if world.name != EMPTY_WORLD.name:
        return world.title or world.name
    if named:
        return named
    met = [state.entities[who] for who in (*state.met, *state.present) if who in state.entities]
    places = [min((at for name in each.names if (at := card.find(name)) >= 0), default=len(card)) for each in met]
    return met[places.index(min(places))].name if met else ""


def player_name(state: WorldState) -> str:
    """Return the name of the player's character; "" if it is not known."""
    name = state.name(state.player) if state.player in state.entities else ""
    return "" if fold_name(name) in _unnamed() else name


@cache
def _unnamed() -> frozenset[str]:
    """The names of a player whose name is not known, in every language."""
    names = ((each.texts.player, *each.names.player) for each in every())
    return frozenset(fold_name(name) for own in names for name in own)
