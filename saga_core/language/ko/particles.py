"""Korean: particles, the choice between their two forms, and syllable bigrams."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FIRST, _LAST = 0xAC00, 0xD7A3

# Longest first, so that "에게서" is taken whole before "서" is tried.
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
"""All of them, for looking one up."""

_WORD = re.compile(r"[^\W_]+")


def is_hangul(char: str) -> bool:
    """Whether ``char`` is a composed Hangul syllable."""
    return _FIRST <= ord(char) <= _LAST


def has_final(text: str) -> bool:
    """Whether the last Hangul syllable of ``text`` ends in a consonant (받침); False if it has none."""
    for char in reversed(text):
        if is_hangul(char):
            return (ord(char) - _FIRST) % 28 != 0
        if char.isalnum():
            return False
    return False


def josa(word: str, pair: str) -> str:
    """``word`` with the right one of two particle forms: ``josa("검", "을/를") == "검을"``.

    ``pair`` is "after a consonant/after a vowel". "으로/로" follows its own rule: a final ㄹ takes "로".
    """
    closed, open_ = pair.split("/")
    final = has_final(word)
    if closed == "으로" and final:
        last = next(char for char in reversed(word) if is_hangul(char))
        final = (ord(last) - _FIRST) % 28 != 8
    return word + (closed if final else open_)


def particle_stems(word: str) -> Iterator[str]:
    """``word`` and what is left of it with one trailing particle taken off, longest stem first.

    A stem keeps at least two syllables, so that short names are not eaten ("나이" is not "나" + "이").
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
    """The syllable bigrams of a Hangul word; the word itself when it has one syllable."""
    if len(word) < 2:
        yield word
        return
    for index in range(len(word) - 1):
        yield word[index : index + 2]
