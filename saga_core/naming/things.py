"""Names of things, and whether two of them may refer to the same thing."""

from __future__ import annotations

import re
from functools import lru_cache

from saga_core.language import clean_name, content_words
from saga_core.naming.apart import told_apart

_POSSESSIVE = re.compile(r"['’]s\b")
_CLOTHES = re.compile(r"[(（][^()（）]*[)）]|[「」『』《》〈〉\[\]\"“”'‘’]")
_SINGLE = re.compile(r"\d+|(?<!\w)[A-Za-z](?!\w)")
"""Numbers and single letters, which tell things of one kind apart: key 1, door B."""
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
    if short and short <= long:
        return True
    little, large = sorted((_joined(one), _joined(other)), key=len)
    return len(little) >= 2 and not little.isascii() and little in large


def same_thing(one: str, other: str) -> bool:
    """Whether two names of things have the same words, and nothing that tells two of a kind apart."""
    words = words_of_thing(one)
    return bool(words) and words == words_of_thing(other) and not told_apart(one, other)


def _joined(name: str) -> str:
    return re.sub(r"[\s·・-]+", "", _CLOTHES.sub("", clean_name(name))).casefold()


def is_particular(name: str) -> bool:
    """Whether a name is specific enough to tell a thing from others of its kind.

    An ASCII name needs at least two words, any other name at least four characters without spaces.
    """
    joined = _joined(name)
    return len(words_of_thing(name)) > 1 if joined.isascii() else len(joined) >= 4
