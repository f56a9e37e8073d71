"""Splits text into index terms, and checks whether a name occurs in a text as a word of its own.

Each run of letters is handled by the language of its script; numbers stay as is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from itertools import chain

from saga_core.language.grammar import Grammar
from saga_core.language.han import simplified
from saga_core.language.language import DEFAULT, Language, all_of, every
from saga_core.language.normal_forms import alike, nfc, spoken_name
from saga_core.language.tables import NEVER

_SHORT = 1_000
"""The maximum length of a text whose languages are cached."""
_KEPT, _PARTS = 64, 8_192
"""The maximum length of a text without a space whose terms are kept, and the maximum number of such texts."""


def terms(text: str) -> list[str]:
    """The index terms of ``text``, in order, including repeats. Applies NFC and case folding."""
    return list(folded_terms(nfc(text).casefold()))


def folded_terms(text: str) -> Iterable[str]:
    """Like ``terms``, for a text that is already in NFC and case folded."""
    return chain.from_iterable(map(_terms_in, text.split()))


def particular_terms(text: str) -> Iterable[str]:
    """The ``folded_terms`` that may distinguish a sentence from others."""
    if text.isascii() or _picking().search(text) is None:
        return folded_terms(text)
    pattern, rules = _runs()
    found: list[str] = []
    for match in pattern.finditer(text):
        rule = rules.get(match.lastgroup or "")
        found += (rule.particular or rule.terms)(match.group()) if rule is not None else (match.group(),)
    return found


def content_words(text: str) -> list[str]:
    """The words of ``text`` in a form that also matches in other sentences, each once, in order.

    A Hangul word loses its particle; an English word is reduced to its stem (most often its beginning). They serve to
    find the place in a text that answers a query, after ``match_text``. Words of one Latin letter are left out.
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
    """``text`` in the form in which words are searched: case folded, with simplified Han characters, without
    characters that show nothing. The length may change."""
    return simplified(alike(text.casefold()))


@lru_cache(maxsize=4_096)
def match_name(name: str) -> str:
    """``name`` in the form in which it is searched in a ``match_text``: ``mara`` for ``Mara❤``."""
    return match_text(spoken_name(name))


@lru_cache
def is_common(name: str) -> bool:
    """Whether ``name`` is made of words alone that any system prompt has, such as ``You`` and ``the Narrator``."""
    return all(word in _common() for word in match_name(name).split())


@cache
def _common() -> frozenset[str]:
    return frozenset(map(match_name, all_of(lambda each: each.names.player | each.names.common)))


def languages_in(text: str) -> tuple[Language, ...]:
    """The languages whose letters occur in ``text``, and those in Latin letters, because presets of any story may be in
    English.

    Compiling a pattern of all languages takes long. With this function, callers only compile patterns of the languages
    in a text, when the first such text arrives.
    """
    if text.isascii():
        return _latin()
    return _written_in(text) if len(text) <= _SHORT else _written_in.__wrapped__(text)


@lru_cache(maxsize=64)
def _written_in(text: str) -> tuple[Language, ...]:
    """Cached, because a request asks several times about the player's words."""
    return tuple(each for each, letter in _letters() if letter is None or letter.search(text) is not None)


@cache
def _letters() -> tuple[tuple[Language, re.Pattern[str] | None], ...]:
    words = ((each, each.grammar) for each in every())
    return tuple((each, None if rules.is_latin else re.compile(f"[{rules.letters}]")) for each, rules in words)


@cache
def _latin() -> tuple[Language, ...]:
    return tuple(each for each in every() if each.grammar.is_latin)


@cache
def function_terms() -> frozenset[str]:
    """The terms of the function words of all languages."""
    return frozenset(term for each in every() for term in each.grammar.function)


@cache
def telling_nothing() -> frozenset[str]:
    """The ``content_words`` that carry no content: function words and question words."""
    return function_terms() | frozenset(word for each in every() for word in each.grammar.asking)


class _Terms(dict[str, tuple[str, ...]]):
    """The terms of parts between two spaces. They are kept, because most parts recur, including their punctuation."""

    def __missing__(self, part: str) -> tuple[str, ...]:
        pattern, rules = _runs()
        found: list[str] = []
        for match in pattern.finditer(part):
            rule = rules.get(match.lastgroup or "")
            if rule is not None:
                found += rule.terms(match.group())
            else:
                found.append(match.group())
        terms = tuple(found)
        if len(part) <= _KEPT:
            if len(self) >= _PARTS:
                self.clear()
            self[part] = terms
        return terms


_terms_in = _Terms().__getitem__
"""A dictionary is read in half the time of an ``lru_cache``, and a turn has hundreds of parts."""


@cache
def _picking() -> re.Pattern[str]:
    """Matches a letter of a language that defines ``Grammar.particular``."""
    letters = "".join(each.grammar.letters for each in every() if each.grammar.particular is not None)
    return re.compile(f"[{letters}]" if letters else NEVER)


@cache
def _runs() -> tuple[re.Pattern[str], dict[str, Grammar]]:
    """A pattern with one group per language, named by its tag, and the rules by tag. A match outside these groups is a
    number or a word of another script."""
    rules = {each.tag: each.grammar for each in sorted(every(), key=lambda each: each.tag == DEFAULT)}  # English last
    groups = [f"(?P<{tag}>{rule.run})" for tag, rule in rules.items()]
    letters = "".join(rule.letters for rule in rules.values())
    return re.compile("|".join((*groups, "[0-9]+", rf"[^\W_0-9{letters}]+"))), rules


# -- names in a text -------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_]+")


@cache
def particles() -> frozenset[str]:
    """The particles that may be attached to a name, in languages with spaces between words."""
    return frozenset(particle for each in every() for particle in each.grammar.particles)


@cache
def _particles_of_long() -> frozenset[str]:
    return frozenset(particle for each in every() for particle in each.grammar.particles_of_long)


def hangs_on(tail: str, name: str) -> bool:
    """Whether ``tail`` may be a particle attached to ``name``."""
    return tail in particles() or (len(name) > 1 and tail in _particles_of_long())


_SPEECH = re.compile(r"\"[^\"\n]*\"|[“„][^“”„\n]*[”“]|「[^「」\n]*」|『[^『』\n]*』|«[^«»\n]*»|»[^«»\n]*«")


def speeches(text: str) -> list[str]:
    """What stands in quotation marks in a text, without the marks."""
    return [found[1:-1] for found in _SPEECH.findall(text)]


def without_speech(text: str, mark: str = " ") -> str:
    """A text with a mark in place of what stands in quotation marks."""
    return _SPEECH.sub(mark, text)


def mentions(text: str, name: str) -> bool:
    """Whether ``name`` occurs in ``text`` as a word.

    A non-letter must precede the name; a non-letter or a particle that ends the word must follow. In languages without
    spaces, the language of the name decides. 'party' does not mention 'art'; 'Mara가' mentions 'Mara'. Both arguments
    must be in NFC. Case is ignored, and traditional and simplified Han characters are equal.
    """
    return mentions_folded(match_text(text), match_name(name))


@cache
def _possessives() -> tuple[str, ...]:
    return tuple(all_of(lambda each: each.names.possessives))


def begins_about(text: str, name: str) -> bool:
    """Whether a text begins with a name and not with what is hers: 林晚晴的二姨, Mara's sister."""
    return text.startswith(name) and not text[len(name) :].startswith(_possessives())


def mentions_folded(text: str, name: str) -> bool:
    """``mentions`` for the ``match_text`` of a text and the ``match_name`` of a name."""
    stands = standing(name) or _apart
    start = text.find(name) if name else -1
    while start >= 0:
        if stands(text, start, start + len(name)):
            return True
        start = text.find(name, start + 1)
    return False


@lru_cache(maxsize=8_192)
def standing(name: str) -> Callable[[str, int, int], bool] | None:
    """The function that recognizes ``name`` as a word of its own in a language without spaces; else None."""
    if name.isascii():
        return None
    return next((stands for letter, stands in _unspaced() if letter.search(name) is not None), None)


@cache
def _unspaced() -> tuple[tuple[re.Pattern[str], Callable[[str, int, int], bool]], ...]:
    rules = [each.grammar for each in every()]
    return tuple((re.compile(rule.named), rule.stands) for rule in rules if rule.stands is not None)


def _apart(text: str, start: int, end: int) -> bool:
    if start and text[start - 1].isalnum() and text[start].isalnum():
        return False
    tail = _WORD.match(text, end)
    return tail is None or hangs_on(tail.group(), text[start:end])
