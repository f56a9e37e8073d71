"""The texts for narrators and players in a language: rules, pages, comparisons, findings, and text lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date

from attrs import frozen


@frozen(kw_only=True, eq=False, repr=False)
class Sizes:
    """Lengths of texts in characters, chosen so that they hold about the same content in each language."""

    words: int
    """The length of a player's message that is kept for recall."""
    reply: int
    """The length of a reply that is kept for recall."""
    place: int
    """The length of one passage in a text: a sentence or two."""
    whole: int
    """The maximum length of a text that is quoted completely."""
    brief: int
    """The maximum length of a turn in a conversation that is quoted completely, among the best matches."""
    excerpt: int
    """The length of an excerpt from a longer text."""
    token: float
    """The approximate length of a token, to estimate how many turns are worth an excerpt."""


@frozen(kw_only=True, eq=False, repr=False)
class Comparison:
    """The texts of a comparison of two states, with fields in braces."""

    labels: Mapping[str, str]
    """Labels by the kind of difference."""
    only: str
    """A fact that exists on one side only, with ``{label}``, ``{subject}`` and ``{where}``."""
    sides: str
    """A fact that differs, with ``{label}``, ``{one}``, ``{left}``, ``{other}`` and ``{right}``."""
    nothing: str
    count: str = "{value}"


@frozen(kw_only=True, eq=False, repr=False)
class Findings:
    """The texts of contradictions. Each function takes the keyword arguments listed below it."""

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
    """The English name of the language."""
    player: str
    """The name of a player's character that has no name of its own yet."""
    player_aliases: tuple[str, ...]
    """Further names of such a character. They are recorded in states, so those of an existing language must not change.
    """
    rules: str
    """The instructions to the narrator about the memory, the same in every turn."""
    sizes: Sizes
    pages: Mapping[str, str]
    """Headings and labels on the pages."""
    comparison: Comparison
    findings: Findings
    episode: Mapping[str, str]
    """Labels in the line of facts of an episode."""
    day: Callable[[date], str]
    """Formats a date in the usual way, with the name of the month where that is customary."""
    turn: str
    """The name of a turn, with ``{depth}``."""
    due: str
    """The mark of an event that is due."""
    turns_left: str
    """The text after such an event, with ``{left}``."""
    died: Callable[..., str]
    """Takes ``name``."""
    met: Callable[..., str]
    """Takes ``name``."""
    gained: Callable[..., str]
    """Takes ``name``."""
