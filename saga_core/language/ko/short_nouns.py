"""Finds Korean nouns of one syllable in a text: 칼 in "칼을", but not in "칼집".

A syllable with a particle often looks like another word: "종이" is paper, or a bell as the subject. The form of the
particle decides most cases: "마을" and "나이" are not a noun with a particle, because 마 takes 를 and 나 takes 가. The
other cases are listed here, except for words that are mostly the noun ("길이", "입을").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from saga_core.language.ko.behind_names import BEHIND_LONG_NAMES, BEHIND_NAMES
from saga_core.language.ko.particles import has_final, is_hangul

_CLOSED = tuple("이 은 을 과 으 아".split())
"""Beginnings of the particles that only follow a final consonant."""
_OPEN = tuple("가 는 를 와 랑 나 며 야 여 였 예".split())
"""Beginnings of the particles that only follow a vowel."""
_NO_NOUN = frozenset("아 야 여 며 께".split())
"""Particles that hardly ever follow a noun for a thing, but often end a verb: "잡아", "하며"."""

_OTHER_WORDS = frozenset(
    "종이 같이 많이 깊이 높이 없이 굳이 먹이 놀이 맏이 검은 죽은 먹은 담은 감은 품은 안은 입은 신은 남은 묵은 "
    "익은 숨은 낮은 막은 참은 젊은 작은 좋은 많은 같은 굽은 넘은 먹을 죽을 남을 묵을 막을 참을 안을 있을 없을 "
    "지도 파도 포도 기도 태도 강도 온도 정도 제도 수도 철도 속도 각도 효도 시도 의도 밀도 용도 빈도 농도 한도 "
    "인도 유도 보도 습도 고도 사도 반도 부도 회의 주의 정의 거의 예의 동의 호의 합의 결의 고의 수의 편의 논의 "
    "문의 상의 하의 악의 선의 건의 제의 경의 성의 임의 유의 다만 그만 가만 불만 교만 오만 자만 비만 거만 아가 "
    "요가 휴가 화가 초가 누가 내가 네가 제가 대가 시가 하나 누나 지나 떠나 서로 바로 새로 따로 홀로 위로 도로 "
    "미로 피로 화로 가로 세로 때로 대로 별로 실로 주로 수로 해로 기와 나와 결과 성과 학과 통과 불과 안과 경과 "
    "약과 함께 아들 그들 이들 산들 흔들 만들 건들".split()
)
"""Words that look like a noun of one syllable with a particle, but mostly are not."""
_BOTH: Mapping[str, tuple[str, ...]] = {
    "종이": ("울", "흔들", "매달", "걸려", "깨졌"),
    "화가": ("나", "났", "난", "치밀", "풀"),
    "초가": ("타", "탔", "켜", "꺼", "녹"),
}
"""Such words that are often the noun too, with the beginnings of the next word in that case."""
_ENDINGS = frozenset("고 며 던 니 는데 지만 면서 다고 냐고 자고 고는 고서".split())
"""Endings of quoted sentences, attached to the last word of the sentence."""


def short_nouns(words: Sequence[str]) -> list[str]:
    """For each of the ``words`` of a text, in order: its noun, if it is a noun of one syllable with or without
    particles; else ""."""
    following = [*words[1:], ""]
    return [_noun(word, behind if word in _BOTH else "") for word, behind in zip(words, following, strict=False)]


def maybe_noun(word: str) -> str:
    """The noun of one syllable that ``word`` may contain, although it is mostly another word; "" for none."""
    return word[0] if word in _BOTH else ""


def ends_word(word: str, rest: str, following: str = "") -> bool:
    """Whether ``rest`` may be attached to ``word`` without forming a different word. ``following`` is the next word in
    the text."""
    if not rest:
        return True
    if len(word) == 1:
        return _noun(word + rest, following) == word
    if rest in _ENDINGS:
        return True
    return rest in BEHIND_LONG_NAMES or (rest in BEHIND_NAMES and _agrees(word, rest)) or rest.startswith("들")


@lru_cache(maxsize=8_192)
def _noun(word: str, following: str) -> str:
    if not word or not is_hangul(word[0]):
        return ""
    if len(word) == 1:
        return word
    tail = word[1:]
    if tail in _NO_NOUN or not (tail == "들" or tail in BEHIND_NAMES) or not _agrees(word[0], tail):
        return ""
    if any(following.startswith(each) for each in _BOTH.get(word, ())):
        return word[0]
    other, behind = word[:2], word[2:]
    if other in _OTHER_WORDS and (not behind or (behind in BEHIND_NAMES and _agrees(other, behind))):
        return ""
    return word[0]


def _agrees(word: str, tail: str) -> bool:
    """Whether the particle ``tail`` has the form required after ``word``."""
    closed = has_final(word)
    if tail.startswith("로"):
        return not closed or (ord(word[-1]) - 0xAC00) % 28 == 8  # a final ㄹ also takes 로
    return not tail.startswith(_OPEN if closed else _CLOSED)
