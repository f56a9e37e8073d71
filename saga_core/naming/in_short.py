"""The short names of things and people: the letter, where the story has a sealed letter and no other; the sergeant.

Everybody speaks so of what was named in full before. The short name of a thing is the word for its kind: the last word
of the name in English and Korean, what follows the last possessive or inflection in Japanese and Chinese.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, takewhile

from saga_core.language import clean_name, folded_kana, has_katakana, is_hangul, is_kana, is_unspaced
from saga_core.model import Entity, Kind
from saga_core.naming.forms import bare, fold, is_title, name_words, offices_in, titles_of, untitled
from saga_core.naming.names import REMARK, last_word, words_of_thing

_LINKS = frozenset(("the", "of"))
_WORD_OF_TWO = 2
"""The letters of most Chinese and Sino-Japanese words: 怀表 of 银怀表."""


def short_names(entities: Iterable[Entity]) -> dict[str, str]:
    """The short names by the ids of the things that have one. No two things have the same, and a word in the name of
    another thing is none: where a letter opener is known, "the letter" may be half of its name."""
    things = [each for each in entities if each.kind is Kind.ITEM]
    bearers: dict[str, set[str]] = {}
    for thing in things:
        for name in thing.names:
            for word in words_of_thing(name):
                bearers.setdefault(word, set()).add(thing.id)
    found = ((thing.id, _kind_of(thing.name)) for thing in things)
    return {
        id_: word
        for id_, word in found
        if word and set.intersection(*(bearers.get(each, set()) for each in words_of_thing(word))) == {id_}
    }


def titles_alone(entities: Iterable[Entity]) -> dict[str, str]:
    """The titles in Latin letters that only one of the people has, each with the id: sergeant, of Sergeant Kubas."""
    bearers: dict[str, set[str]] = {}
    for each in entities:
        if each.kind is Kind.CHARACTER:
            for office in frozenset[str]().union(*map(offices_in, each.names)):
                bearers.setdefault(office, set()).add(each.id)
    alone = ((office, ids.pop()) for office, ids in bearers.items() if len(ids) == 1)
    return {title: id_ for office, id_ in alone for title in titles_of(office)}


def parts_alone(entities: Iterable[Entity]) -> dict[str, tuple[str, ...]]:
    """The first and last names that only one of the people has, by id: Barty and Pike, of Barty Pike. What is the whole
    name of somebody or something else is none: Harbour, of Harbour Master, where the story has the place."""
    bearers: dict[str, set[str]] = {}
    whole: dict[str, str] = {}
    for each in entities:
        whole.update(dict.fromkeys(each.names, each.id))
        if each.kind is Kind.CHARACTER:
            for part in chain.from_iterable(map(_first_and_last, each.names)):
                bearers.setdefault(part, set()).add(each.id)
    alone: dict[str, tuple[str, ...]] = {}
    for part, (id_, *others) in bearers.items():
        if not others and whole.get(part, id_) == id_:
            alone[id_] = (*alone.get(id_, ()), part)
    return alone


@lru_cache(maxsize=8_192)
def _first_and_last(name: str) -> tuple[str, ...]:
    plain = bare(REMARK.sub("", clean_name(name)).strip())
    if len(plain) in (3, 4) and (all(map(is_hangul, plain)) or all(map(_is_han, plain))):
        return (plain[1:],)
    whole = {fold(word): word for word in plain.split()}
    words = [whole.get(word, word) for word in untitled(list(whole))]
    ends = words[:1] if {*words[1:2]} & _LINKS else [*words[:1], *words[-1:]]
    return tuple(dict.fromkeys(each for each in ends if len(each) > 1 and each != plain and _names_alone(each)))


def _names_alone(part: str) -> bool:
    return part not in _LINKS and not is_title(fold(part))


@lru_cache(maxsize=8_192)
def _kind_of(name: str) -> str:
    """The word for the kind in the name of a thing, which may be the whole name; "" if it is no word."""
    word = last_word(name)
    if is_unspaced(word):
        word = _last_part(word)
    return word if word.isalpha() and words_of_thing(word) else ""


def _last_part(word: str) -> str:
    """The last word of a name in a script without spaces, as far as the script shows where it begins."""
    for link in name_words("possessives"):
        word = word.rpartition(link)[2]
    for is_letter, most in ((_is_katakana, len(word)), (_is_han, _WORD_OF_TWO)):
        run = len(list(takewhile(is_letter, reversed(word))))
        if run:
            return word[-min(run, most) :]
    return word


def _is_katakana(letter: str) -> bool:
    return has_katakana(letter) or not folded_kana(letter)


def _is_han(letter: str) -> bool:
    return is_unspaced(letter) and not is_kana(letter)
