"""What a play is told with: one language's words and sentences.

Sentences have slots: ``{who}``, ``{other}``, ``{place}``, ``{item}`` are names of the story, ``{noun}``, ``{adj}``,
``{adv}`` words of the vocabulary. In Korean a slot names the particle that follows it: ``{who:이/가}``.
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
    """What names of persons are made of."""
    sounds: tuple[str, ...]
    """What words that stand in no dictionary are made of."""
    titles: tuple[str, ...]
    sites: tuple[str, ...]
    """What places are called after."""
    things: tuple[str, ...]
    """What items are called after."""
    deeds: tuple[str, ...]
    """What events are called after."""
    groups: tuple[str, ...]
    """What factions and ideas are called after."""
    moods: tuple[str, ...]
    relations: tuple[str, ...]
    narration: tuple[str, ...]
    """Sentences of a reply."""
    speech: tuple[str, ...]
    """Sentences of a reply in which somebody speaks."""
    wishes: tuple[str, ...]
    """What the player says."""
    lore: tuple[str, ...]
    """Sentences of a lore entry; ``{name}`` is the entry's."""
    rules: tuple[str, ...]
    """Sentences of a frontend's system prompt."""


def words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


def lines(text: str) -> tuple[str, ...]:
    """The lines of a text."""
    return tuple(line.strip() for line in text.strip().splitlines())
