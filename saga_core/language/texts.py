"""What is written in a language for narrators and players: rules, pages, comparisons, findings; and how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date

from attrs import frozen


@frozen(kw_only=True, eq=False, repr=False)
class Sizes:
    """How much text tells as much in this language as in others, in characters."""

    words: int
    """Of the player's words that are kept for recall."""
    reply: int
    """Of a reply that is kept for recall."""
    place: int
    """Of one place in a text: a sentence or two."""
    whole: int
    """Up to which what was said is given whole."""
    brief: int
    """Up to which a turn of a talk is given whole, among those found best."""
    excerpt: int
    """Of an excerpt from what is longer."""
    token: float
    """Of a token, about: enough for telling how many turns are worth an excerpt."""


@frozen(kw_only=True, eq=False, repr=False)
class Comparison:
    """How two states are told apart, with names to fill in."""

    labels: Mapping[str, str]
    """By the kind of a difference."""
    only: str
    """``{label}``, ``{subject}``, ``{where}``: what is so on one side only."""
    sides: str
    """``{label}``, ``{one}``, ``{left}``, ``{other}``, ``{right}``."""
    nothing: str
    count: str = "{value}"


@frozen(kw_only=True, eq=False, repr=False)
class Findings:
    """Contradictions in words. Each takes what it tells of by name."""

    dead_act: Callable[..., str]
    """``name``, ``turn``."""
    down_fights: Callable[..., str]
    """``name``, ``turn``."""
    two_places: Callable[..., str]
    """``name``, ``turn``, ``first``, ``second``."""
    two_hands: Callable[..., str]
    """``thing``, ``one``, ``two``."""
    sudden_turn: Callable[..., str]
    """``one``, ``other``, ``old``, ``old_strength``, ``new``, ``new_strength``."""
    forgotten_event: Callable[..., str]
    """``name``, ``deadline``."""


@frozen(kw_only=True, eq=False, repr=False)
class Texts:
    """The texts of a language."""

    name: str
    """What the language is called in English."""
    player: str
    """What a player's character is called as long as it has no name."""
    player_aliases: tuple[str, ...]
    """Further names of such a character. They are part of a recorded state: those of a language stay as they are."""
    rules: str
    """What the narrator is told of the memory, the same in every turn."""
    sizes: Sizes
    pages: Mapping[str, str]
    """Headings and labels of the pages."""
    comparison: Comparison
    findings: Findings
    episode: Mapping[str, str]
    """Labels of an episode's line of facts."""
    day: Callable[[date], str]
    """A day as people say it, the month in letters where that is usual."""
    turn: str
    """``{depth}``: what a turn is called."""
    due: str
    """The mark of an event whose time has come."""
    turns_left: str
    """``{left}``: behind such an event."""
    died: Callable[..., str]
    """``name``."""
    met: Callable[..., str]
    """``name``."""
    gained: Callable[..., str]
    """``name``."""
