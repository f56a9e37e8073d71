"""What only code can say of a language: how its words become index terms, its numbers in words, and who does what."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from saga_core.language.tables import NEVER


class GrammarWords:
    """The lists of ``grammar.toml`` in a language's folder, which only the code of its grammar reads."""

    def __init__(self, grammar: str) -> None:
        """``grammar`` is the path of the code."""
        self._read: dict[str, Any] = tomllib.loads(Path(grammar).with_name("grammar.toml").read_text(encoding="utf-8"))

    def __getitem__(self, name: str) -> list[str]:
        """The words of a list."""
        found: str = self._read[name]
        return found.split()

    def table(self, name: str) -> dict[str, str]:
        """A section: words by other words."""
        return dict(self._read[name])


def _no_number(written: str) -> int | None:
    return None


def _nobody(sentence: str, names: Sequence[str]) -> bool:
    return False


@frozen(kw_only=True, eq=False, repr=False)
class Grammar:
    """The code of one language. A text is split into runs of letters, each of which belongs to one language."""

    letters: str
    """The letters of the script in lower case, as they are written inside brackets in a pattern."""
    run: str
    """A pattern of a run of these letters. If the patterns of two languages match, the first by tag wins, and English
    comes last, which has all Latin letters. A language in Latin letters matches only runs with a letter that English
    words hardly ever have."""
    terms: Callable[[str], tuple[str, ...]]
    """Returns the index terms of a run, including repeats."""
    content: Callable[[str], tuple[str, ...]]
    """Returns the words of a run in a form that also matches in other sentences. Each is searched as a substring."""
    particular: Callable[[str], tuple[str, ...]] | None = None
    """Returns the index terms of a run that may distinguish a sentence from others; None if all terms may. In languages
    without spaces, fragments of inflections are as rare as names, and must be left out."""
    function: frozenset[str] = frozenset()
    """Terms of function words, which occur in nearly every sentence and say little about its content."""
    asking: frozenset[str] = frozenset()
    """Question words in the form returned by ``content``, unless they are among the function terms."""
    particles: frozenset[str] = frozenset()
    """Particles that may be attached to a name, in languages with spaces between words."""
    particles_of_long: frozenset[str] = frozenset()
    """Further particles for names of two letters or more."""
    stands: Callable[[str, int, int], bool] | None = None
    """Takes a text, a start and an end, and returns whether that span is a word of its own. None for languages with
    spaces between words."""
    named: str = NEVER
    """A pattern of a letter that shows that a name belongs to this language. Only used together with ``stands``."""
    spelled: str = NEVER
    """A pattern of numbers in several words, before a counter."""
    joined: str = NEVER
    """The same pattern for numbers directly behind a name, in languages without spaces."""
    number: Callable[[str], int | None] = _no_number
    """Returns the number that such a text means; None for a text in any other language."""
    countable: str = NEVER
    """A pattern of a whole name after which a bare number is a quantity and not a part of the name."""
    does: Callable[[str, Sequence[str]], bool] = _nobody
    """Takes a sentence and names, and returns whether such a character does something, judging by the grammar."""
    plain: Callable[[str], str] = str
    """Returns a text with its verbs in the plain form, in languages that mark respect in them."""
    fragments: Mapping[str, str] = field(factory=dict)
    """Patterns for ``words.toml``."""

    @property
    def is_latin(self) -> bool:
        """Whether the language is written in Latin letters."""
        return re.search(f"[{self.letters}]", "a") is not None
