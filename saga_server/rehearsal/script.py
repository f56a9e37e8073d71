"""What is played in a rehearsal: a card, the player's lines, and what is so after each."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Truth:
    """What has to be known after a line. None: nothing is asked of it."""

    place: tuple[str, ...] | None = None
    """Words of which one stands in the place's name."""
    moved: bool = False
    """Whether the player moved there with this line."""
    here: tuple[str, ...] | None = None
    """Who is with the player, by name: these and nobody else."""
    carries: tuple[str, ...] | None = None
    """Words of which one stands in the name of a thing that the player has."""
    gave: tuple[str, ...] | None = None
    """The same of a thing that the player has no more."""
    hurt: bool = False
    """Whether the player was hurt with this line."""


@frozen(kw_only=True)
class Script:
    """A rehearsal in one language."""

    language: str
    player: str
    card: str
    greeting: str
    lines: tuple[tuple[str, Truth], ...]
