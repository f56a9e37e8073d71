"""The names of things: the words by which they are known again, and the marks that tell two of a kind apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain

from saga_core.language import clean_name, content_words, languages_in, match_text, simplified

# -- two of a kind ---------------------------------------------------------------------------------------------
#
# Words that tell two of a kind apart: the first floor and the second, the upper half of a book and the lower.


@lru_cache(maxsize=16_384)
def told_apart(one: str, other: str) -> bool:
    """Whether two names have different marks of one sort, so that they belong to two of a kind.

    A name that lacks some of the other's marks may still be a shorter form of it.
    """
    mine, theirs = _marks(one), _marks(other)
    return any(_differ(mine[sort], theirs[sort]) for sort in mine.keys() & theirs.keys())


def _differ(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether neither of two runs of marks is the other with some left out."""
    short, long = sorted((one, other), key=len)
    left = iter(long)
    return not all(mark in left for mark in short)


@lru_cache(maxsize=16_384)
def _marks(name: str) -> dict[str, tuple[str, ...]]:
    """The marks in a name by sort, in their order."""
    plain = match_text(clean_name(name))
    found: dict[str, tuple[str, ...]] = {}
    for sort, pattern in (each for language in languages_in(plain) for each in _sorts(language.names.apart)):
        marks = tuple(str(mark.lastindex or mark.group()) for mark in pattern.finditer(plain))
        if marks:
            found[sort] = marks
    return found


@cache
def _sorts(apart: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The sorts of marks of a language, each with its pattern. Han characters are compared in simplified form."""
    return tuple((sort, re.compile(simplified(sort))) for sort in apart)


# -- things ----------------------------------------------------------------------------------------------------

_POSSESSIVE = re.compile(r"['’]s\b")
_CLOTHES = re.compile(r"[(（][^()（）]*[)）]|[「」『』《》〈〉\[\]\"“”'‘’]")
_SINGLE = re.compile(r"\d+|(?<!\w)[A-Za-z](?!\w)")
"""Numbers and single letters, which tell things of one kind apart: key 1, door B."""
_LEAST_STEM = 4
_SMALL = frozenset("half old new broken sealed small little big large another same".split())
"""Words that are optional in the name of a thing."""


@lru_cache(maxsize=4_096)
def words_of_thing(name: str) -> frozenset[str]:
    """The words that identify a thing, stemmed so that inflected forms match: ``coin`` for "coins"."""
    plain = _POSSESSIVE.sub("", _CLOTHES.sub(" ", clean_name(name)))
    told_apart = (word.casefold() for word in _SINGLE.findall(plain) if word != "a")
    words = frozenset((*content_words(plain), *told_apart)) - {"the", "of", "and", "an"}
    return (words - _SMALL) or words


@lru_cache(maxsize=16_384)
def may_be(one: str, other: str) -> bool:
    """Whether one name may be a shorter form of the other: ``half tally`` of "half a brass tally", 열쇠 of 놋쇠 열쇠.

    Use it only to choose among a few candidates. A match by itself does not prove that the things are the same.
    """
    if told_apart(one, other):
        return False
    short, long = sorted((words_of_thing(one), words_of_thing(other)), key=len)
    if short and all(word in long or any(_is_inflected(word, each) for each in long) for word in short):
        return True
    little, large = sorted((_joined(one), _joined(other)), key=len)
    return len(little) >= 2 and not little.isascii() and little in large


def _is_inflected(one: str, other: str) -> bool:
    """Whether one of two words is the other with an ending of one or two letters: Kerze and Kerzen."""
    short, long = sorted((one, other), key=len)
    return _LEAST_STEM <= len(short) < len(long) <= len(short) + 2 and short.isalpha() and long.startswith(short)


@lru_cache(maxsize=4_096)
def _joined(name: str) -> str:
    return re.sub(r"[\s·・-]+", "", _CLOTHES.sub("", clean_name(name))).casefold()


def is_particular(name: str) -> bool:
    """Whether a name is specific enough to tell a thing from others of its kind.

    An ASCII name needs at least two words, any other name at least four characters without spaces.
    """
    joined = _joined(name)
    return len(words_of_thing(name)) > 1 if joined.isascii() else len(joined) >= 4


# -- many things -----------------------------------------------------------------------------------------------


class _Words:
    """Words, each with what it belongs to. A word is found under itself and its inflected forms."""

    def __init__(self) -> None:
        self._under: dict[str, set[int]] = {}
        self._inflected: dict[str, set[int]] = {}

    def note(self, word: str, at: int) -> None:
        """Add a word."""
        self._under.setdefault(word, set()).add(at)
        for stem in _stems(word):
            self._inflected.setdefault(stem, set()).add(at)

    def near(self, word: str) -> set[int]:
        """What a word or an inflected form of it belongs to."""
        found = [self._under.get(each, ()) for each in (word, *_stems(word))]
        return set(chain(*found, self._inflected.get(word, ())))


def _stems(word: str) -> tuple[str, ...]:
    """A word without its last one or two letters, if ``_is_inflected`` may find it so."""
    return tuple(word[:-size] for size in (1, 2) if len(word) - size >= _LEAST_STEM)


class Things:
    """Names of things, among which those that ``may_be`` another name are found without comparing it with all."""

    def __init__(self, named: Iterable[tuple[str, str]]) -> None:
        """``named`` are names, each with the id of its thing."""
        self._named = tuple(named)
        self._every, self._rarest = _Words(), _Words()
        self._joined = [(at, _joined(name)) for at, (name, _) in enumerate(self._named) if not _joined(name).isascii()]
        self._found: dict[str, set[str]] = {}
        words = [words_of_thing(name) for name, _ in self._named]
        for at, each in enumerate(words):
            for word in each:
                self._every.note(word, at)
        often = {word: len(self._every.near(word)) for word in frozenset().union(*words)}
        for at, each in enumerate(words):
            if each:
                self._rarest.note(min(each, key=lambda word: (often[word], word)), at)

    def like(self, name: str) -> set[str]:
        """The ids of the things of which one name may be a shorter or a longer form of the other."""
        if name not in self._found:
            near = (self._named[at] for at in self._near(name))
            self._found[name] = {id_ for known, id_ in near if may_be(name, known)}
        return set(self._found[name])

    def _near(self, name: str) -> set[int]:
        """A name that has all words of a longer one has its rarest; one with all words of ``name`` has each."""
        words = [self._every.near(word) for word in words_of_thing(name)]
        shorter = chain.from_iterable(self._rarest.near(word) for word in words_of_thing(name))
        found = set(shorter).union(set.intersection(*words) if words else ())
        joined = _joined(name)
        if not joined.isascii():
            found |= {at for at, each in self._joined if each in joined or joined in each}
        return found
