"""A language: one folder, whose modules each fill one record. A module is read when its record is first asked for."""

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
"""The modules of a language's folder. Each has one constant of its name, in capitals."""


class Language:
    """What is said and read in one language. ``tag``: its primary subtag by BCP 47, the folder's name."""

    def __init__(self, tag: str) -> None:
        self.tag = tag

    def __repr__(self) -> str:
        return f"Language({self.tag!r})"

    @cached_property
    def block(self) -> BlockWords:
        """The state block: what the narrator is told of it, and the words that a model may use in it."""
        found: BlockWords = self._part("block")
        return found

    @cached_property
    def labels(self) -> Labels:
        """The words of the context block."""
        found: Labels = self._part("labels")
        return found

    @cached_property
    def names(self) -> NameWords:
        """What may stand around a name: titles, honorifics, and words for the player."""
        found: NameWords = self._part("names")
        return found

    @cached_property
    def past(self) -> PastWords:
        """Words of time and of remembering, in what players say and stories tell."""
        found: PastWords = self._part("past")
        return found

    @cached_property
    def persona(self) -> PersonaWords:
        """What frontends, cards and players say of the player's character."""
        found: PersonaWords = self._part("persona")
        return found

    @cached_property
    def questions(self) -> Questions:
        """What small models are asked."""
        found: Questions = self._part("questions")
        return found

    @cached_property
    def requests(self) -> RequestWords:
        """A frontend's own instructions."""
        found: RequestWords = self._part("requests")
        return found

    @cached_property
    def story(self) -> StoryWords:
        """What prose tells: who acts, who dies, what weighs."""
        found: StoryWords = self._part("story")
        return found

    @cached_property
    def texts(self) -> Texts:
        """Pages, rules, findings, and what else is written for players and narrators."""
        found: Texts = self._part("texts")
        return found

    @cached_property
    def words(self) -> WordRules:
        """Index terms."""
        found: WordRules = self._part("words")
        return found

    @cached_property
    def world(self) -> WorldWords:
        """The keys and words of world files."""
        found: WorldWords = self._part("world")
        return found

    def _part(self, name: str) -> Any:
        return getattr(import_module(f"{__package__}.{self.tag}.{name}"), name.upper())
