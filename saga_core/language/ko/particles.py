"""Korean: particles, the choice between their two forms, and syllable bigrams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_letters

_FIRST, _LAST = 0xAC00, 0xD7A3

# Longest first, so that "에게서" is tried before "서".
_PARTICLES: tuple[str, ...] = tuple(
    sorted(
        (
            "이라고 라고 에게서 한테서 으로부터 로부터 에서는 에서도 에게는 에게도 한테는 한테도 으로는 로는 "
            "이랑 까지 부터 조차 마저 처럼 보다 에게 한테 에서 으로 이나 이며 하고 께서 의 은 는 이 가 을 를 "
            "에 로 와 과 도 만 랑 나 며 께 야 아 여"
        ).split(),
        key=lambda particle: (-len(particle), particle),
    )
)
PARTICLES = frozenset(_PARTICLES)
"""All particles, for lookup."""

_WORD = re.compile(r"[^\W_]+")

_OPEN, _LIEUL, _OTHER = 0, 8, 4
"""Numbers of final consonants: none, ㄹ, and any other."""
_DIGITS = {digit: _LIEUL if digit in "178" else _OTHER for digit in "013678"} | dict.fromkeys("2459", _OPEN)
_SPELLED = {"L": _LIEUL, "R": _LIEUL, "M": _OTHER, "N": _OTHER}
_CLOSED = re.compile(r"(?:ll?|m|n|ng|(?<=[^\Waeiou])[aeiou](?:ck|tt|[bckpt])|\A[aeiou](?:ck|tt|[bckpt]))\Z")
"""Matches the end of a word in lower-case Latin letters that is pronounced with a final consonant."""


def is_hangul(char: str) -> bool:
    """Whether ``char`` is a composed Hangul syllable."""
    return _FIRST <= ord(char) <= _LAST


def has_final(text: str) -> bool:
    """Whether ``text`` ends in a consonant (받침) when read aloud: 검, "3" (삼), "XL" (엑스엘), "John" (존)."""
    return _final(text) != _OPEN


def _final(text: str) -> int:
    """The number of the final consonant in Hangul's order; 0 if there is none or it is unknown."""
    end = next((at for at in range(len(text), 0, -1) if text[at - 1].isalnum()), 0)
    last = text[end - 1 : end]
    if not last:
        return _OPEN
    if is_hangul(last):
        return (ord(last) - _FIRST) % 28
    if last in _DIGITS:
        return _DIGITS[last]
    word = text[:end]
    return _final_of_latin(word[len(word.rstrip(ascii_letters)) :])


def _final_of_latin(letters: str) -> int:
    if not letters:
        return _OPEN
    if letters.isupper():  # spelled out: HP is 에이치피, XL is 엑스엘
        return _SPELLED.get(letters[-1], _OPEN)
    ending = _CLOSED.search(letters.casefold())
    return _OPEN if ending is None else _LIEUL if ending.group().startswith("l") else _OTHER


def josa(word: str, pair: str) -> str:
    """``word`` with the correct one of two particle forms: ``josa("검", "을/를") == "검을"``.

    ``pair`` is "after a consonant/after a vowel". "으로/로" has an exception: a final ㄹ takes "로".
    """
    closed, open_ = pair.split("/")
    final = _final(word)
    takes_open = final == _OPEN or (closed == "으로" and final == _LIEUL)
    return word + (open_ if takes_open else closed)


def particle_stems(word: str) -> Iterator[str]:
    """``word``, then its stems without one trailing particle, longest stem first.

    A stem keeps at least two syllables, so that short names stay whole ("나이" is not "나" + "이").
    """
    yield word
    if not word or not is_hangul(word[-1]):
        return
    seen = {word}
    stems = []
    for particle in _PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= 2:
            stems.append(word[: -len(particle)])
    for stem in sorted(stems, key=len, reverse=True):
        if stem not in seen:
            seen.add(stem)
            yield stem


def is_particle(text: str) -> bool:
    """Whether ``text`` is a particle by itself."""
    return text in PARTICLES


def bigrams(word: str) -> Iterator[str]:
    """The syllable bigrams of a Hangul word; the word itself if it has one syllable."""
    if len(word) < 2:
        yield word
        return
    for index in range(len(word) - 1):
        yield word[index : index + 2]
