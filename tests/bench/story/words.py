"""The words and sentences of one language, which a play is told with.

Sentences have slots. ``{who}``, ``{other}``, ``{place}`` and ``{item}`` are names of the story. ``{noun}``, ``{adj}``
and ``{adv}`` are words of the vocabulary. In Korean, a slot names the particle that follows it, as in ``{who:이/가}``.
"""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Vocabulary:
    """One language's words."""

    spaced: bool = True
    """Whether words and sentences have spaces between them."""
    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    adverbs: tuple[str, ...]
    heads: tuple[str, ...]
    """First parts of rare compounds."""
    tails: tuple[str, ...]
    """Last parts of rare compounds."""
    syllables: tuple[str, ...]
    """The syllables of persons' names."""
    sounds: tuple[str, ...]
    """The syllables of invented words."""
    titles: tuple[str, ...]
    sites: tuple[str, ...]
    """The nouns in the names of places."""
    things: tuple[str, ...]
    """The nouns in the names of items."""
    deeds: tuple[str, ...]
    """The nouns in the names of events."""
    groups: tuple[str, ...]
    """The nouns in the names of factions, ideas and events of the lore."""
    moods: tuple[str, ...]
    relations: tuple[str, ...]
    narration: tuple[str, ...]
    """Sentences of a reply."""
    speech: tuple[str, ...]
    """Sentences of a reply in which a character speaks."""
    wishes: tuple[str, ...]
    """Sentences of the player."""
    lore: tuple[str, ...]
    """Sentences of a lore entry. ``{name}`` is the entry's name."""
    rules: tuple[str, ...]
    """Sentences of a frontend's system prompt."""


def words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


def lines(text: str) -> tuple[str, ...]:
    """The lines of a text."""
    return tuple(line.strip() for line in text.strip().splitlines())
