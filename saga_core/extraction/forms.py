"""Forms of a name: what else it may be called without being somebody else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from saga_core.text.korean import is_hangul, particle_stems
from saga_core.text.normal import clean_name, fold_name

_ARTICLE = re.compile(r"(?:the|an?) (?=.)", re.I)
_COMMON = re.compile(r"(?:an?|some|the) (?=[a-z])")
_REMARK = re.compile(r"(?P<head>.*\S)\s*[(（](?P<remark>[^()（）\d]{2,})[)）]")
_HONORIFICS = ("님", "씨", "양", "군", "공", "경", "옹")
_TITLES_KO = frozenset(
    "왕 여왕 대왕 공주 왕자 공작 백작 남작 족장 대장 단장 장로 영감 할아버지 할머니 아저씨 아주머니 아줌마 "
    "노인 소년 소녀 선생 스승 사부  "
    "기사 마법사 상인 약초상 대장장이 사제 신부 수녀 용병 선장 형 누나 언니 오빠 님 씨 양 군 경 공".split()
)
_TITLES_EN = frozenset(
    "captain lady lord sir dame old young mother father brother sister the doctor dr master mistress miss mr "
    "mrs ms king queen prince  "
    "princess duke count baron reeve sergeant commander general professor saint st uncle aunt elder chief".split()
)
_LEAST_FUZZY = 7
"""Letters that a name needs before one of them may be mistyped; of Hangul, the letters of its syllables."""


def forms(name: str) -> Iterator[str]:
    """A name, and what it may be a form of: without a Korean particle or honorific, an article, or a remark."""
    name = clean_name(name)
    seen = set()
    for form in _forms(name):
        if form and form not in seen:
            seen.add(form)
            yield form


def _forms(name: str) -> Iterator[str]:
    yield from particle_stems(name)
    yield bare(name)
    remark = _REMARK.fullmatch(name)
    if remark:
        yield remark["head"]
    for stem in (name, *particle_stems(name)):
        for honorific in _HONORIFICS:
            head = stem.removesuffix(honorific)
            if head != stem and len(head.rstrip()) >= 2 and is_hangul(head.rstrip()[-1]):
                yield head.rstrip()


def bare(name: str) -> str:
    """``name`` without an English article."""
    return _ARTICLE.sub("", name, count=1) if _ARTICLE.match(name) else name


def uncommon(name: str) -> str:
    """What a thing is called by itself: ``a rope`` is a rope. Names with capitals keep their article."""
    return _COMMON.sub("", name, count=1)


def words_of(name: str) -> list[str]:
    """The words of a name as they are compared."""
    return [fold_name(word) for word in name.split(" ")]


def untitled(words: list[str]) -> list[str]:
    """``words`` without titles in front and behind; all of them when nothing else would be left."""
    left = [word for word in words if word.strip(".") not in _TITLES_EN]
    while len(left) > 1 and left[-1] in _TITLES_KO:
        left = left[:-1]
    return left or words


def is_title(word: str) -> bool:
    """Whether a word by itself is a title and no name."""
    return fold_name(word).strip(".") in _TITLES_EN or word in _TITLES_KO


def mistyped(one: str, other: str) -> bool:
    """Whether two folded names are the same but for one letter in the wrong place or in another's stead."""
    left, right = _letters(one), _letters(other)
    if len(left) != len(right) or len(left) < _LEAST_FUZZY or left == right or left[0] != right[0]:
        return False
    if any(map(str.isdigit, left + right)):
        return False
    wrong = [at for at, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
    if len(wrong) == 1:
        return True
    return (
        len(wrong) == 2
        and wrong[1] == wrong[0] + 1
        and left[wrong[0]] == right[wrong[1]]
        and left[wrong[1]] == right[wrong[0]]
    )


def _letters(text: str) -> str:
    return unicodedata.normalize("NFD", text)
