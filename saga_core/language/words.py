"""How a language's text becomes index terms, and where a name stands in it as a word."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

NEVER = "(?!)"
"""A pattern that nothing fits."""


@frozen(kw_only=True, eq=False, repr=False)
class WordRules:
    """Texts are cut into runs, each of which belongs to one language; texts of several languages are cut alike."""

    letters: str
    """The letters of its script, as they stand in brackets in a pattern. Lower case."""
    run: str
    """A pattern of a run of its letters. Of two languages that could have a run, the first by tag has it."""
    terms: Callable[[str], tuple[str, ...]]
    """The index terms of a run, repeats included."""
    content: Callable[[str], tuple[str, ...]]
    """The words of a run in the shape in which they stand in other sentences too; each is looked for as a part."""
    particular: Callable[[str], tuple[str, ...]] | None = None
    """The index terms of a run by which a sentence may tell something that few others do; None: all of them. Where
    words have no spaces between them, pieces of inflection are as rare as names are."""
    function: frozenset[str] = frozenset()
    """Terms that nearly every sentence has: they say how something is told, and little of what."""
    asking: frozenset[str] = frozenset()
    """Words as ``content`` gives them that ask and tell nothing, where they are not among the function terms."""
    particles: frozenset[str] = frozenset()
    """What may hang on a name without being part of it, where words have spaces between them."""
    particles_of_long: frozenset[str] = frozenset()
    """What else may hang on a name of two letters or more."""
    stands: Callable[[str, int, int], bool] | None = None
    """(text, start, end): whether what stands there is a word of its own. None: words have spaces between them."""
    named: str = NEVER
    """A pattern of a letter by which a name is told to be written like this; where ``stands`` is given."""
