"""Scripts of rehearsals: a card, the player's lines, and what is true after each line."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Truth:
    """What the state must contain after a line. None means that it is not checked."""

    place: tuple[str, ...] | None = None
    """The name of the place contains one of these words."""
    moved: bool = False
    """Whether the player moved there with this line."""
    here: tuple[str, ...] | None = None
    """The names of exactly the characters who are with the player."""
    carries: tuple[str, ...] | None = None
    """The name of a thing that the player has contains one of these words."""
    gave: tuple[str, ...] | None = None
    """No name of a thing that the player has contains one of these words."""
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
