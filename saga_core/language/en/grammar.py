"""English index terms are stems. A number in words gives the same term as in digits."""

from __future__ import annotations

from saga_core.language.en.predicates import does
from saga_core.language.en.stemmer import stem
from saga_core.language.grammar import Grammar

_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred"
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTS.split()) if number > 1}
_NUMBERS |= {word: str(10 * number) for number, word in enumerate(_TENS.split(), 1)}
"""Numbers in words, which become digits. "One" is missing because it has too many other meanings."""
_SHORTEST = 3
"""The minimum length of a word's beginning that few other words share."""


def _terms(run: str) -> tuple[str, ...]:
    return (_NUMBERS.get(run) or stem(run),) if run.isascii() else (run,)


_FUNCTION = frozenset(
    map(
        stem,
        "a about all am an and any are as at be been but by can could did do does for from had has have he her "
        "hers him his how i if in into is it its just me my of on or our s she should so some t than that the "
        "their them then there these they this those to too us was we were what when where which who whom whose "
        "why will with would you your".split(),
    )
)


def _content(run: str) -> tuple[str, ...]:
    found = stem(run)
    if run.startswith(found) or found in _FUNCTION:
        return (found,)
    # The stem of "mercy" is "merci" and that of "waving" is "wave". A text with these words does not contain the stems.
    begun, last = found[:-1], found[-1:]
    if last == "i" and run.startswith(f"{begun}y"):
        return (f"{begun}y",)
    if last == "e" and len(begun) >= _SHORTEST and run.startswith(begun):
        return (begun,)
    return (found,)


GRAMMAR = Grammar(
    letters="a-zß-öø-ɏ",
    run="[a-zß-öø-ɏ]+(?:['’][a-z]+)?",
    terms=_terms,
    content=_content,
    function=_FUNCTION,
    does=does,
)
