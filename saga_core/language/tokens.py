"""Text to index terms. Each run of letters goes to the language of its script; numbers stand as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain

from saga_core.language.han import simplified
from saga_core.language.language import Language
from saga_core.language.normal_forms import nfc
from saga_core.language.registry import DEFAULT, every
from saga_core.language.words import NEVER, WordRules

_KEPT = 64
"""Characters beyond which a text without a space is nothing to remember."""


def terms(text: str) -> list[str]:
    """The index terms of ``text``, in order, repeats included. NFC and case folding are done here."""
    return list(folded_terms(nfc(text).casefold()))


def folded_terms(text: str) -> Iterable[str]:
    """As ``terms``, of a text in NFC that is folded already."""
    parts = text.split()
    known = _terms_in if not parts or len(max(parts, key=len)) <= _KEPT else _terms_in.__wrapped__
    return chain.from_iterable(map(known, parts))


def particular_terms(text: str) -> Iterable[str]:
    """Those of ``folded_terms`` by which a sentence may tell something that few others do."""
    if text.isascii() or _picking().search(text) is None:
        return folded_terms(text)
    pattern, rules = _runs()
    found: list[str] = []
    for match in pattern.finditer(text):
        rule = rules.get(match.lastgroup or "")
        found += (rule.particular or rule.terms)(match.group()) if rule is not None else (match.group(),)
    return found


def content_words(text: str) -> list[str]:
    """The words of ``text`` in the shape in which they stand in other sentences too, each once, in order.

    A Hangul word without its particle, the stem of an English word (most often its beginning). For looking where in a
    text a query is answered: in what ``match_text`` makes of it. Words of one Latin letter are left out.
    """
    found: dict[str, None] = {}
    pattern, rules = _runs()
    for match in pattern.finditer(nfc(text).casefold()):
        rule = rules.get(match.lastgroup or "")
        for word in rule.content(match.group()) if rule is not None else (match.group(),):
            if len(word) > 1 or not word.isascii():
                found.setdefault(word)
    return list(found)


def match_text(text: str) -> str:
    """``text`` as words are looked for in it: case folded, Han characters simplified."""
    return simplified(text.casefold())


def languages_in(text: str) -> tuple[Language, ...]:
    """The languages whose letters stand in ``text``, and English, in which presets are written whatever the story's is.

    A pattern of all languages takes long to make; one of those in a text is made when the first such text comes.
    """
    found = _written_in() if not text.isascii() else ()
    return tuple(each for each, letter in found if letter is None or letter.search(text) is not None) or _english()


@cache
def _written_in() -> tuple[tuple[Language, re.Pattern[str] | None], ...]:
    letters = ((each, each.words.letters) for each in every())
    return tuple((each, None if each.tag == DEFAULT else re.compile(f"[{letter}]")) for each, letter in letters)


@cache
def _english() -> tuple[Language, ...]:
    return tuple(each for each in every() if each.tag == DEFAULT)


@cache
def function_terms() -> frozenset[str]:
    """The terms that nearly every sentence of some language has."""
    return frozenset(term for each in every() for term in each.words.function)


@cache
def telling_nothing() -> frozenset[str]:
    """The words of ``content_words`` that say how something is told or asked for, and nothing of what."""
    return function_terms() | frozenset(word for each in every() for word in each.words.asking)


@lru_cache(maxsize=8_192)
def _terms_in(part: str) -> tuple[str, ...]:
    """The terms of what stands between two spaces. Most of it comes again and again, punctuation and all."""
    pattern, rules = _runs()
    found: list[str] = []
    for match in pattern.finditer(part):
        rule = rules.get(match.lastgroup or "")
        if rule is not None:
            found += rule.terms(match.group())
        else:
            found.append(match.group())
    return tuple(found)


@cache
def _picking() -> re.Pattern[str]:
    """A letter of a language of whose terms not all may be particular."""
    letters = "".join(each.words.letters for each in every() if each.words.particular is not None)
    return re.compile(f"[{letters}]" if letters else NEVER)


@cache
def _runs() -> tuple[re.Pattern[str], dict[str, WordRules]]:
    """A pattern whose groups are named by the languages, and their rules; what is in none is a number or a word of
    another script."""
    rules = {each.tag: each.words for each in every()}
    groups = [f"(?P<{tag}>{rule.run})" for tag, rule in rules.items()]
    letters = "".join(rule.letters for rule in rules.values())
    return re.compile("|".join((*groups, "[0-9]+", rf"[^\W_0-9{letters}]+"))), rules
