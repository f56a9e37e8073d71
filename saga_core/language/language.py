"""A language is one folder, whose modules each define one record. A module is imported on first access."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saga_core.language.block import BlockWords
    from saga_core.language.labels import Labels
    from saga_core.language.names import NameWords
    from saga_core.language.past import PastWords
    from saga_core.language.persona import PersonaWords
    from saga_core.language.questions import Questions
    from saga_core.language.requests import RequestWords
    from saga_core.language.story import StoryWords
    from saga_core.language.texts import Texts
    from saga_core.language.words import WordRules
    from saga_core.language.world import WorldWords

PARTS = ("block", "labels", "names", "past", "persona", "questions", "requests", "story", "texts", "words", "world")
"""The modules of a language's folder. Each defines one constant with its own name in capitals."""


class Language:
    """The records of one language. ``tag`` is its primary subtag by BCP 47 and the name of its folder."""

    def __init__(self, tag: str) -> None:
        self.tag = tag

    def __repr__(self) -> str:
        return f"Language({self.tag!r})"

    @cached_property
    def block(self) -> BlockWords:
        """The state block: the request to the narrator, and the words that a model may use in it."""
        found: BlockWords = self._part("block")
        return found

    @cached_property
    def labels(self) -> Labels:
        """The words of the context block."""
        found: Labels = self._part("labels")
        return found

    @cached_property
    def names(self) -> NameWords:
        """Titles, honorifics, and words for the player."""
        found: NameWords = self._part("names")
        return found

    @cached_property
    def past(self) -> PastWords:
        """Words for time and for remembering, in messages of players and in stories."""
        found: PastWords = self._part("past")
        return found

    @cached_property
    def persona(self) -> PersonaWords:
        """The phrases by which frontends, cards and players name the player's character."""
        found: PersonaWords = self._part("persona")
        return found

    @cached_property
    def questions(self) -> Questions:
        """The questions to small models."""
        found: Questions = self._part("questions")
        return found

    @cached_property
    def requests(self) -> RequestWords:
        """The instructions that frontends add to requests."""
        found: RequestWords = self._part("requests")
        return found

    @cached_property
    def story(self) -> StoryWords:
        """Patterns for events in prose: actions, deaths, important facts."""
        found: StoryWords = self._part("story")
        return found

    @cached_property
    def texts(self) -> Texts:
        """Pages, rules, findings, and other texts for players and narrators."""
        found: Texts = self._part("texts")
        return found

    @cached_property
    def words(self) -> WordRules:
        """The rules for index terms."""
        found: WordRules = self._part("words")
        return found

    @cached_property
    def world(self) -> WorldWords:
        """The keys and words of world files."""
        found: WorldWords = self._part("world")
        return found

    def _part(self, name: str) -> Any:
        return getattr(import_module(f"{__package__}.{self.tag}.{name}"), name.upper())
